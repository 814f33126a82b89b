-- The part of check_plan for the accounts on either side of a new payment. They must not be frozen. Takes no lock,
-- because a debit from a frozen account is refused later, under the account's lock (check_balances), and a credit to
-- one is harmless.
create or replace function check_unfrozen(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', a.kind, 'id', a.id, 'customerId', a.customer_id) from account a
    where a.platform_id = p_platform and a.id = any (uuids(p_ids)) and a.frozen_at is not null order by a.id limit 1);
end
$$;
