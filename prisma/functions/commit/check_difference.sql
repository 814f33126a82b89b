-- The part of check_plan for a payment that an operator settles although its provider has moved a different amount
-- (decision 95). The plan must conclude the case's order, close the case, and contain one journal for the difference,
-- with exactly the legs that difference_legs returns. If the provider has moved exactly the promised amounts, the plan
-- must contain no such journal. Refuses the plan if the case is already closed. No other plan may have such a
-- journal or a leg on DIFFERENCES. lock_plans has locked the case.
create or replace function check_difference(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_case jsonb := p_plan #> '{cases,0}';
  v_order uuid := v_case ->> 'order_id';
  v_booked jsonb := jsonb_path_query_array(p_plan, '$.journals[*] ? (@.kind == "difference" || @.legs[*].system == "DIFFERENCES")');
  v_stored rail_case;
  v_legs jsonb;
begin
  if not p_plan ? 'cases' and v_booked = '[]' then
    return null;
  end if;
  select * into v_stored from rail_case where platform_id = p_platform and order_id = v_order and kind = 'OTHER_AMOUNT';
  v_legs := difference_legs(p_platform, v_order, (v_case ->> 'moved_out')::bigint, (v_case ->> 'moved_in')::bigint);
  if v_stored.id is null or jsonb_array_length(p_plan -> 'cases') <> 1
     or not jsonb_path_query_array(p_plan, '$.orders[*].id') ? v_order::text
     or v_booked is distinct from (case when v_legs = '[]' then v_legs else jsonb_build_array(jsonb_build_object(
       'kind', 'difference', 'transaction_id', v_stored.transaction_id, 'legs', v_legs)) end) then
    raise exception 'a plan books a difference that does not match its case' using errcode = 'LG014';
  end if;
  return case when v_stored.closed_at is not null then
    jsonb_build_object('code', 'CONFLICT', 'id', v_stored.transaction_id, 'status', 'CLOSED') end;
end
$$;
