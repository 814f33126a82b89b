-- Runs before each insert of a posting that has an account. Updates the account's balance, so that it always equals the
-- sum of its postings.
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
