-- AlterTable
ALTER TABLE "platform" ADD COLUMN     "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms();

-- AlterTable
ALTER TABLE "lookup" ADD COLUMN     "sender_customer_id" UUID;

-- AlterTable
ALTER TABLE "webhook_endpoint" ADD COLUMN     "of_config" BOOLEAN NOT NULL DEFAULT false;

-- AddForeignKey
ALTER TABLE "lookup" ADD CONSTRAINT "lookup_platform_id_sender_customer_id_fkey" FOREIGN KEY ("platform_id", "sender_customer_id") REFERENCES "customer"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- A platform's settings name one endpoint at most.
CREATE UNIQUE INDEX "webhook_endpoint_of_config" ON "webhook_endpoint" ("platform_id") WHERE "of_config";
