-- Returns the start of the window of a limit that contains a moment: the calendar day or month in a time zone, or the
-- period of a rolling window. A payment exactly one period ago is outside a rolling window: times have millisecond
-- precision.
create or replace function window_start(p_period text, p_zone text, p_at timestamptz) returns timestamptz
  language sql stable parallel safe
as $$
  select case p_period
    when 'DAY' then date_trunc('day', p_at, p_zone)
    when 'MONTH' then date_trunc('month', p_at, p_zone)
    when 'LAST_24_HOURS' then p_at - interval '23:59:59.999'
    when 'LAST_30_DAYS' then p_at - interval '719:59:59.999' end
$$;
