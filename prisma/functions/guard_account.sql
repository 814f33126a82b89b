-- Before update on account: the balance changes only through postings (apply_posting), owner and currency never change,
-- and the status of an external account changes only along external_account_move.
create or replace function guard_account() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.kind, new.customer_id, new.currency)
     is distinct from (old.platform_id, old.id, old.created_at, old.kind, old.customer_id, old.currency) then
    raise exception 'account %: its owner and currency cannot change', old.id using errcode = 'LG002';
  end if;
  if new.posted <> old.posted and pg_trigger_depth() < 2 then
    raise exception 'account %: a balance changes only by a posting', old.id using errcode = 'LG004';
  end if;
  -- Two nested conditions: combined with `exists`, the first would cost a statement of its own.
  if new.status is distinct from old.status then
    if not exists (select from external_account_move m where m."from" = old.status and m."to" = new.status) then
      raise exception 'external account %: no move from % to %', old.id, old.status, new.status using errcode = 'LG003';
    end if;
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;
