-- CreateIndex
CREATE INDEX "customer_platform_id_uma_address_idx" ON "customer"("platform_id", "uma_address");

-- Most payments have no UMA address: no entry for those.
CREATE INDEX "transaction_source_uma_address" ON "transaction" ("platform_id", "source_uma_address", "id") WHERE "source_uma_address" IS NOT NULL;
CREATE INDEX "transaction_destination_uma_address" ON "transaction" ("platform_id", "destination_uma_address", "id") WHERE "destination_uma_address" IS NOT NULL;
CREATE INDEX "quote_destination_uma_address" ON "quote" ("platform_id", "destination_uma_address", "id") WHERE "destination_uma_address" IS NOT NULL;
