-- Notices when the database's clock has been set back, by more than a second, and moves what waits for a moment of it: what was
-- due soon by the old clock would wait for as long as the clock was set back. Answers by how many milliseconds, or null. Called
-- again and again, by any number of processes: one of them has the row, and the others need not wait for it.
-- What was due soon is told from what has been made since by where it stands: more than half of the step ahead. What is moved
-- wrongly, as it is really due so late, is only looked at early, which is harmless: a rail is asked again, a receiver gets an
-- event early.
create or replace function follow_clock() returns double precision
  language plpgsql
as $$
declare
  v_seen timestamptz;
  v_now timestamptz;
  v_back interval;
begin
  select seen_at into v_seen from clock_reading for update skip locked;
  if not found then
    return null;
  end if;
  v_now := clock_timestamp();
  v_back := v_seen - v_now;
  if v_back < interval '-1 second' then
    update clock_reading set seen_at = v_now;
  end if;
  if v_back <= interval '1 second' then
    return null;
  end if;
  -- An order's age is counted from when it was made.
  update rail_order set due_at = due_at - v_back, created_at = created_at - v_back where due_at > v_now + v_back / 2;
  update account_check set due_at = due_at - v_back where due_at > v_now + v_back / 2;
  update webhook_delivery set
    next_attempt_at = case when next_attempt_at > v_now + v_back / 2 then next_attempt_at - v_back else next_attempt_at end,
    leased_until = case when leased_until > v_now + v_back / 2 then leased_until - v_back else leased_until end
  where status = 'PENDING' and greatest(next_attempt_at, leased_until) > v_now + v_back / 2;
  update clock_reading set seen_at = v_now;
  return date_part('epoch', v_back) * 1000;
end
$$;
