-- Checks the payments that the accepted plans of a batch begin against the policies that limit them (p_policies, locked by
-- lock_plans), one after another, and counts each that all of its policies allow. Returns the answers of check_group, with the
-- refusals of the others. It comes after all other checks, so that only what is then applied is counted.
create or replace function count_payments(p_answers jsonb[], p_policies uuid[]) returns jsonb[]
  language plpgsql
as $$
declare
  v_now timestamptz := clock_ms();
  v_policies policy[];
  v_policy policy;
  v_plan jsonb;
  v_spend jsonb;
  v_mine int[];
  v_checked jsonb[];
  v_uses policy_use[] := '{}';
begin
  v_policies := array(select p from policy p where p.id = any (p_policies) order by p.platform_id, p.id);
  for v_at in 1 .. cardinality(p_answers) loop
    v_plan := p_answers[v_at] #> '{plans,0}';
    v_spend := v_plan #> '{plan,spend}';
    continue when v_spend is null;
    v_mine := '{}';
    v_checked := '{}';
    for v_number in 1 .. cardinality(v_policies) loop
      v_policy := v_policies[v_number];
      continue when v_policy.platform_id <> (v_plan ->> 'platform')::uuid or not v_spend -> 'subjects' ? v_policy.subject_id::text;
      v_mine := v_mine || v_number;
      v_checked := v_checked || check_policy(v_policy, v_spend, v_now);
      exit when v_checked[cardinality(v_checked)] ? 'code';
    end loop;
    if v_checked[cardinality(v_checked)] ? 'code' then
      p_answers[v_at] := jsonb_build_object('outcome', 'now', 'refusal', v_checked[cardinality(v_checked)]);
      continue;
    end if;
    for v_number in 1 .. cardinality(v_mine) loop
      v_policy := v_policies[v_mine[v_number]];
      v_policy.used := v_checked[v_number] -> 'used';
      v_policies[v_mine[v_number]] := v_policy;
      v_uses := v_uses || row(v_policy.platform_id, v_spend ->> 'transaction_id', v_policy.id, v_now, v_spend ->> 'amount',
                              v_spend ->> 'currency', null)::policy_use;
    end loop;
  end loop;
  if v_uses <> '{}' then
    update policy p set used = n.used from unnest(v_policies) n where p.platform_id = n.platform_id and p.id = n.id;
    insert into policy_use select * from unnest(v_uses);
  end if;
  return p_answers;
end
$$;
