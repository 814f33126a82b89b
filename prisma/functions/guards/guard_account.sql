-- Runs before each update of an account. The balance changes only through postings (apply_posting). The owner, currency
-- and details never change. The status of an external account changes only as status_moves allows. Events store the
-- mutable columns, so account_state and account_as_of must include every column that may change.
create or replace function guard_account() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.kind, new.customer_id, new.currency, new.funding_instructions,
      new.account_type, new.account_info, new.identifier, new.bank, new.beneficiary)
     is distinct from (old.platform_id, old.id, old.created_at, old.kind, old.customer_id, old.currency, old.funding_instructions,
      old.account_type, old.account_info, old.identifier, old.bank, old.beneficiary) then
    raise exception 'account %: its owner, currency and details cannot change', old.id using errcode = 'LG002';
  end if;
  if new.posted <> old.posted and pg_trigger_depth() < 2 then
    raise exception 'account %: a balance changes only through postings', old.id using errcode = 'LG004';
  end if;
  if new.status is distinct from old.status and (old.status || ' > ' || new.status = any (status_moves('external_account'))) is not true then
    raise exception 'external account %: its status cannot change from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;
