-- CreateEnum
CREATE TYPE "deposit_status" AS ENUM ('RECEIVED', 'CREDITED', 'UNATTRIBUTED', 'CLOSED');

-- AlterTable
ALTER TABLE "rail_connection" ADD COLUMN     "deposits_due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
ADD COLUMN     "deposits_from" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms();

-- CreateTable
CREATE TABLE "rail_deposit" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "reference" TEXT NOT NULL,
    "held_at" TEXT NOT NULL,
    "began_at" TIMESTAMPTZ(3) NOT NULL,
    "found_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "amount" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "payer" TEXT,
    "memo" TEXT,
    "account_id" UUID,
    "status" "deposit_status" NOT NULL,
    "reason" TEXT,
    "transaction_id" UUID,
    "due_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "rail_deposit_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "rail_deposit_transaction_id_key" ON "rail_deposit"("transaction_id");

-- CreateIndex
CREATE UNIQUE INDEX "rail_deposit_platform_id_reference_key" ON "rail_deposit"("platform_id", "reference");

-- AddForeignKey
ALTER TABLE "rail_deposit" ADD CONSTRAINT "rail_deposit_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "rail_deposit" ADD CONSTRAINT "rail_deposit_platform_id_account_id_fkey" FOREIGN KEY ("platform_id", "account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

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
  update rail_deposit set due_at = due_at - v_step where due_at > v_ahead;
  update rail_connection set deposits_due_at = deposits_due_at - v_step where deposits_due_at > v_ahead;
  update webhook_delivery set
    next_attempt_at = case when next_attempt_at > v_ahead then next_attempt_at - v_step else next_attempt_at end,
    leased_until = case when leased_until > v_ahead then leased_until - v_step else leased_until end
  where status = 'PENDING' and greatest(next_attempt_at, leased_until) > v_ahead;
  update clock_reading set seen_at = v_now;
  return date_part('epoch', v_step) * 1000;
end
$$;

-- Only background work and operators' commands find deposits, credit them and say whose they are. What came in never changes
ALTER TABLE "rail_deposit" ADD CONSTRAINT "rail_deposit_sound" CHECK (
  "amount" BETWEEN 1 AND 9000000000000000 AND length("reference") BETWEEN 1 AND 200 AND length("held_at") BETWEEN 1 AND 200
  AND ("status" = 'RECEIVED') = ("due_at" IS NOT NULL) AND ("status" = 'CREDITED') = ("transaction_id" IS NOT NULL)
  AND ("status" NOT IN ('RECEIVED', 'CREDITED') OR "account_id" IS NOT NULL)
  AND ("status" NOT IN ('UNATTRIBUTED', 'CLOSED') OR length("reason") BETWEEN 1 AND 1000));
CREATE INDEX "rail_deposit_due" ON "rail_deposit" ("due_at") WHERE "status" = 'RECEIVED';
CREATE INDEX "rail_deposit_open" ON "rail_deposit" ("found_at") WHERE "status" = 'UNATTRIBUTED';
CREATE INDEX "rail_connection_deposits_due" ON "rail_connection" ("deposits_due_at");
GRANT SELECT, INSERT ON "rail_deposit" TO "gateway_work";
GRANT UPDATE ("account_id", "status", "reason", "transaction_id", "due_at", "attempts") ON "rail_deposit" TO "gateway_work";
GRANT UPDATE ("deposits_due_at", "deposits_from") ON "rail_connection" TO "gateway_work";
ALTER TABLE "rail_deposit" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "all_platforms" ON "rail_deposit" TO "gateway_work" USING (true);
CREATE POLICY "one_platform" ON "rail_deposit" TO "gateway_serving" USING ("platform_id" = current_setting('gateway.platform', true)::uuid);
