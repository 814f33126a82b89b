-- CreateEnum
CREATE TYPE "webhook_endpoint_status" AS ENUM ('ENABLED', 'FAILING', 'DISABLED');

-- CreateEnum
CREATE TYPE "webhook_delivery_status" AS ENUM ('PENDING', 'DELIVERED', 'FAILED');

-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL DEFAULT uuid_v7(),
    "url" TEXT NOT NULL,
    "event_types" "event_type"[],
    "description" TEXT,
    "status" "webhook_endpoint_status" NOT NULL DEFAULT 'ENABLED',
    "secret" BYTEA NOT NULL,
    "previous_secret" BYTEA,
    "previous_secret_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "position" BIGINT NOT NULL,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "disabled_at" TIMESTAMPTZ(3),
    "notice" TEXT,

    CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL DEFAULT uuid_v7(),
    "endpoint_id" UUID NOT NULL,
    "event_sequence" BIGINT NOT NULL,
    "status" "webhook_delivery_status" NOT NULL DEFAULT 'PENDING',
    "question" BOOLEAN NOT NULL DEFAULT false,
    "begun" INTEGER NOT NULL DEFAULT 0,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) DEFAULT clock_ms(),
    "leased_until" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "webhook_attempt" (
    "platform_id" UUID NOT NULL,
    "delivery_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "response_status" INTEGER,
    "error" TEXT,

    CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("platform_id","delivery_id","number")
);

-- CreateIndex
CREATE INDEX "webhook_delivery_platform_id_endpoint_id_id_idx" ON "webhook_delivery"("platform_id", "endpoint_id", "id");

-- CreateIndex
CREATE INDEX "webhook_delivery_platform_id_event_sequence_idx" ON "webhook_delivery"("platform_id", "event_sequence");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_delivery_platform_id_endpoint_id_event_sequence_key" ON "webhook_delivery"("platform_id", "endpoint_id", "event_sequence");

-- AddForeignKey
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_platform_id_endpoint_id_fkey" FOREIGN KEY ("platform_id", "endpoint_id") REFERENCES "webhook_endpoint"("platform_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_platform_id_event_sequence_fkey" FOREIGN KEY ("platform_id", "event_sequence") REFERENCES "event"("platform_id", "sequence") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "webhook_attempt" ADD CONSTRAINT "webhook_attempt_platform_id_delivery_id_fkey" FOREIGN KEY ("platform_id", "delivery_id") REFERENCES "webhook_delivery"("platform_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- What the schema cannot say: a delivery that waits has a next attempt and no other has one, and its place is found fast.
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_types" CHECK ("event_types" IS NOT NULL AND cardinality("event_types") > 0);
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_previous_secret" CHECK (("previous_secret" IS NULL) = ("previous_secret_until" IS NULL));
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_disabled" CHECK (("status" = 'DISABLED') = ("disabled_at" IS NOT NULL));
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_next" CHECK (("status" = 'PENDING') = ("next_attempt_at" IS NOT NULL));
CREATE INDEX "webhook_delivery_due" ON "webhook_delivery" ("platform_id", "endpoint_id", "next_attempt_at") WHERE "status" = 'PENDING';
CREATE INDEX "webhook_delivery_leased" ON "webhook_delivery" ("platform_id", "endpoint_id") WHERE "leased_until" IS NOT NULL;
CREATE INDEX "webhook_delivery_questions" ON "webhook_delivery" ("next_attempt_at") WHERE "status" = 'PENDING' AND "question";
