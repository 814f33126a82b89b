-- Returns the first reason to refuse a plan, or null. lock_plans has locked the rows. A move marked is_new concerns a
-- row that the same plan inserts, so there is nothing to check yet. For p_moved, see check_balances.
create or replace function check_plan(p_platform uuid, p_plan jsonb, p_moved jsonb) returns jsonb
  language plpgsql
as $$
begin
  return coalesce(
    case when p_plan ? 'expected' then check_version(p_platform, p_plan -> 'expected') end,
    case when p_plan -> 'insert' ?| '{customer,account}' then check_registrations(p_platform, p_plan -> 'insert') end,
    case when p_plan -> 'require_active' ? 'lookups' then check_lookups(p_platform, p_plan #> '{require_active,lookups}') end,
    case when p_plan ? 'quotes' then check_quotes(p_platform, p_plan -> 'quotes') end,
    case when p_plan ? 'expired' then check_expired(p_platform, p_plan -> 'expired') end,
    case when p_plan ? 'transactions' then check_transactions(p_platform, p_plan -> 'transactions') end,
    case when p_plan ?| '{adjustments,cases}' or p_plan @? '$.journals[*] ? (@.kind == "adjustment" || @.kind == "difference"
        || @.legs[*].system == "ADJUSTMENTS" || @.legs[*].system == "DIFFERENCES")'
      then coalesce(check_difference(p_platform, p_plan), check_adjustment(p_platform, p_plan)) end,
    case when p_plan ? 'orders' then check_orders(p_platform, p_plan -> 'orders') end,
    case when p_plan ? 'customers' then check_customers(p_platform, p_plan -> 'customers') end,
    case when p_plan ? 'accounts' then check_accounts(p_platform, p_plan -> 'accounts') end,
    case when p_plan -> 'require_active' ? 'customers' then check_active_customers(p_platform, p_plan #> '{require_active,customers}') end,
    case when p_plan -> 'require_active' ? 'unfrozen' then check_unfrozen(p_platform, p_plan #> '{require_active,unfrozen}') end,
    case when p_plan ? 'journals' then check_balances(p_platform, p_plan -> 'journals', p_moved) end,
    case when p_plan -> 'require_active' ? 'accounts' then check_active_accounts(p_platform, p_plan #> '{require_active,accounts}') end,
    case when p_plan ? 'capacity' then check_capacity(p_platform, p_plan -> 'capacity') end
  );
end
$$;
