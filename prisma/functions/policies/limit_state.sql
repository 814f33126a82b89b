-- Returns limit number p_limit of a policy, with its used and remaining amounts at a given time. Amounts are strings of
-- digits, as in the API. `renewsAt` is the time at which more of the limit becomes available.
create or replace function limit_state(p_policy policy, p_limit int, p_at timestamptz) returns jsonb
  language plpgsql stable
as $$
declare
  v_period text := p_policy.limit_periods[p_limit];
  v_currency text := nullif(p_policy.limit_currencies[p_limit], '');
  v_maximum bigint := p_policy.limit_maxima[p_limit];
  v_used bigint := spent(p_policy, p_limit, p_at);
  v_left bigint := greatest(v_maximum - v_used, 0);
begin
  return jsonb_build_object(
    'period', v_period, 'currency', v_currency, 'amount', null, 'usedAmount', null, 'leftAmount', null,
    'payments', null, 'usedPayments', null, 'leftPayments', null, 'renewsAt', case when v_used > 0 then
      to_char(frees_at(p_policy, p_limit, p_at, 1) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end)
    || case when v_currency is null
         then jsonb_build_object('payments', v_maximum, 'usedPayments', v_used, 'leftPayments', v_left)
         else jsonb_build_object('amount', v_maximum::text, 'usedAmount', v_used::text, 'leftAmount', v_left::text) end;
end
$$;
