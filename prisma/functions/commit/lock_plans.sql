-- Locks the rows that a list of {platform, plan} changes, and the rows that its checks depend on, before any of these
-- rows is read. Returns the locked policies: those that limit the plans' payments, and those that have counted a
-- payment that the plans end. All transactions that commit plans take locks in the same order, so that no two of them
-- deadlock:
--   1. idempotency keys, in order of their lock numbers
--   2. quotes  3. transactions  4. rail orders  5. adjustments  6. rail cases  7. customers
--   8. internal accounts  9. external accounts  10. policies; the rows of each in order of platform and id
-- A row that changes is locked FOR NO KEY UPDATE, so that inserts of rows that refer to it need not wait. A row that
-- only has to stay unchanged is locked FOR SHARE, which any number of transactions can hold at once. If the plans
-- need both kinds of lock on customers, or on external accounts, all of those rows are locked FOR NO KEY UPDATE. A
-- plan's alternative needs no further locks, because it changes only what the plan names (src/domain/ledger/plan.ts).
-- If a plan deletes a customer, the customer's internal accounts are locked like accounts that change, because the
-- deletion depends on their balances. A customer's internal accounts are all created with the customer. The ids are
-- collected by expressions, which cost far less than statements. Then one statement for each table locks its rows, by
-- key.
create or replace function lock_plans(p_plans jsonb) returns policy[]
  language plpgsql
as $$
declare
  v_platforms uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].platform'));
  v_changed uuid[];
  v_active uuid[];
  v_emptied uuid[] := '{}';
begin
  if p_plans @? '$[*].plan.claim' then
    perform lock_claims(p_plans);
  end if;
  v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.quotes[*] ? (!(@.is_new == true)).id'));
  if cardinality(v_changed) > 0 then
    perform from quote where platform_id = any (v_platforms) and id = any (v_changed) order by platform_id, id for no key update;
  end if;
  v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.transactions[*] ? (!(@.is_new == true)).id'));
  if cardinality(v_changed) > 0 then
    perform from transaction where platform_id = any (v_platforms) and id = any (v_changed)
    order by platform_id, id for no key update;
  end if;
  v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.orders[*].id'));
  if cardinality(v_changed) > 0 then
    perform from rail_order where platform_id = any (v_platforms) and id = any (v_changed)
    order by platform_id, id for no key update;
  end if;
  if p_plans @? '$[*].plan ? (exists (@.adjustments) || exists (@.cases))' then
    perform from adjustment where platform_id = any (v_platforms)
      and id = any (uuids(jsonb_path_query_array(p_plans, '$[*].plan.adjustments[*].id')))
    order by platform_id, id for no key update;
    perform from rail_case where platform_id = any (v_platforms)
      and order_id = any (uuids(jsonb_path_query_array(p_plans, '$[*].plan.cases[*].order_id')))
    order by platform_id, order_id for no key update;
  end if;

  v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.customers[*].id'));
  v_active := uuids(jsonb_path_query_array(p_plans, '$[*].plan.require_active.customers[*]'))
    || uuids(jsonb_path_query_array(p_plans, '$[*].plan.insert.account[*].customer_id'));
  if cardinality(v_changed) > 0 then
    perform from customer where platform_id = any (v_platforms) and id = any (v_changed || v_active)
    order by platform_id, id for no key update;
    v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.customers[*] ? (@.set.is_deleted == true).id'));
    if cardinality(v_changed) > 0 then
      v_emptied := array(
        select id from account where platform_id = any (v_platforms) and customer_id = any (v_changed) and kind = 'INTERNAL');
    end if;
  elsif cardinality(v_active) > 0 then
    perform from customer where platform_id = any (v_platforms) and id = any (v_active) order by platform_id, id for share;
  end if;

  v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.journals[*].legs[*].account')) || v_emptied;
  if cardinality(v_changed) > 0 then
    perform from account where platform_id = any (v_platforms) and id = any (v_changed) order by platform_id, id for no key update;
  end if;
  v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.accounts[*].id'));
  v_active := uuids(jsonb_path_query_array(p_plans, '$[*].plan.require_active.accounts[*]'));
  if cardinality(v_changed) > 0 then
    -- Making an account the default deposit account also changes the previous default.
    if p_plans @? '$[*].plan.accounts[*].set ? (@.default_uma_deposit_account == true)' then
      v_changed := v_changed || array(
        select d.id from account a join account d on d.platform_id = a.platform_id and d.customer_id = a.customer_id
          and d.default_uma_deposit_account
        where a.platform_id = any (v_platforms) and a.id = any (v_changed));
    end if;
    perform from account where platform_id = any (v_platforms) and kind = 'EXTERNAL' and id = any (v_changed || v_active)
    order by platform_id, id for no key update;
  elsif cardinality(v_active) > 0 then
    perform from account where platform_id = any (v_platforms) and kind = 'EXTERNAL' and id = any (v_active)
    order by platform_id, id for share;
  end if;

  v_active := uuids(jsonb_path_query_array(p_plans, '$[*].plan.spend.subjects[*]'));
  if p_plans @? '$[*].plan ? (exists (@.otherwise) || exists (@.transactions[*] ? (@.to == "FAILED" || @.to == "REJECTED" || @.to == "EXPIRED" || @.to == "REFUNDED")))' then
    v_active := v_active || array(
      select p.subject_id from policy_use u join policy p on p.platform_id = u.platform_id and p.id = u.policy_id
      where u.platform_id = any (v_platforms) and u.released_at is null
        and u.transaction_id = any (uuids(jsonb_path_query_array(p_plans, '$[*].plan.transactions[*].id'))));
  end if;
  if v_active <> '{}' then
    return array(
      select p from policy p where platform_id = any (v_platforms) and subject_id = any (v_active)
      order by platform_id, id for no key update);
  end if;
  return '{}';
end
$$;
