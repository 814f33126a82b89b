-- AlterTable
ALTER TABLE "audit_run" ADD COLUMN     "covers_from" TIMESTAMPTZ(3),
ADD COLUMN     "covers_until" TIMESTAMPTZ(3),
ADD COLUMN     "on_replica" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "audit_checkpoint" (
    "id" BOOLEAN NOT NULL DEFAULT true,
    "run_id" UUID NOT NULL,
    "covers_until" TIMESTAMPTZ(3) NOT NULL,
    "rules_digest" BYTEA NOT NULL,
    "epoch_id" INTEGER,

    CONSTRAINT "audit_checkpoint_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_mark" (
    "platform_id" UUID NOT NULL,
    "sequence" BIGINT NOT NULL,
    "journal_at" TIMESTAMPTZ(3),

    CONSTRAINT "audit_mark_pkey" PRIMARY KEY ("platform_id")
);

-- CreateTable
CREATE TABLE "audit_balance" (
    "platform_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "posted" BIGINT NOT NULL,

    CONSTRAINT "audit_balance_pkey" PRIMARY KEY ("platform_id","account_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "audit_checkpoint_run_id_key" ON "audit_checkpoint"("run_id");

-- AddForeignKey
ALTER TABLE "audit_checkpoint" ADD CONSTRAINT "audit_checkpoint_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "audit_run"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "audit_mark" ADD CONSTRAINT "audit_mark_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- Only operators' commands write it (decision 94)
ALTER TABLE "audit_checkpoint" ADD CONSTRAINT "audit_checkpoint_single" CHECK ("id");
ALTER TABLE "audit_mark" ADD CONSTRAINT "audit_mark_sound" CHECK ("sequence" >= 0);
ALTER TABLE "audit_balance" ADD CONSTRAINT "audit_balance_sound" CHECK ("posted" >= 0 AND "version" > 0);
GRANT SELECT, INSERT, UPDATE ON "audit_checkpoint", "audit_mark", "audit_balance" TO "gateway_work";
ALTER TABLE "audit_mark" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "all_platforms" ON "audit_mark" TO "gateway_work" USING (true);
CREATE POLICY "one_platform" ON "audit_mark" TO "gateway_serving" USING ("platform_id" = current_setting('gateway.platform', true)::uuid);
ALTER TABLE "audit_balance" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "all_platforms" ON "audit_balance" TO "gateway_work" USING (true);
CREATE POLICY "one_platform" ON "audit_balance" TO "gateway_serving" USING ("platform_id" = current_setting('gateway.platform', true)::uuid);
