-- Decides whether a group of plans is accepted. Returns {outcome: now, plans} with the plans to apply, {outcome: now,
-- refusal} with the first reason to refuse one of them, or the original answer stored for the group's idempotency key
-- (first_answer). Only a group with a single plan has an idempotency key. Nothing is written until all groups of a
-- batch have been checked. A plan may have an alternative, under `otherwise`, which replaces it if it is refused
-- because a quote has expired. The clock is read while the quote is locked. So a deposit that arrives at the moment of
-- expiry either executes its quote or is credited, and is never refused because of its timing. For p_moved, see
-- check_balances.
create or replace function check_group(p_group jsonb, p_moved jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_platform uuid := p_group #>> '{0,platform}';
  v_answer jsonb;
  v_plan jsonb;
  v_refusal jsonb;
begin
  if p_group #> '{0,plan}' ? 'claim' then
    v_answer := first_answer(v_platform, p_group #> '{0,plan,claim}');
    if v_answer is not null then
      return v_answer;
    end if;
  end if;
  for v_at in 0 .. jsonb_array_length(p_group) - 1 loop
    v_platform := p_group -> v_at ->> 'platform';
    v_plan := p_group -> v_at -> 'plan';
    v_refusal := check_plan(v_platform, v_plan, p_moved);
    while v_refusal ->> 'code' = 'QUOTE_EXPIRED' and v_plan ? 'otherwise' loop
      v_plan := v_plan -> 'otherwise';
      v_refusal := check_plan(v_platform, v_plan, p_moved);
      p_group := jsonb_set(p_group, array[v_at::text, 'plan'], v_plan);
    end loop;
    if v_refusal is not null then
      return jsonb_build_object('outcome', 'now', 'refusal', v_refusal);
    end if;
  end loop;
  return jsonb_build_object('outcome', 'now', 'plans', p_group);
end
$$;
