-- CreateIndex
CREATE INDEX "customer_platform_id_uma_address_idx" ON "customer"("platform_id", "uma_address");

-- CreateIndex
CREATE INDEX "account_platform_id_currency_id_idx" ON "account"("platform_id", "currency", "id");
