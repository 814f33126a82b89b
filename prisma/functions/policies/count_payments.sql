-- Checks the payments of a batch's accepted plans one by one against the policies that limit them (p_policies, locked
-- by lock_plans), and counts each payment that all of these policies allow. Returns the answers of check_group with the
-- new refusals. Runs after all other checks, so that only applied payments are counted. A payment that needs
-- approval but is not waiting for it is refused with APPROVAL_REQUIRED; its command is then run again with a plan in
-- which the payment waits. Most policies have only limits, and the stored usage shows that most payments fit. These
-- cases are checked here, without calling a function. The new usage of a policy is stored once for the whole batch,
-- because each statement and row version costs time.
create or replace function count_payments(p_answers jsonb[], p_policies policy[]) returns jsonb[]
  language plpgsql
as $$
declare
  v_now timestamptz := clock_ms();
  v_spend jsonb;
  v_policy policy;
  v_more bigint;
begin
  for v_at in 1 .. cardinality(p_answers) loop
    v_spend := p_answers[v_at] #> '{plans,0,plan,spend}';
    continue when v_spend is null;
    declare
      v_before policy[] := p_policies;
      v_exceeded int;
      v_refusal jsonb;
      v_due timestamptz;
      v_reserves boolean;
    begin
      for v_number in 1 .. cardinality(p_policies) loop
        v_policy := p_policies[v_number];
        continue when not v_spend -> 'subjects' ? v_policy.subject_id::text;
        for v_limit in 1 .. cardinality(v_policy.used) loop
          v_more := case v_policy.limit_currencies[v_limit] when '' then 1 when v_spend ->> 'currency' then (v_spend ->> 'amount')::bigint else 0 end;
          -- Payments that have left the window since it was last summed matter only if the new payment does not fit.
          if v_policy.summed_at[v_limit] not between v_now - interval '1 hour' and v_now
              or v_policy.used[v_limit] + v_more > v_policy.limit_maxima[v_limit] then
            v_policy.used[v_limit] := spent(v_policy, v_limit, v_now);
            v_policy.summed_at[v_limit] := v_now;
            if v_more > 0 and v_policy.used[v_limit] + v_more > v_policy.limit_maxima[v_limit] then
              v_exceeded := v_limit;
              exit;
            end if;
          end if;
          v_policy.used[v_limit] := v_policy.used[v_limit] + case v_policy.limit_periods[v_limit] when 'PAYMENT' then 0 else v_more end;
        end loop;
        if v_exceeded is not null or v_policy.kinds <> '{}' or v_policy.hours_from is not null or v_spend ->> 'currency' <> all (v_policy.limit_currencies)
            or v_policy.receiver_account_ids || v_policy.receiver_countries || v_policy.receiver_uma_addresses <> '{}' then
          v_refusal := check_policy(v_policy, v_spend, v_now, v_exceeded);
          exit when v_refusal is not null;
        end if;
        p_policies[v_number] := v_policy;
        if v_policy.approval is not null and not v_spend ? 'waits' and needs_approval(v_policy, v_spend) then
          v_due := least(v_due, (v_spend ->> 'until')::timestamptz, v_now + (v_policy.approval ->> 'expiresInSeconds')::int * interval '1 second');
          v_reserves := coalesce(v_reserves, false) or (v_policy.approval ->> 'reserves')::boolean;
        end if;
      end loop;
      if v_refusal is not null or v_due is not null then
        p_policies := v_before;
        p_answers[v_at] := jsonb_build_object('outcome', 'now', 'refusal', coalesce(v_refusal, jsonb_build_object(
          'code', 'APPROVAL_REQUIRED', 'dueAt', v_due, 'reserves', v_reserves, 'dueInMs', (extract(epoch from v_due - v_now) * 1000)::bigint)));
      end if;
    end;
  end loop;
  foreach v_policy in array p_policies loop
    insert into policy_use (platform_id, transaction_id, policy_id, used_at, amount, currency)
    select v_policy.platform_id, (s.spend ->> 'transaction_id')::uuid, v_policy.id, v_now, (s.spend ->> 'amount')::bigint, s.spend ->> 'currency'
    from (select a #> '{plans,0,plan,spend}' as spend from unnest(p_answers) a) s where s.spend -> 'subjects' ? v_policy.subject_id::text;
    update policy set used = v_policy.used, summed_at = v_policy.summed_at
    where platform_id = v_policy.platform_id and id = v_policy.id and (used <> v_policy.used or summed_at <> v_policy.summed_at);
  end loop;
  return p_answers;
end
$$;
