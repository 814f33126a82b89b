-- Reads all rows once, while others go on to read and to write them.
ALTER TABLE "idempotency_record" VALIDATE CONSTRAINT "partition_bound";
ALTER TABLE "webhook_delivery" VALIDATE CONSTRAINT "partition_bound";
ALTER TABLE "webhook_attempt" VALIDATE CONSTRAINT "partition_bound";
