-- When plans end payments as undelivered or refunded, subtracts them from the usage of the policies that counted them.
-- Each policy specifies after which of these outcomes a payment no longer counts. lock_plans has locked the policies. A
-- window that began after a payment does not include it, so the usage in that window stays unchanged.
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
    update policy set used = array(
      select l.used - case when v_use.used_at >= window_start(l.period, time_zone, l.summed_at) and l.currency in ('', v_use.currency)
        then case l.currency when '' then 1 else v_use.amount end else 0 end
      from unnest(limit_periods, limit_currencies, used, summed_at) with ordinality as l(period, currency, used, summed_at, number)
      order by l.number)
    where platform_id = v_use.platform_id and id = v_use.policy_id;
  end loop;
end
$$;
