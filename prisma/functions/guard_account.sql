-- Before update on account: balances move only through postings and holds (their triggers), owner and currency never.
create or replace function guard_account() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.kind, new.customer_id, new.currency)
     is distinct from (old.platform_id, old.id, old.created_at, old.kind, old.customer_id, old.currency) then
    raise exception 'account %: its owner and currency cannot change', old.id using errcode = 'LG002';
  end if;
  if (new.posted, new.held) is distinct from (old.posted, old.held) and pg_trigger_depth() < 2 then
    raise exception 'account %: a balance changes only by a posting or a hold', old.id using errcode = 'LG004';
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;
