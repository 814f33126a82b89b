-- Before insert or update on hold: the account's held money follows. Only a posting captures (apply_posting).
create or replace function apply_hold() returns trigger
  language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    update account set held = held + new.amount
    where platform_id = new.platform_id and id = new.account_id and kind = 'INTERNAL';
    if not found then
      raise exception 'no internal account % to hold on', new.account_id using errcode = 'LG007';
    end if;
    new.state := 'OPEN';
    return new;
  end if;
  if old.state <> 'OPEN' or new.state = 'OPEN'
     or (new.platform_id, new.id, new.account_id, new.amount) is distinct from (old.platform_id, old.id, old.account_id, old.amount)
     or (new.state = 'CAPTURED' and pg_trigger_depth() < 2) then
    raise exception 'hold %: no move from % to %', old.id, old.state, new.state using errcode = 'LG006';
  end if;
  if new.state = 'RELEASED' then
    update account set held = held - old.amount where platform_id = old.platform_id and id = old.account_id;
    new.resolved_at := clock_ms();
  end if;
  return new;
end
$$;
