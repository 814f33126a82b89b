-- Returns the start of a limit's window at a given time. The window is the calendar day or month in a time zone, or a
-- rolling period. A rolling window is one millisecond (the precision of times) shorter than its period, so that it
-- excludes a payment made exactly one period ago.
create or replace function window_start(p_period text, p_zone text, p_at timestamptz) returns timestamptz
  language sql stable parallel safe
as $$
  select case p_period
    when 'DAY' then date_trunc('day', p_at, p_zone)
    when 'MONTH' then date_trunc('month', p_at, p_zone)
    when 'LAST_24_HOURS' then p_at - interval '23:59:59.999'
    when 'LAST_30_DAYS' then p_at - interval '719:59:59.999' end
$$;
