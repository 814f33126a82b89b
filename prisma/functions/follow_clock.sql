-- Detects that the clock of the database was set back by more than a second, and moves due times back too. Otherwise
-- what was due soon by the old clock would wait for as long as the clock was set back. Returns the step in
-- milliseconds, or null. Any number of processes call this repeatedly: one of them locks the row, and the others do not
-- wait.
-- A due time more than half of the step ahead counts as set by the old clock. A due time that is really so far ahead is
-- moved wrongly. That is harmless, because it only happens early: a rail is asked again, or a receiver gets an event
-- early.
create or replace function follow_clock() returns double precision
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_seen timestamptz;
  v_now timestamptz;
  v_step interval;
begin
  select seen_at into v_seen from clock_reading for update skip locked;
  if not found then
    return null;
  end if;
  v_now := clock_timestamp();
  v_step := v_seen - v_now;
  if v_step < interval '-1 second' then
    update clock_reading set seen_at = v_now;
  end if;
  if v_step <= interval '1 second' then
    return null;
  end if;
  -- The age of an order counts from its creation.
  update rail_order set due_at = due_at - v_step, created_at = created_at - v_step where due_at > v_now + v_step / 2;
  update account_check set due_at = due_at - v_step where due_at > v_now + v_step / 2;
  update webhook_delivery set
    next_attempt_at = case when next_attempt_at > v_now + v_step / 2 then next_attempt_at - v_step else next_attempt_at end,
    leased_until = case when leased_until > v_now + v_step / 2 then leased_until - v_step else leased_until end
  where status = 'PENDING' and greatest(next_attempt_at, leased_until) > v_now + v_step / 2;
  update clock_reading set seen_at = v_now;
  return date_part('epoch', v_step) * 1000;
end
$$;
