-- Returns how much of limit number p_limit of a policy is used at a given time, as an amount or a number of payments.
-- The policy stores the usage of the window for which its payments were last summed. If the window has moved by less
-- than a day since then, only the payments that have left it are read and subtracted. Otherwise, all payments in it are
-- summed again.
create or replace function spent(p_policy policy, p_limit int, p_at timestamptz) returns bigint
  language plpgsql stable
as $$
declare
  v_currency text := p_policy.limit_currencies[p_limit];
  v_since timestamptz := window_start(p_policy.limit_periods[p_limit], p_policy.time_zone, p_policy.summed_at[p_limit]);
  v_start timestamptz := window_start(p_policy.limit_periods[p_limit], p_policy.time_zone, p_at);
  v_moved boolean := v_since <= v_start and v_since > v_start - interval '1 day';
  v_sum bigint;
begin
  select coalesce(sum(case v_currency when '' then 1 else u.amount end), 0) into v_sum
  from policy_use u
  where u.platform_id = p_policy.platform_id and u.policy_id = p_policy.id and u.released_at is null and v_currency in ('', u.currency)
    and u.used_at >= case when v_moved then v_since else v_start end
    and u.used_at < case when v_moved then v_start else 'infinity' end;
  if v_moved then
    return p_policy.used[p_limit] - v_sum;
  end if;
  -- The usage in p_policy may already include payments in the current batch, which are not stored yet.
  return v_sum + p_policy.used[p_limit]
    - coalesce((select p.used[p_limit] from policy p where p.platform_id = p_policy.platform_id and p.id = p_policy.id), 0);
end
$$;
