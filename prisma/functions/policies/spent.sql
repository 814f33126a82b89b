-- Returns the usage of a policy's limit in the window that starts at p_start: an amount or a number of payments. The
-- policy stores the usage of its last window. If the window has since moved by less than an hour, only the payments
-- that have left it are read and subtracted; otherwise all payments in the window are summed.
create or replace function spent(p_policy policy, p_limit jsonb, p_start timestamptz) returns numeric
  language plpgsql stable
as $$
declare
  v_known jsonb := p_policy.used -> concat_ws(' ', p_limit ->> 'period', p_limit ->> 'currency');
  v_from timestamptz := v_known ->> 'from';
  v_currency text := p_limit ->> 'currency';
  v_moved boolean := coalesce(v_from < p_start and v_from > p_start - interval '1 hour', false);
  v_sum numeric;
begin
  if v_from = p_start then
    return (v_known -> 'used')::numeric;
  end if;
  select coalesce(sum(case when v_currency is null then 1 else u.amount end), 0) into v_sum
  from policy_use u
  where u.platform_id = p_policy.platform_id and u.policy_id = p_policy.id and u.released_at is null
    and (v_currency is null or u.currency = v_currency)
    and u.used_at >= case when v_moved then v_from else p_start end
    and u.used_at < case when v_moved then p_start else 'infinity' end;
  return case when v_moved then (v_known -> 'used')::numeric - v_sum else v_sum end;
end
$$;
