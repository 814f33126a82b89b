-- If the database's clock has stepped back by more than a second, moves due times back by the same step. Otherwise,
-- work that was due soon by the old clock would be delayed by the whole step. Returns the step in milliseconds, or
-- null. Any number of processes may call this: one locks the last epoch's row, and the others return immediately.
-- A due time counts as set by the old clock if it is more than half the step or more than ten seconds in the future.
-- This is nearly always right, because the function is called every second. A due time that was set that far ahead by
-- the new clock in the meantime is moved by mistake. That is harmless: the work is merely done early. For example, a
-- rail is queried again, or a receiver gets an event early. The ten-second limit also helps if the clock is set back
-- twice between two calls. Setting the clock forward and back again between two calls is not detected.
create or replace function follow_clock() returns double precision
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_epoch int;
  v_seen timestamptz;
  v_now timestamptz;
  v_step interval;
  v_ahead timestamptz;
begin
  select id, seen_at into v_epoch, v_seen from feed_epoch where id = (select max(id) from feed_epoch) for update skip locked;
  if not found then
    return null;
  end if;
  v_now := clock_timestamp();
  v_step := v_seen - v_now;
  if v_step < interval '-1 second' then
    update feed_epoch set seen_at = v_now where id = v_epoch;
  end if;
  if v_step <= interval '1 second' then
    return null;
  end if;
  v_ahead := v_now + least(v_step / 2, interval '10 seconds');
  -- Also moves each order's created_at, because the order's age is computed from it.
  update rail_order set due_at = due_at - v_step, created_at = created_at - v_step where due_at > v_ahead;
  update account_check set due_at = due_at - v_step where due_at > v_ahead;
  update identity_check set due_at = due_at - v_step where due_at > v_ahead;
  update rail_webhook set due_at = due_at - v_step where due_at > v_ahead;
  update rail_deposit set due_at = due_at - v_step where due_at > v_ahead;
  update rail_connection set deposits_due_at = deposits_due_at - v_step where deposits_due_at > v_ahead;
  update webhook_delivery set
    next_attempt_at = case when next_attempt_at > v_ahead then next_attempt_at - v_step else next_attempt_at end,
    leased_until = case when leased_until > v_ahead then leased_until - v_step else leased_until end
  where status = 'PENDING' and greatest(next_attempt_at, leased_until) > v_ahead;
  update feed_epoch set seen_at = v_now where id = v_epoch;
  return date_part('epoch', v_step) * 1000;
end
$$;
