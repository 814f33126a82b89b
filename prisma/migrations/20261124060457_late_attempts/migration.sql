-- Attempts at webhook deliveries that were sent again long after the usual attempts: their deliveries outlive their partition.
-- While the index is built, attempts wait that have ended, and payments do not.
CREATE INDEX "webhook_attempt_late" ON "webhook_attempt" ("delivery_id", "platform_id")
  WHERE "at" - uuid_v7_time("delivery_id") > interval '14 days';
