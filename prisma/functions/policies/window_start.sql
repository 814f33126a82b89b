-- Returns the start of a limit's window at a given time. The window is the calendar day or month in a time zone, or a
-- rolling period. A rolling window is one millisecond (the precision of times) shorter than its period, so that it
-- excludes a payment made exactly one period ago. A day or month begins right after the last microsecond of the
-- previous one: in the Azores and in Havana, clocks go back to midnight, and Postgres returns the second of the two
-- midnights.
create or replace function window_start(p_period text, p_zone text, p_at timestamptz) returns timestamptz
  language sql stable parallel safe
as $$
  select case
    when p_period in ('DAY', 'MONTH') then
      (date_trunc(p_period, p_at at time zone p_zone) - interval '1 microsecond') at time zone p_zone + interval '1 microsecond'
    when p_period = 'LAST_24_HOURS' then p_at - interval '23:59:59.999'
    when p_period = 'LAST_30_DAYS' then p_at - interval '719:59:59.999' end
$$;
