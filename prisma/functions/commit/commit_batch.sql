-- Checks the groups of a batch one by one, applies the accepted ones together, and concludes each. They are applied
-- together because the fixed cost of statements is a large part of a payment's cost. If several of them move money on
-- the same account, each check takes into account what the earlier groups will move. p_policies contains the policies
-- that lock_plans has locked. Returns one answer for each group, like commit_batches.
create or replace function commit_batch(p_groups jsonb, p_policies policy[]) returns jsonb[]
  language plpgsql
as $$
declare
  v_count int := jsonb_array_length(p_groups);
  v_answers jsonb[] := '{}';
  v_answer jsonb;
  v_item jsonb;
  v_plans jsonb;
  v_moved jsonb := case when v_count > 1 and moves_account_twice(p_groups) then '{}'::jsonb end;
begin
  -- If groups share an account and a policy may still refuse one after its check, each group is checked and applied
  -- separately. Otherwise, later checks would count money that does not move.
  if v_moved is not null and cardinality(p_policies) > 0 then
    for v_at in 0 .. v_count - 1 loop
      v_answers := v_answers || commit_batch(jsonb_build_array(p_groups -> v_at), policies_now(p_policies));
    end loop;
    return v_answers;
  end if;

  for v_at in 0 .. v_count - 1 loop
    v_answer := check_group(p_groups -> v_at, v_moved);
    v_answers := v_answers || v_answer;
    if v_moved is not null then
      v_moved := add_legs(v_moved, jsonb_path_query_array(v_answer, '$.plans[*].plan.journals[*].legs[*] ? (exists (@.account))'));
    end if;
  end loop;
  if cardinality(p_policies) > 0 then
    v_answers := count_payments(v_answers, p_policies);
  end if;

  v_plans := jsonb_path_query_array(to_jsonb(v_answers), '$[*].plans[*]');
  if v_plans <> '[]' then
    perform apply_plans(v_plans);
    if cardinality(p_policies) > 0 and v_plans @? '$[*].plan.transactions[*] ? (@.to == "FAILED" || @.to == "REJECTED" || @.to == "EXPIRED" || @.to == "REFUNDED")' then
      perform release_payments(v_plans);
    end if;
  end if;

  for v_at in 1 .. v_count loop
    v_answer := v_answers[v_at];
    if v_answer ->> 'outcome' = 'now' then
      v_item := p_groups #> array[(v_at - 1)::text, '0'];
      v_answers[v_at] := conclude_plan((v_item ->> 'platform')::uuid, v_item -> 'plan', v_answer -> 'refusal');
    end if;
  end loop;
  return v_answers;
end
$$;
