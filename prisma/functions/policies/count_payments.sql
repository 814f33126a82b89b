-- Checks the payments of a batch's accepted plans in turn against the policies that limit them (p_policies, locked by
-- lock_plans), and counts each one that all of its policies allow. Returns the answers of check_group with the new
-- refusals. Runs after all other checks, so that only applied payments are counted. Refuses with APPROVAL_REQUIRED a
-- payment that needs an approval but does not wait for one; its command is then run again with a plan that waits.
-- Stores the usage of each policy once for the whole batch, because every version of its row costs time.
create or replace function count_payments(p_answers jsonb[], p_policies policy[]) returns jsonb[]
  language plpgsql
as $$
declare
  v_now timestamptz := clock_ms();
  v_platform uuid;
  v_spend jsonb;
  v_subjects uuid[];
  v_policy policy;
  v_checked jsonb;
  v_used jsonb[] := array_fill(null::jsonb, array[cardinality(p_policies)]);
  v_counting jsonb[];
  v_due timestamptz;
  v_reserves boolean;
begin
  for v_at in 1 .. cardinality(p_answers) loop
    v_spend := p_answers[v_at] #> '{plans,0,plan,spend}';
    continue when v_spend is null;
    v_platform := p_answers[v_at] #>> '{plans,0,platform}';
    v_subjects := uuids(v_spend -> 'subjects');
    v_counting := v_used;
    v_checked := '{}';
    v_due := null;
    v_reserves := false;
    for v_number in 1 .. cardinality(p_policies) loop
      v_policy := p_policies[v_number];
      continue when v_policy.platform_id <> v_platform or v_policy.subject_id <> all (v_subjects);
      v_policy.used := coalesce(v_used[v_number], v_policy.used);
      v_checked := check_policy(v_policy, v_spend, v_now);
      exit when v_checked ? 'code';
      v_counting[v_number] := v_checked;
      if v_policy.approval is not null and not v_spend ? 'waits' and needs_approval(v_policy, v_spend) then
        v_due := least(v_due, (v_spend ->> 'until')::timestamptz, v_now + (v_policy.approval ->> 'expiresInSeconds')::int * interval '1 second');
        v_reserves := v_reserves or (v_policy.approval ->> 'reserves')::boolean;
      end if;
    end loop;
    if v_due is not null and not v_checked ? 'code' then
      v_checked := jsonb_build_object('code', 'APPROVAL_REQUIRED', 'dueAt', v_due, 'reserves', v_reserves,
        'dueInMs', (extract(epoch from v_due - v_now) * 1000)::bigint);
    end if;
    if v_checked ? 'code' then
      p_answers[v_at] := jsonb_build_object('outcome', 'now', 'refusal', v_checked);
      continue;
    end if;
    v_used := v_counting;
    insert into policy_use (platform_id, transaction_id, policy_id, used_at, amount, currency)
    select v_platform, (v_spend ->> 'transaction_id')::uuid, p.id, v_now, (v_spend ->> 'amount')::bigint, v_spend ->> 'currency'
    from unnest(p_policies) p where p.platform_id = v_platform and p.subject_id = any (v_subjects);
  end loop;
  for v_number in 1 .. cardinality(p_policies) loop
    continue when v_used[v_number] is null;
    v_policy := p_policies[v_number];
    update policy set used = v_used[v_number] where platform_id = v_policy.platform_id and id = v_policy.id;
  end loop;
  return p_answers;
end
$$;
