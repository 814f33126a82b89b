-- Before insert on posting, of legs on an account: the leg moves its account's balance as it is written, so that books and
-- balances cannot differ. The account stays for ever, so it is found here once, and no foreign key looks again. (Legs on system
-- accounts move nothing; what holds for all legs is in check_legs.)
create or replace function apply_posting() returns trigger
  language plpgsql
as $$
begin
  update account set posted = posted + new.amount
  where platform_id = new.platform_id and id = new.account_id and kind = 'INTERNAL' and currency = new.currency
  returning posted, version into new.balance_after, new.account_version;
  if not found then
    raise exception 'no internal account % in %', new.account_id, new.currency using errcode = 'LG007';
  end if;
  return new;
end
$$;
