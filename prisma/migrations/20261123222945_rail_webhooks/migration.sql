-- CreateTable
CREATE TABLE "rail_webhook" (
    "platform_id" UUID NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "body" BYTEA NOT NULL,
    "due_at" TIMESTAMPTZ(3) DEFAULT clock_ms(),
    "attempts" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "rail_webhook_pkey" PRIMARY KEY ("platform_id","webhook_id")
);

-- AddForeignKey
ALTER TABLE "rail_webhook" ADD CONSTRAINT "rail_webhook_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- Detects that the clock of the database was set back by more than a second, and moves due times back too. Otherwise
-- what was due soon by the old clock would wait for as long as the clock was set back. Returns the step in
-- milliseconds, or null. Any number of processes call this repeatedly: one of them locks the row, and the others do not
-- wait.
-- A due time more than half of the step ahead, or more than ten seconds, counts as set by the old clock. In fact nearly all
-- were: this is called every second. One that the new clock has set so far ahead since then is moved wrongly. That is
-- harmless, because it only happens early: a rail is asked again, or a receiver gets an event early. Ten seconds find also
-- what a clock in between has set, when there were two steps since the last call. A step forward and back again since then
-- is not seen.
create or replace function follow_clock() returns double precision
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_seen timestamptz;
  v_now timestamptz;
  v_step interval;
  v_ahead timestamptz;
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
  v_ahead := v_now + least(v_step / 2, interval '10 seconds');
  -- The age of an order counts from its creation.
  update rail_order set due_at = due_at - v_step, created_at = created_at - v_step where due_at > v_ahead;
  update account_check set due_at = due_at - v_step where due_at > v_ahead;
  update rail_webhook set due_at = due_at - v_step where due_at > v_ahead;
  update webhook_delivery set
    next_attempt_at = case when next_attempt_at > v_ahead then next_attempt_at - v_step else next_attempt_at end,
    leased_until = case when leased_until > v_ahead then leased_until - v_step else leased_until end
  where status = 'PENDING' and greatest(next_attempt_at, leased_until) > v_ahead;
  update clock_reading set seen_at = v_now;
  return date_part('epoch', v_step) * 1000;
end
$$;

-- Requests store what a rail has found to be its provider's; only background work reads, works on and deletes it
ALTER TABLE "rail_webhook" ADD CONSTRAINT "rail_webhook_sound" CHECK (length("webhook_id") BETWEEN 1 AND 200 AND length("body") <= 102400);
CREATE INDEX "rail_webhook_due" ON "rail_webhook" ("due_at") WHERE "due_at" IS NOT NULL;
CREATE INDEX "rail_webhook_done" ON "rail_webhook" ("received_at") WHERE "due_at" IS NULL;
GRANT INSERT ("platform_id", "webhook_id", "body") ON "rail_webhook" TO "gateway_serving";
GRANT SELECT, DELETE ON "rail_webhook" TO "gateway_work";
GRANT UPDATE ("due_at", "attempts") ON "rail_webhook" TO "gateway_work";
ALTER TABLE "rail_webhook" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "all_platforms" ON "rail_webhook" TO "gateway_work" USING (true);
CREATE POLICY "one_platform" ON "rail_webhook" TO "gateway_serving" USING ("platform_id" = current_setting('gateway.platform', true)::uuid);
