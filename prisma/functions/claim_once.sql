-- Before insert on idempotency_record: a key is claimed once in all partitions, each of which has a unique index of its own
-- only. It takes the lock of the key, which whoever commits a plan has already (lock_claims). So of two transactions the second
-- waits, and sees what the first has committed. A second row of the key is not inserted: the statement inserts no row, as one
-- with `on conflict do nothing`.
create or replace function claim_once() returns trigger
  language plpgsql
as $$
begin
  -- With an older snapshot it would not see what was committed while it waited.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'an idempotency key is claimed in a transaction that is read committed' using errcode = 'LG013';
  end if;
  perform pg_advisory_xact_lock(claim_lock(new.platform_id, jsonb_build_object('operation', new.operation, 'key', new.key)));
  if exists (select from idempotency_record r
             where r.platform_id = new.platform_id and r.operation = new.operation and r.key = new.key) then
    return null;
  end if;
  return new;
end
$$;
