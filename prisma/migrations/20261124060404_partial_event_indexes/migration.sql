-- An event of a transaction or a quote has no account, and that of an account no transaction: no entry for what it has not.
CREATE INDEX "event_of_transaction" ON "event" ("platform_id", "transaction_id", "sequence") WHERE "transaction_id" IS NOT NULL;
CREATE INDEX "event_of_account" ON "event" ("platform_id", "account_id", "sequence") WHERE "account_id" IS NOT NULL;
DROP INDEX "event_platform_id_transaction_id_sequence_idx";
DROP INDEX "event_platform_id_account_id_sequence_idx";
