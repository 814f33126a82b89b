-- The part of check_customers for a customer that a plan deletes. The customer's internal accounts must be empty, and
-- no payment to or from the customer may be in flight. lock_plans has locked the customer and these accounts, so no
-- payment can start or be credited meanwhile. A quote that has not been executed does not count as a payment, although
-- its transaction is PENDING.
create or replace function check_deletion(p_platform uuid, p_customer uuid) returns jsonb
  language plpgsql
as $$
declare
  v_accounts uuid[];
  v_balances jsonb;
  v_payments uuid[];
begin
  select array_agg(a.id),
    coalesce(jsonb_agg(jsonb_build_object('account', a.id, 'currency', a.currency, 'amount', a.posted::text) order by a.id)
      filter (where a.posted <> 0), '[]')
  into v_accounts, v_balances
  from account a where a.platform_id = p_platform and a.customer_id = p_customer and a.kind = 'INTERNAL';
  v_payments := array(
    select t.id from transaction t
    where t.platform_id = p_platform and t.status in ('CREATED', 'PENDING', 'PROCESSING')
      and (t.customer_id = p_customer or t.destination_account_id = any (v_accounts))
      and (t.quote_id is null or t.status <> 'PENDING')
    order by t.id);
  if v_balances <> '[]' or cardinality(v_payments) > 0 then
    return jsonb_build_object('code', 'CUSTOMER_IN_USE', 'id', p_customer, 'balances', v_balances,
                              'payments', cardinality(v_payments), 'transactions', to_jsonb(v_payments[1:20]));
  end if;
  return null;
end
$$;
