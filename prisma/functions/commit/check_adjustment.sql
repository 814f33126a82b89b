-- The part of check_plan for a balance adjustment (decision 81). The plan must have exactly one journal, with the legs
-- of the proposal: one on the account and one on ADJUSTMENTS. Refuses an adjustment that has already been decided or
-- has expired, or that is being approved by the operator who proposed it. No other plan may have such a journal or a
-- leg on ADJUSTMENTS. lock_plans has locked the proposal.
create or replace function check_adjustment(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move jsonb := p_plan #> '{adjustments,0}';
  v_proposed adjustment;
begin
  if not p_plan ? 'adjustments' and not p_plan @? '$.journals[*] ? (@.kind == "adjustment" || @.legs[*].system == "ADJUSTMENTS")' then
    return null;
  end if;
  select * into v_proposed from adjustment where platform_id = p_platform and id = (v_move ->> 'id')::uuid;
  if not found or jsonb_array_length(p_plan -> 'adjustments') <> 1
     or jsonb_array_length(p_plan -> 'journals') <> 1 or p_plan #> '{journals,0}' is distinct from jsonb_build_object(
       'kind', 'adjustment', 'legs', jsonb_build_array(
         jsonb_build_object('account', v_proposed.account_id, 'currency', v_proposed.currency, 'amount', v_proposed.amount::text),
         jsonb_build_object('system', 'ADJUSTMENTS', 'currency', v_proposed.currency, 'amount', (-v_proposed.amount)::text))) then
    raise exception 'a plan adjusts a balance without a matching proposal' using errcode = 'LG012';
  end if;
  return case
    when v_proposed.status <> 'PROPOSED' then jsonb_build_object('code', 'CONFLICT', 'id', v_proposed.id, 'status', v_proposed.status)
    when v_proposed.expires_at <= clock_timestamp() then jsonb_build_object('code', 'CONFLICT', 'id', v_proposed.id, 'status', 'EXPIRED')
    when same_person(v_proposed.proposed_by, v_move ->> 'by') then
      jsonb_build_object('code', 'CONFLICT', 'id', v_proposed.id, 'status', 'SAME_PERSON') end;
end
$$;
