-- Returns the time at which p_much (an amount or a number of payments) becomes available again under limit number
-- p_limit of a policy: the end of the calendar day or month, or the moment when enough payments have left a rolling
-- window. Returns null for a limit on a single payment, or if the window contains less than p_much.
create or replace function frees_at(p_policy policy, p_limit int, p_at timestamptz, p_much bigint) returns timestamptz
  language plpgsql stable
as $$
declare
  v_period text := p_policy.limit_periods[p_limit];
  v_zone text := p_policy.time_zone;
  v_currency text := p_policy.limit_currencies[p_limit];
begin
  if v_period in ('DAY', 'MONTH') then
    return (date_trunc(v_period, p_at at time zone v_zone) + ('1 ' || v_period)::interval - interval '1 microsecond') at time zone v_zone
      + interval '1 microsecond';
  end if;
  return (
    select r.used_at + case v_period when 'LAST_24_HOURS' then interval '24 hours' else interval '720 hours' end
    from (
      select u.used_at, sum(case v_currency when '' then 1 else u.amount end) over (order by u.used_at, u.transaction_id) as freed
      from policy_use u
      where u.platform_id = p_policy.platform_id and u.policy_id = p_policy.id and u.released_at is null
        and v_currency in ('', u.currency) and u.used_at >= window_start(v_period, v_zone, p_at)) r
    where r.freed >= p_much order by r.used_at limit 1);
end
$$;
