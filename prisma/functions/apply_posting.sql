-- Before insert on posting, of legs on an account: the leg moves its account's balance as it is written, so that books and
-- balances cannot differ. Both rows that it looks for stay for ever, so they are found here once, and no foreign keys look
-- again. (Legs on system accounts move nothing; what holds for all legs is in check_legs.)
create or replace function apply_posting() returns trigger
  language plpgsql
as $$
declare
  v_captured bigint := 0;
begin
  if new.hold_id is not null then
    update hold set state = 'CAPTURED', resolved_at = clock_ms()
    where platform_id = new.platform_id and id = new.hold_id and account_id = new.account_id
      and state = 'OPEN' and amount >= -new.amount
    returning amount into v_captured;
    if not found then
      raise exception 'hold % cannot be captured by this posting', new.hold_id using errcode = 'LG006';
    end if;
  end if;
  update account set posted = posted + new.amount, held = held - v_captured
  where platform_id = new.platform_id and id = new.account_id and kind = 'INTERNAL' and currency = new.currency
  returning posted, version into new.balance_after, new.account_version;
  if not found then
    raise exception 'no internal account % in %', new.account_id, new.currency using errcode = 'LG007';
  end if;
  return new;
end
$$;
