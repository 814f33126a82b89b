-- Returns a policy's limit with its used and remaining amounts at a given time, in the form that the API returns:
-- amounts are strings of digits. `renewsAt` is the time at which more of the limit becomes available.
create or replace function limit_state(p_policy policy, p_limit jsonb, p_at timestamptz) returns jsonb
  language plpgsql stable
as $$
declare
  v_start timestamptz := window_start(p_limit ->> 'period', p_policy.time_zone, p_at);
  v_used numeric := case when v_start is null then 0 else spent(p_policy, p_limit, v_start) end;
  v_left numeric := greatest(coalesce((p_limit ->> 'amount')::numeric, (p_limit ->> 'payments')::numeric) - v_used, 0);
begin
  return jsonb_build_object(
    'period', p_limit -> 'period', 'currency', p_limit -> 'currency', 'amount', p_limit -> 'amount', 'payments', p_limit -> 'payments')
    || case when p_limit ? 'payments'
         then jsonb_build_object('usedAmount', null, 'leftAmount', null, 'usedPayments', v_used, 'leftPayments', v_left)
         else jsonb_build_object('usedAmount', v_used::text, 'leftAmount', v_left::text, 'usedPayments', null, 'leftPayments', null) end
    || jsonb_build_object('renewsAt', case when v_used > 0 then
         to_char(frees_at(p_policy, p_limit, p_at, 1) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end);
end
$$;
