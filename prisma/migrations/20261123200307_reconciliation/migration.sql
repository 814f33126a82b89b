-- CreateEnum
CREATE TYPE "reconciliation_fault" AS ENUM ('MISSING_THERE', 'MISSING_HERE', 'TWICE', 'OTHER_AMOUNT', 'OTHER_OUTCOME', 'OTHER_BALANCE');

-- CreateTable
CREATE TABLE "reconciliation" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL DEFAULT uuid_v7(),
    "period_from" TIMESTAMPTZ(3) NOT NULL,
    "period_to" TIMESTAMPTZ(3) NOT NULL,
    "started_by" TEXT,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "finished_at" TIMESTAMPTZ(3),
    "failure" TEXT,
    "orders" INTEGER NOT NULL DEFAULT 0,
    "movements" INTEGER NOT NULL DEFAULT 0,
    "totals" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "reconciliation_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "reconciliation_difference" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL DEFAULT uuid_v7(),
    "fault" "reconciliation_fault" NOT NULL,
    "order_id" UUID,
    "transaction_id" UUID,
    "reference" TEXT,
    "currency" TEXT,
    "here" TEXT,
    "there" TEXT,
    "period_from" TIMESTAMPTZ(3) NOT NULL,
    "period_to" TIMESTAMPTZ(3) NOT NULL,
    "found_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "last_found_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "times" INTEGER NOT NULL DEFAULT 1,
    "gone_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),
    "closed_by" TEXT,
    "closed_reason" TEXT,
    "beyond_low" BIGINT,
    "beyond_high" BIGINT,
    "same_as" TEXT NOT NULL,

    CONSTRAINT "reconciliation_difference_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "reconciliation_platform_id_period_from_period_to_key" ON "reconciliation"("platform_id", "period_from", "period_to");

-- CreateIndex
CREATE UNIQUE INDEX "reconciliation_difference_platform_id_same_as_key" ON "reconciliation_difference"("platform_id", "same_as");

-- AddForeignKey
ALTER TABLE "reconciliation" ADD CONSTRAINT "reconciliation_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "reconciliation_difference" ADD CONSTRAINT "reconciliation_difference_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- Only background work and operators' commands compare and close
ALTER TABLE "reconciliation" ADD CONSTRAINT "reconciliation_sound" CHECK ("period_from" < "period_to" AND length("started_by") BETWEEN 1 AND 200);
ALTER TABLE "reconciliation_difference" ADD CONSTRAINT "reconciliation_difference_sound" CHECK (
  ("closed_at" IS NULL) = ("closed_by" IS NULL) AND ("closed_at" IS NULL) = ("closed_reason" IS NULL)
  AND length("closed_by") BETWEEN 1 AND 200 AND length("closed_reason") BETWEEN 1 AND 1000);
CREATE INDEX "reconciliation_difference_open" ON "reconciliation_difference" ("platform_id", "period_from") WHERE "closed_at" IS NULL AND "gone_at" IS NULL;
GRANT SELECT, INSERT, UPDATE ON "reconciliation", "reconciliation_difference" TO "gateway_work";
ALTER TABLE "reconciliation" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "all_platforms" ON "reconciliation" TO "gateway_work" USING (true);
CREATE POLICY "one_platform" ON "reconciliation" TO "gateway_serving" USING ("platform_id" = current_setting('gateway.platform', true)::uuid);
ALTER TABLE "reconciliation_difference" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "all_platforms" ON "reconciliation_difference" TO "gateway_work" USING (true);
CREATE POLICY "one_platform" ON "reconciliation_difference" TO "gateway_serving" USING ("platform_id" = current_setting('gateway.platform', true)::uuid);
