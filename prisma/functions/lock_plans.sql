-- Locks what several plans of one transaction will change, a list of {platform, plan}, in the order in which check_plan
-- locks what one plan changes, over all of them: each plan for itself would take its accounts after the quotes of the one
-- before, and two such transactions could wait for each other.
create or replace function lock_plans(p_plans jsonb) returns void
  language plpgsql
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
as $$
declare
  v_row record;
begin
  for v_row in
    select distinct (p ->> 'platform')::uuid as platform_id, (m ->> 'id')::uuid as id
    from jsonb_array_elements(p_plans) p, jsonb_path_query(p, '$.plan.quotes[*]') m
    where not coalesce((m ->> 'fresh')::boolean, false) order by id
  loop
    perform from quote where platform_id = v_row.platform_id and id = v_row.id for no key update;
  end loop;
  for v_row in
    select distinct (p ->> 'platform')::uuid as platform_id, (m ->> 'id')::uuid as id
    from jsonb_array_elements(p_plans) p, jsonb_path_query(p, '$.plan.transactions[*]') m
    where not coalesce((m ->> 'fresh')::boolean, false) order by id
  loop
    perform from transaction where platform_id = v_row.platform_id and id = v_row.id for no key update;
  end loop;
  for v_row in
    select distinct (p ->> 'platform')::uuid as platform_id, coalesce(h.account_id, (i #>> '{}')::uuid) as id
    from jsonb_array_elements(p_plans) p
    cross join lateral (
      select a as i, null::uuid as hold_id from jsonb_path_query(p, '$.plan.journals[*].legs[*].account') a
      union all select a, null from jsonb_path_query(p, '$.plan.insert.hold[*].account_id') a
      union all select null, (r #>> '{}')::uuid from jsonb_path_query(p, '$.plan.release[*]') r
    ) named
    left join hold h on h.platform_id = (p ->> 'platform')::uuid and h.id = named.hold_id
    order by id
  loop
    perform from account where platform_id = v_row.platform_id and id = v_row.id for no key update;
  end loop;
end
$$;
