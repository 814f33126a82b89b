-- Before insert on posting: the leg moves its account's balance as it is written, so that books and balances cannot
-- differ. A journal that another transaction committed is sealed.
create or replace function apply_posting() returns trigger
  language plpgsql
as $$
declare
  v_captured bigint := 0;
begin
  if not exists (
    select from journal j
    where j.platform_id = new.platform_id and j.id = new.journal_id
      and j.xmin::text = (pg_current_xact_id()::text::bigint & 4294967295)::text
  ) then
    raise exception 'journal % is sealed', new.journal_id using errcode = 'LG005';
  end if;
  if new.hold_id is not null then
    update hold set state = 'CAPTURED', resolved_at = clock_ms()
    where platform_id = new.platform_id and id = new.hold_id and account_id = new.account_id
      and state = 'OPEN' and amount >= -new.amount
    returning amount into v_captured;
    if not found then
      raise exception 'hold % cannot be captured by this posting', new.hold_id using errcode = 'LG006';
    end if;
  end if;
  if new.account_id is not null then
    update account set posted = posted + new.amount, held = held - v_captured
    where platform_id = new.platform_id and id = new.account_id and kind = 'INTERNAL' and currency = new.currency
    returning posted, version into new.balance_after, new.account_version;
    if not found then
      raise exception 'no internal account % in %', new.account_id, new.currency using errcode = 'LG007';
    end if;
  end if;
  return new;
end
$$;
