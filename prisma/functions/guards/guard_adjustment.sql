-- Runs before each update of an adjustment. An adjustment is decided once, and its proposal never changes (decision
-- 81).
create or replace function guard_adjustment() returns trigger
  language plpgsql
as $$
begin
  if old.status <> 'PROPOSED' or new.status = 'PROPOSED' then
    raise exception 'adjustment %: its status cannot change from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  if (new.platform_id, new.id, new.account_id, new.amount, new.currency, new.reason, new.proposed_by, new.proposed_at, new.expires_at)
     is distinct from
     (old.platform_id, old.id, old.account_id, old.amount, old.currency, old.reason, old.proposed_by, old.proposed_at, old.expires_at) then
    raise exception 'adjustment %: a proposal cannot change', old.id using errcode = 'LG001';
  end if;
  return new;
end
$$;
