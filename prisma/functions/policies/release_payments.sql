-- When plans end payments, subtracts them from the usage of the policies that counted them, if the policy releases such
-- payments: those that were not delivered, or those that were refunded. lock_plans has locked the policies. A window
-- that began after the payment does not contain it and stays unchanged.
create or replace function release_payments(p_plans jsonb) returns void
  language plpgsql
as $$
declare
  v_ended jsonb := jsonb_path_query_array(p_plans, '$[*].plan.transactions[*] ? (@.to == "FAILED" || @.to == "REJECTED" || @.to == "EXPIRED" || @.to == "REFUNDED")');
  v_use policy_use;
begin
  for v_use in
    update policy_use u set released_at = clock_ms()
    from jsonb_to_recordset(v_ended) as m(id uuid, "to" text), policy p
    where u.platform_id = any (uuids(jsonb_path_query_array(p_plans, '$[*].platform'))) and u.transaction_id = m.id and u.released_at is null
      and p.platform_id = u.platform_id and p.id = u.policy_id
      and case m."to" when 'REFUNDED' then 'REFUNDED' else 'FAILED' end::policy_release = any (p.release_on)
    returning u.*
  loop
    update policy set used = (
      select coalesce(jsonb_object_agg(w.key, case
        when (w.value ->> 'from')::timestamptz > v_use.used_at then w.value
        when position(' ' in w.key) = 0 then jsonb_set(w.value, '{used}', to_jsonb((w.value -> 'used')::numeric - 1))
        when split_part(w.key, ' ', 2) = v_use.currency then jsonb_set(w.value, '{used}', to_jsonb((w.value -> 'used')::numeric - v_use.amount))
        else w.value end), '{}')
      from jsonb_each(used) w)
    where platform_id = v_use.platform_id and id = v_use.policy_id;
  end loop;
end
$$;
