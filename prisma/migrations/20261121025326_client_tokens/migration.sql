-- CreateTable
CREATE TABLE "client_token" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL DEFAULT uuid_v7(),
    "customer_id" UUID,
    "quote_id" UUID,
    "transaction_id" UUID,
    "permissions" "permission"[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "client_token_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateIndex
CREATE INDEX "event_platform_id_account_id_sequence_idx" ON "event"("platform_id", "account_id", "sequence");

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_customer_id_fkey" FOREIGN KEY ("platform_id", "customer_id") REFERENCES "customer"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_quote_id_fkey" FOREIGN KEY ("platform_id", "quote_id") REFERENCES "quote"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- Bound to exactly one thing, and never to what only a platform's server may do.
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_bound_to_one" CHECK (num_nonnulls("customer_id", "quote_id", "transaction_id") = 1);
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_permissions" CHECK ("permissions" <@ array['VIEW', 'TRANSACT']::permission[]);
