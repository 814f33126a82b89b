-- Locks what several plans of one transaction will change, a list of {platform, plan}, in the order in which check_plan
-- locks what one plan changes, over all of them: each plan for itself would take its accounts after the quotes of the one
-- before, and two such transactions could wait for each other. What is named is collected by expressions, which cost far
-- less than statements; then each table is asked once, by its key.
create or replace function lock_plans(p_plans jsonb) returns void
  language plpgsql
as $$
declare
  v_platforms uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].platform'));
  v_quotes uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].plan.quotes[*] ? (!(@.fresh == true)).id'));
  v_transactions uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].plan.transactions[*] ? (!(@.fresh == true)).id'));
  v_accounts uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].plan.journals[*].legs[*].account'));
begin
  if cardinality(v_quotes) > 0 then
    perform from quote where platform_id = any (v_platforms) and id = any (v_quotes) order by platform_id, id for no key update;
  end if;
  if cardinality(v_transactions) > 0 then
    perform from transaction where platform_id = any (v_platforms) and id = any (v_transactions)
    order by platform_id, id for no key update;
  end if;
  if cardinality(v_accounts) > 0 then
    perform from account where platform_id = any (v_platforms) and id = any (v_accounts) order by platform_id, id for no key update;
  end if;
end
$$;
