-- before tables
-- The one clock: the database's, in the milliseconds that records carry. Not frozen at the transaction's start.
create or replace function clock_ms() returns timestamptz
  language sql volatile parallel safe
as $$
  select date_trunc('milliseconds', clock_timestamp())
$$;

-- before tables
-- A UUIDv7 (RFC 9562, method 3): 48 bits of milliseconds, 12 bits of the fraction below, 62 random bits. Ids made on one
-- server sort in the order of their making down to the microsecond. Written out because Postgres has its own only from 18.
create or replace function uuid_v7() returns uuid
  language sql volatile parallel safe
as $$
  select encode(
    int8send(((us / 1000) << 16) | 28672 | ((us % 1000) * 4096 / 1000)) || substring(uuid_send(gen_random_uuid()) from 9 for 8),
    'hex')::uuid
  from (select floor(extract(epoch from clock_timestamp()) * 1000000)::bigint as us) clock
$$;

-- before tables
-- The millisecond inside a UUIDv7: when the record was made.
create or replace function uuid_v7_time(id uuid) returns timestamptz
  language sql immutable strict parallel safe
as $$
  select to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;

-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "environment" AS ENUM ('SANDBOX', 'PRODUCTION');

-- CreateEnum
CREATE TYPE "permission" AS ENUM ('VIEW', 'TRANSACT', 'MANAGE');

-- CreateEnum
CREATE TYPE "customer_type" AS ENUM ('INDIVIDUAL', 'BUSINESS');

-- CreateEnum
CREATE TYPE "kyc_status" AS ENUM ('APPROVED', 'REJECTED', 'PENDING_REVIEW', 'EXPIRED', 'CANCELED', 'MANUALLY_APPROVED', 'MANUALLY_REJECTED');

-- CreateEnum
CREATE TYPE "account_kind" AS ENUM ('INTERNAL', 'EXTERNAL');

-- CreateEnum
CREATE TYPE "external_account_status" AS ENUM ('PENDING', 'ACTIVE', 'UNDER_REVIEW', 'INACTIVE');

-- CreateEnum
CREATE TYPE "external_account_type" AS ENUM ('US_ACCOUNT', 'CLABE', 'PIX', 'IBAN', 'UPI', 'NGN_ACCOUNT', 'CAD_ACCOUNT', 'GBP_ACCOUNT', 'PHP_ACCOUNT', 'SGD_ACCOUNT', 'LAYER2_WALLET', 'LIGHTNING', 'SOLANA_WALLET', 'TRON_WALLET', 'POLYGON_WALLET', 'BASE_WALLET');

-- CreateEnum
CREATE TYPE "beneficiary_verification_status" AS ENUM ('MATCHED', 'PARTIAL_MATCH', 'NOT_MATCHED', 'UNSUPPORTED', 'CHECKED_BY_RECEIVING_FI', 'PENDING');

-- CreateEnum
CREATE TYPE "quote_status" AS ENUM ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'EXPIRED');

-- CreateEnum
CREATE TYPE "transaction_status" AS ENUM ('CREATED', 'PENDING', 'PROCESSING', 'COMPLETED', 'REJECTED', 'FAILED', 'REFUNDED', 'EXPIRED');

-- CreateEnum
CREATE TYPE "transaction_type" AS ENUM ('INCOMING', 'OUTGOING');

-- CreateEnum
CREATE TYPE "locked_currency_side" AS ENUM ('SENDING', 'RECEIVING');

-- CreateEnum
CREATE TYPE "party_kind" AS ENUM ('ACCOUNT', 'REALTIME_FUNDING', 'UMA_ADDRESS');

-- CreateEnum
CREATE TYPE "failure_reason" AS ENUM ('LNURLP_FAILED', 'PAY_REQUEST_FAILED', 'PAYMENT_APPROVAL_WEBHOOK_ERROR', 'PAYMENT_APPROVAL_TIMED_OUT', 'OFFRAMP_FAILED', 'MISSING_MANDATORY_PAYEE_DATA', 'QUOTE_EXPIRED', 'QUOTE_EXECUTION_FAILED');

-- CreateEnum
CREATE TYPE "hold_state" AS ENUM ('OPEN', 'CAPTURED', 'RELEASED');

-- CreateEnum
CREATE TYPE "system_account" AS ENUM ('OUTSIDE', 'CLEARING', 'LIQUIDITY', 'FEES', 'SUSPENSE');

-- CreateEnum
CREATE TYPE "rail_order_kind" AS ENUM ('PAYOUT', 'COLLECTION');

-- CreateEnum
CREATE TYPE "event_type" AS ENUM ('OUTGOING_PAYMENT', 'INCOMING_PAYMENT', 'ACCOUNT_STATUS', 'KYC_STATUS', 'TEST', 'QUOTE_STATUS', 'EXTERNAL_ACCOUNT_STATUS');

-- CreateEnum
CREATE TYPE "webhook_endpoint_status" AS ENUM ('ENABLED', 'FAILING', 'DISABLED');

-- CreateEnum
CREATE TYPE "webhook_delivery_status" AS ENUM ('PENDING', 'DELIVERED', 'FAILED');

-- CreateTable
CREATE TABLE "platform" (
    "id" UUID NOT NULL DEFAULT uuid_v7(),
    "name" TEXT NOT NULL,
    "environment" "environment" NOT NULL,
    "uma_domain" TEXT NOT NULL,
    "currencies" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),

    CONSTRAINT "platform_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "platform_fee" (
    "platform_id" UUID NOT NULL,
    "sending_currency" TEXT NOT NULL,
    "fixed_fee" BIGINT NOT NULL,
    "variable_fee_rate" DECIMAL(12,10) NOT NULL,

    CONSTRAINT "platform_fee_pkey" PRIMARY KEY ("platform_id","sending_currency")
);

-- CreateTable
CREATE TABLE "api_token" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL DEFAULT uuid_v7(),
    "client_id" TEXT NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "name" TEXT NOT NULL,
    "permissions" "permission"[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_token_pkey" PRIMARY KEY ("platform_id","id")
);

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

-- CreateTable
CREATE TABLE "currency" (
    "code" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "symbol" TEXT NOT NULL,
    "decimals" SMALLINT NOT NULL,

    CONSTRAINT "currency_pkey" PRIMARY KEY ("code")
);

-- CreateTable
CREATE TABLE "customer" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "platform_customer_id" TEXT NOT NULL,
    "customer_type" "customer_type" NOT NULL,
    "uma_address" TEXT NOT NULL,
    "kyc_status" "kyc_status" NOT NULL,
    "is_deleted" BOOLEAN NOT NULL DEFAULT false,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "name" TEXT,
    "birth_date" DATE,
    "nationality" TEXT,
    "registration_number" TEXT,
    "tax_id" TEXT,
    "address" JSONB,
    "beneficial_owners" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "customer_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "account" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "kind" "account_kind" NOT NULL,
    "customer_id" UUID,
    "currency" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "posted" BIGINT NOT NULL DEFAULT 0,
    "held" BIGINT NOT NULL DEFAULT 0,
    "funding_instructions" JSONB NOT NULL DEFAULT '[]',
    "status" "external_account_status",
    "account_type" "external_account_type",
    "account_info" JSONB,
    "identifier" TEXT,
    "beneficiary" JSONB,
    "platform_account_id" TEXT,
    "default_uma_deposit_account" BOOLEAN NOT NULL DEFAULT false,
    "beneficiary_verification_status" "beneficiary_verification_status",
    "beneficiary_verified_name" TEXT,

    CONSTRAINT "account_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "quote" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "status" "quote_status" NOT NULL,
    "status_reason" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "transaction_id" UUID NOT NULL,
    "customer_id" UUID,
    "source_kind" "party_kind" NOT NULL,
    "source_account_id" UUID,
    "destination_kind" "party_kind" NOT NULL,
    "destination_account_id" UUID,
    "destination_uma_address" TEXT,
    "lookup_id" UUID,
    "sending_currency" TEXT NOT NULL,
    "receiving_currency" TEXT NOT NULL,
    "total_sending_amount" BIGINT NOT NULL,
    "total_receiving_amount" BIGINT NOT NULL,
    "locked_currency_side" "locked_currency_side" NOT NULL,
    "exchange_rate" DECIMAL(32,18) NOT NULL,
    "fees_included" BIGINT NOT NULL,
    "platform_fee" BIGINT NOT NULL,
    "pricing" JSONB NOT NULL,
    "description" TEXT,
    "payment_instructions" JSONB NOT NULL DEFAULT '[]',
    "sender_information" JSONB NOT NULL DEFAULT '{}',
    "scenario" JSONB,

    CONSTRAINT "quote_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "transaction" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "type" "transaction_type" NOT NULL,
    "status" "transaction_status" NOT NULL,
    "status_reason" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "settled_at" TIMESTAMPTZ(3),
    "expected_settlement_at" TIMESTAMPTZ(3),
    "customer_id" UUID,
    "quote_id" UUID,
    "sent_amount" BIGINT,
    "sent_currency" TEXT,
    "received_amount" BIGINT,
    "received_currency" TEXT NOT NULL,
    "source_kind" "party_kind",
    "source_account_id" UUID,
    "source_uma_address" TEXT,
    "destination_kind" "party_kind" NOT NULL,
    "destination_account_id" UUID,
    "destination_uma_address" TEXT,
    "exchange_rate" DECIMAL(32,18),
    "fees" BIGINT,
    "rate_details" JSONB,
    "failure_reason" "failure_reason",
    "refund_reference" TEXT,
    "refund_amount" BIGINT,
    "refund_initiated_at" TIMESTAMPTZ(3),
    "refund_settled_at" TIMESTAMPTZ(3),
    "reference" TEXT NOT NULL,
    "counterparty_information" JSONB NOT NULL DEFAULT '{}',
    "description" TEXT,
    "approval_due_at" TIMESTAMPTZ(3),
    "requested_information" JSONB,

    CONSTRAINT "transaction_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "quote_move" (
    "from" "quote_status" NOT NULL,
    "to" "quote_status" NOT NULL,

    CONSTRAINT "quote_move_pkey" PRIMARY KEY ("from","to")
);

-- CreateTable
CREATE TABLE "transaction_move" (
    "from" "transaction_status" NOT NULL,
    "to" "transaction_status" NOT NULL,

    CONSTRAINT "transaction_move_pkey" PRIMARY KEY ("from","to")
);

-- CreateTable
CREATE TABLE "journal" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL DEFAULT uuid_v7(),
    "transaction_id" UUID,
    "kind" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "journal_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "posting" (
    "platform_id" UUID NOT NULL,
    "journal_id" UUID NOT NULL,
    "leg" SMALLINT NOT NULL,
    "account_id" UUID,
    "system" "system_account",
    "currency" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "balance_after" BIGINT,
    "account_version" INTEGER,
    "hold_id" UUID,

    CONSTRAINT "posting_pkey" PRIMARY KEY ("platform_id","journal_id","leg")
);

-- CreateTable
CREATE TABLE "hold" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "transaction_id" UUID,
    "amount" BIGINT NOT NULL,
    "state" "hold_state" NOT NULL DEFAULT 'OPEN',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "resolved_at" TIMESTAMPTZ(3),

    CONSTRAINT "hold_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "idempotency_record" (
    "platform_id" UUID NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "refusal" JSONB,
    "result" JSONB,

    CONSTRAINT "idempotency_record_pkey" PRIMARY KEY ("platform_id","operation","key")
);

-- CreateTable
CREATE TABLE "rail_order" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "transaction_id" UUID NOT NULL,
    "kind" "rail_order_kind" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "scenario" JSONB,

    CONSTRAINT "rail_order_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "lookup" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "uma_address" TEXT NOT NULL,
    "receiver_platform_id" UUID,
    "receiver_customer_id" UUID,
    "vasp_name" TEXT,
    "network" TEXT NOT NULL,
    "currencies" JSONB NOT NULL,
    "required_fields" JSONB NOT NULL,
    "information" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lookup_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "arrival" (
    "platform_id" UUID NOT NULL,
    "transaction_id" UUID NOT NULL,
    "sender_platform_id" UUID NOT NULL,
    "sender_transaction_id" UUID NOT NULL,

    CONSTRAINT "arrival_pkey" PRIMARY KEY ("platform_id","transaction_id")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" BIGSERIAL NOT NULL,
    "platform_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "type" "event_type" NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "transaction_id" UUID,
    "quote_id" UUID,
    "account_id" UUID,
    "customer_id" UUID,
    "version" INTEGER NOT NULL,
    "previous_status" TEXT,
    "status" TEXT,
    "reason" TEXT,
    "terminal" BOOLEAN NOT NULL DEFAULT false,
    "old_balance" BIGINT,
    "new_balance" BIGINT,
    "snapshot" JSONB NOT NULL,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event" (
    "platform_id" UUID NOT NULL,
    "sequence" BIGINT NOT NULL,
    "id" UUID NOT NULL,
    "type" "event_type" NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "transaction_id" UUID,
    "quote_id" UUID,
    "account_id" UUID,
    "customer_id" UUID,
    "version" INTEGER NOT NULL,
    "previous_status" TEXT,
    "status" TEXT,
    "reason" TEXT,
    "terminal" BOOLEAN NOT NULL DEFAULT false,
    "old_balance" BIGINT,
    "new_balance" BIGINT,
    "snapshot" JSONB NOT NULL,

    CONSTRAINT "event_pkey" PRIMARY KEY ("platform_id","sequence")
);

-- CreateTable
CREATE TABLE "feed_head" (
    "platform_id" UUID NOT NULL,
    "sequence" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "feed_head_pkey" PRIMARY KEY ("platform_id")
);

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
CREATE UNIQUE INDEX "platform_name_key" ON "platform"("name");

-- CreateIndex
CREATE UNIQUE INDEX "platform_uma_domain_key" ON "platform"("uma_domain");

-- CreateIndex
CREATE UNIQUE INDEX "api_token_client_id_key" ON "api_token"("client_id");

-- CreateIndex
CREATE INDEX "customer_platform_id_platform_customer_id_idx" ON "customer"("platform_id", "platform_customer_id");

-- CreateIndex
CREATE INDEX "customer_platform_id_updated_at_idx" ON "customer"("platform_id", "updated_at");

-- CreateIndex
CREATE INDEX "account_platform_id_customer_id_id_idx" ON "account"("platform_id", "customer_id", "id");

-- CreateIndex
CREATE INDEX "quote_platform_id_customer_id_id_idx" ON "quote"("platform_id", "customer_id", "id");

-- CreateIndex
CREATE INDEX "quote_platform_id_status_id_idx" ON "quote"("platform_id", "status", "id");

-- CreateIndex
CREATE INDEX "quote_platform_id_source_account_id_id_idx" ON "quote"("platform_id", "source_account_id", "id");

-- CreateIndex
CREATE INDEX "quote_platform_id_destination_account_id_id_idx" ON "quote"("platform_id", "destination_account_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "quote_platform_id_transaction_id_key" ON "quote"("platform_id", "transaction_id");

-- CreateIndex
CREATE INDEX "transaction_platform_id_customer_id_id_idx" ON "transaction"("platform_id", "customer_id", "id");

-- CreateIndex
CREATE INDEX "transaction_platform_id_status_id_idx" ON "transaction"("platform_id", "status", "id");

-- CreateIndex
CREATE INDEX "transaction_platform_id_reference_idx" ON "transaction"("platform_id", "reference");

-- CreateIndex
CREATE INDEX "transaction_platform_id_source_account_id_id_idx" ON "transaction"("platform_id", "source_account_id", "id");

-- CreateIndex
CREATE INDEX "transaction_platform_id_destination_account_id_id_idx" ON "transaction"("platform_id", "destination_account_id", "id");

-- CreateIndex
CREATE INDEX "journal_platform_id_transaction_id_idx" ON "journal"("platform_id", "transaction_id");

-- CreateIndex
CREATE UNIQUE INDEX "posting_platform_id_account_id_account_version_key" ON "posting"("platform_id", "account_id", "account_version");

-- CreateIndex
CREATE UNIQUE INDEX "posting_platform_id_hold_id_key" ON "posting"("platform_id", "hold_id");

-- CreateIndex
CREATE INDEX "hold_platform_id_account_id_state_idx" ON "hold"("platform_id", "account_id", "state");

-- CreateIndex
CREATE INDEX "idempotency_record_created_at_idx" ON "idempotency_record"("created_at");

-- CreateIndex
CREATE INDEX "rail_order_platform_id_transaction_id_idx" ON "rail_order"("platform_id", "transaction_id");

-- CreateIndex
CREATE UNIQUE INDEX "arrival_sender_platform_id_sender_transaction_id_key" ON "arrival"("sender_platform_id", "sender_transaction_id");

-- CreateIndex
CREATE INDEX "event_platform_id_transaction_id_sequence_idx" ON "event"("platform_id", "transaction_id", "sequence");

-- CreateIndex
CREATE INDEX "event_platform_id_customer_id_sequence_idx" ON "event"("platform_id", "customer_id", "sequence");

-- CreateIndex
CREATE INDEX "event_platform_id_account_id_sequence_idx" ON "event"("platform_id", "account_id", "sequence");

-- CreateIndex
CREATE UNIQUE INDEX "event_platform_id_id_key" ON "event"("platform_id", "id");

-- CreateIndex
CREATE INDEX "webhook_delivery_platform_id_endpoint_id_id_idx" ON "webhook_delivery"("platform_id", "endpoint_id", "id");

-- CreateIndex
CREATE INDEX "webhook_delivery_platform_id_event_sequence_idx" ON "webhook_delivery"("platform_id", "event_sequence");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_delivery_platform_id_endpoint_id_event_sequence_key" ON "webhook_delivery"("platform_id", "endpoint_id", "event_sequence");

-- AddForeignKey
ALTER TABLE "platform_fee" ADD CONSTRAINT "platform_fee_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "platform_fee" ADD CONSTRAINT "platform_fee_sending_currency_fkey" FOREIGN KEY ("sending_currency") REFERENCES "currency"("code") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_customer_id_fkey" FOREIGN KEY ("platform_id", "customer_id") REFERENCES "customer"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_quote_id_fkey" FOREIGN KEY ("platform_id", "quote_id") REFERENCES "quote"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "customer" ADD CONSTRAINT "customer_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "account" ADD CONSTRAINT "account_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "account" ADD CONSTRAINT "account_platform_id_customer_id_fkey" FOREIGN KEY ("platform_id", "customer_id") REFERENCES "customer"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "account" ADD CONSTRAINT "account_currency_fkey" FOREIGN KEY ("currency") REFERENCES "currency"("code") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "quote" ADD CONSTRAINT "quote_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "quote" ADD CONSTRAINT "quote_platform_id_customer_id_fkey" FOREIGN KEY ("platform_id", "customer_id") REFERENCES "customer"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "quote" ADD CONSTRAINT "quote_platform_id_source_account_id_fkey" FOREIGN KEY ("platform_id", "source_account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "quote" ADD CONSTRAINT "quote_platform_id_destination_account_id_fkey" FOREIGN KEY ("platform_id", "destination_account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "quote" ADD CONSTRAINT "quote_sending_currency_fkey" FOREIGN KEY ("sending_currency") REFERENCES "currency"("code") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "quote" ADD CONSTRAINT "quote_receiving_currency_fkey" FOREIGN KEY ("receiving_currency") REFERENCES "currency"("code") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "quote" ADD CONSTRAINT "quote_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_platform_id_customer_id_fkey" FOREIGN KEY ("platform_id", "customer_id") REFERENCES "customer"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_platform_id_source_account_id_fkey" FOREIGN KEY ("platform_id", "source_account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_platform_id_destination_account_id_fkey" FOREIGN KEY ("platform_id", "destination_account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_sent_currency_fkey" FOREIGN KEY ("sent_currency") REFERENCES "currency"("code") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_received_currency_fkey" FOREIGN KEY ("received_currency") REFERENCES "currency"("code") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "journal" ADD CONSTRAINT "journal_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "posting" ADD CONSTRAINT "posting_platform_id_journal_id_fkey" FOREIGN KEY ("platform_id", "journal_id") REFERENCES "journal"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "posting" ADD CONSTRAINT "posting_platform_id_account_id_fkey" FOREIGN KEY ("platform_id", "account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "posting" ADD CONSTRAINT "posting_currency_fkey" FOREIGN KEY ("currency") REFERENCES "currency"("code") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "posting" ADD CONSTRAINT "posting_platform_id_hold_id_fkey" FOREIGN KEY ("platform_id", "hold_id") REFERENCES "hold"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "hold" ADD CONSTRAINT "hold_platform_id_account_id_fkey" FOREIGN KEY ("platform_id", "account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "hold" ADD CONSTRAINT "hold_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "rail_order" ADD CONSTRAINT "rail_order_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "lookup" ADD CONSTRAINT "lookup_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "arrival" ADD CONSTRAINT "arrival_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "arrival" ADD CONSTRAINT "arrival_sender_platform_id_sender_transaction_id_fkey" FOREIGN KEY ("sender_platform_id", "sender_transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "event" ADD CONSTRAINT "event_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "event" ADD CONSTRAINT "event_platform_id_account_id_fkey" FOREIGN KEY ("platform_id", "account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "event" ADD CONSTRAINT "event_platform_id_customer_id_fkey" FOREIGN KEY ("platform_id", "customer_id") REFERENCES "customer"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "feed_head" ADD CONSTRAINT "feed_head_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_platform_id_endpoint_id_fkey" FOREIGN KEY ("platform_id", "endpoint_id") REFERENCES "webhook_endpoint"("platform_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_platform_id_event_sequence_fkey" FOREIGN KEY ("platform_id", "event_sequence") REFERENCES "event"("platform_id", "sequence") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "webhook_attempt" ADD CONSTRAINT "webhook_attempt_platform_id_delivery_id_fkey" FOREIGN KEY ("platform_id", "delivery_id") REFERENCES "webhook_delivery"("platform_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- An account as the feed and stored answers keep it. Balances are text: they may pass what a JSON number holds exactly.
create or replace function account_snapshot(a account) returns jsonb
  language sql immutable parallel safe
as $$
  select to_jsonb(a) || jsonb_build_object('posted', a.posted::text, 'held', a.held::text)
$$;

-- After a change of an internal account's spendable balance, or of an external account's status: its event.
create or replace function announce_account() returns trigger
  language plpgsql
as $$
begin
  if new.kind = 'INTERNAL' then
    if tg_op = 'UPDATE' and (new.posted, new.held) is distinct from (old.posted, old.held) then
      insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, old_balance, new_balance, snapshot)
      values (new.platform_id, uuid_v7(), 'ACCOUNT_STATUS', new.updated_at, new.id, new.customer_id, new.version,
              old.posted - old.held, new.posted - new.held, account_snapshot(new));
    end if;
  elsif tg_op = 'INSERT' or new.status is distinct from old.status then
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, previous_status, status, snapshot)
    values (new.platform_id, uuid_v7(), 'EXTERNAL_ACCOUNT_STATUS', new.updated_at, new.id, new.customer_id, new.version,
            case tg_op when 'UPDATE' then old.status end, new.status, account_snapshot(new));
  end if;
  return null;
end
$$;

-- After a final decision on a customer's identity check: its event.
create or replace function announce_customer() returns trigger
  language plpgsql
as $$
begin
  if new.kyc_status <> 'PENDING_REVIEW' and (tg_op = 'INSERT' or new.kyc_status <> old.kyc_status) then
    insert into outbox (platform_id, event_id, type, occurred_at, customer_id, version, previous_status, status, snapshot)
    values (new.platform_id, uuid_v7(), 'KYC_STATUS', new.updated_at, new.id, new.version,
            case tg_op when 'UPDATE' then old.kyc_status end, new.kyc_status, to_jsonb(new));
  end if;
  return null;
end
$$;

-- After every change of a quote: its event, in the same transaction.
create or replace function announce_quote() returns trigger
  language plpgsql
as $$
begin
  insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                      previous_status, status, reason, terminal, snapshot)
  values (new.platform_id, uuid_v7(), 'QUOTE_STATUS', new.updated_at, new.transaction_id, new.id, new.customer_id, new.version,
          case tg_op when 'UPDATE' then old.status end, new.status, new.status_reason,
          new.status in ('COMPLETED', 'FAILED', 'EXPIRED'), to_jsonb(new));
  return null;
end
$$;

-- After every change of a transaction: its event, in the same transaction.
create or replace function announce_transaction() returns trigger
  language plpgsql
as $$
begin
  insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                      previous_status, status, reason, terminal, snapshot)
  values (new.platform_id, uuid_v7(), (new.type::text || '_PAYMENT')::event_type, new.updated_at, new.id, new.quote_id, new.customer_id,
          new.version, case tg_op when 'UPDATE' then old.status end, new.status, new.status_reason, is_terminal(new.status),
          to_jsonb(new));
  return null;
end
$$;

-- Before insert or update on hold: the account's held money follows. Only a posting captures (apply_posting).
create or replace function apply_hold() returns trigger
  language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    update account set held = held + new.amount
    where platform_id = new.platform_id and id = new.account_id and kind = 'INTERNAL';
    if not found then
      raise exception 'no internal account % to hold on', new.account_id using errcode = 'LG007';
    end if;
    new.state := 'OPEN';
    return new;
  end if;
  if old.state <> 'OPEN' or new.state = 'OPEN'
     or (new.platform_id, new.id, new.account_id, new.amount) is distinct from (old.platform_id, old.id, old.account_id, old.amount)
     or (new.state = 'CAPTURED' and pg_trigger_depth() < 2) then
    raise exception 'hold %: no move from % to %', old.id, old.state, new.state using errcode = 'LG006';
  end if;
  if new.state = 'RELEASED' then
    update account set held = held - old.amount where platform_id = old.platform_id and id = old.account_id;
    new.resolved_at := clock_ms();
  end if;
  return new;
end
$$;

-- Carries out a plan that check_plan has found possible: new rows, money, status moves, and the rail's orders. Triggers
-- write the events and move the balances. Returns the row that the plan names as its result, as it is now.
create or replace function apply_plan(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_insert jsonb := coalesce(p_plan -> 'insert', '{}');
  v_move record;
  v_quote quote;
  v_transaction transaction;
  v_customer customer;
  v_account account;
  v_journal jsonb;
  v_journal_id uuid;
  v_result jsonb;
begin
  if v_insert ? 'customer' then
    insert into customer select r.* from jsonb_populate_recordset(null::customer, v_insert -> 'customer') r;
  end if;
  -- One default deposit account per customer: a new default takes the place of the old one.
  for v_account in
    select r.* from jsonb_populate_recordset(null::account, v_insert -> 'account') r
    where r.default_uma_deposit_account and r.customer_id is not null
  loop
    update account set default_uma_deposit_account = false
    where platform_id = p_platform and customer_id = v_account.customer_id and default_uma_deposit_account;
  end loop;
  if v_insert ? 'account' then
    insert into account select r.* from jsonb_populate_recordset(null::account, v_insert -> 'account') r;
  end if;
  if v_insert ? 'transaction' then
    insert into transaction select r.* from jsonb_populate_recordset(null::transaction, v_insert -> 'transaction') r;
  end if;
  if v_insert ? 'quote' then
    insert into quote select r.* from jsonb_populate_recordset(null::quote, v_insert -> 'quote') r;
  end if;
  if v_insert ? 'lookup' then
    insert into lookup select r.* from jsonb_populate_recordset(null::lookup, v_insert -> 'lookup') r;
  end if;
  if v_insert ? 'arrival' then
    insert into arrival select r.* from jsonb_populate_recordset(null::arrival, v_insert -> 'arrival') r;
  end if;
  if v_insert ? 'hold' then
    insert into hold (platform_id, id, account_id, transaction_id, amount, created_at)
    select r.platform_id, r.id, r.account_id, r.transaction_id, r.amount, uuid_v7_time(r.id)
    from jsonb_populate_recordset(null::hold, v_insert -> 'hold') r order by r.account_id, r.id;
  end if;

  -- Money before statuses: a deposit's change of balance is told before the payment that it starts (specification 6, rule 3).
  update hold set state = 'RELEASED'
  where platform_id = p_platform and id in (select jsonb_array_elements_text(p_plan -> 'release')::uuid);

  for v_journal in select * from jsonb_array_elements(p_plan -> 'journals') loop
    v_journal_id := uuid_v7();
    insert into journal (platform_id, id, transaction_id, kind, created_at)
    values (p_platform, v_journal_id, (v_journal ->> 'transactionId')::uuid, v_journal ->> 'kind', uuid_v7_time(v_journal_id));
    insert into posting (platform_id, journal_id, leg, account_id, system, currency, amount, hold_id)
    select p_platform, v_journal_id, row_number() over (order by l.account nulls first), l.account, l.system, l.currency, l.amount, l.hold
    from jsonb_to_recordset(v_journal -> 'legs')
      as l(account uuid, system system_account, currency text, amount bigint, hold uuid)
    order by l.account nulls first;
  end loop;

  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'quotes') as m(id uuid, "to" quote_status, reason text)
  loop
    update quote set status = v_move."to", status_reason = v_move.reason
    where platform_id = p_platform and id = v_move.id;
  end loop;

  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'transactions')
      as m(id uuid, "to" transaction_status, reason text, "set" jsonb, "expectedInMs" bigint, "refundWaits" boolean)
  loop
    select * into v_transaction from transaction where platform_id = p_platform and id = v_move.id;
    v_transaction := jsonb_populate_record(v_transaction, coalesce(v_move."set", '{}'));
    update transaction set
      status = v_move."to",
      status_reason = v_move.reason,
      failure_reason = v_transaction.failure_reason,
      refund_reference = v_transaction.refund_reference,
      refund_amount = v_transaction.refund_amount,
      -- A refund that waits has been started and has not arrived.
      refund_settled_at = case when v_transaction.refund_reference is not null and v_move."refundWaits" is not true
                               then coalesce(refund_settled_at, clock_ms()) end,
      received_amount = v_transaction.received_amount,
      counterparty_information = v_transaction.counterparty_information,
      destination_account_id = v_transaction.destination_account_id,
      requested_information = v_transaction.requested_information,
      expected_settlement_at = coalesce(clock_ms() + v_move."expectedInMs" * interval '1 millisecond', expected_settlement_at)
    where platform_id = p_platform and id = v_move.id;
  end loop;

  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'customers') as m(id uuid, "set" jsonb)
  loop
    select * into v_customer from customer where platform_id = p_platform and id = v_move.id for no key update;
    v_customer := jsonb_populate_record(v_customer, v_move."set");
    update customer set
      uma_address = v_customer.uma_address, kyc_status = v_customer.kyc_status, is_deleted = v_customer.is_deleted,
      name = v_customer.name, birth_date = v_customer.birth_date, nationality = v_customer.nationality,
      registration_number = v_customer.registration_number, tax_id = v_customer.tax_id,
      address = v_customer.address, beneficial_owners = v_customer.beneficial_owners
    where platform_id = p_platform and id = v_move.id;
  end loop;

  if v_insert ? 'rail_order' then
    insert into rail_order (platform_id, id, transaction_id, kind, created_at, due_at, attempts, scenario)
    select r.platform_id, r.id, r.transaction_id, r.kind, uuid_v7_time(r.id), clock_ms(), 0, r.scenario
    from jsonb_populate_recordset(null::rail_order, v_insert -> 'rail_order') r;
  end if;
  update rail_order o set due_at = clock_ms() + m."dueInMs" * interval '1 millisecond'
  from jsonb_to_recordset(p_plan -> 'orders') as m(id uuid, "dueInMs" bigint, "leasedUntil" timestamptz)
  -- One that was woken while it was looked at stays due.
  where o.platform_id = p_platform and o.id = m.id and (m."leasedUntil" is null or o.due_at = m."leasedUntil");

  case p_plan -> 'result' ->> 'type'
    when 'Quote' then
      select to_jsonb(q) into v_result from quote q where q.platform_id = p_platform and q.id = (p_plan -> 'result' ->> 'id')::uuid;
    when 'Transaction' then
      select to_jsonb(t) into v_result from transaction t where t.platform_id = p_platform and t.id = (p_plan -> 'result' ->> 'id')::uuid;
    when 'Customer' then
      select to_jsonb(c) into v_result from customer c where c.platform_id = p_platform and c.id = (p_plan -> 'result' ->> 'id')::uuid;
    when 'Lookup' then
      select to_jsonb(l) into v_result from lookup l where l.platform_id = p_platform and l.id = (p_plan -> 'result' ->> 'id')::uuid;
    when 'Account' then
      select account_snapshot(a) into v_result from account a where a.platform_id = p_platform and a.id = (p_plan -> 'result' ->> 'id')::uuid;
    else
      return null;
  end case;
  return jsonb_build_object('type', p_plan -> 'result' ->> 'type', 'row', v_result);
end
$$;

-- Before insert on posting: the leg moves its account's balance as it is written, so that books and balances cannot
-- differ. A journal that another transaction committed is sealed.
create or replace function apply_posting() returns trigger
  language plpgsql
as $$
declare
  v_captured bigint := 0;
begin
  if not exists (
    select from journal j
    where j.platform_id = new.platform_id and j.id = new.journal_id
      and j.xmin::text = (pg_current_xact_id()::text::bigint & 4294967295)::text
  ) then
    raise exception 'journal % is sealed', new.journal_id using errcode = 'LG005';
  end if;
  if new.hold_id is not null then
    update hold set state = 'CAPTURED', resolved_at = clock_ms()
    where platform_id = new.platform_id and id = new.hold_id and account_id = new.account_id
      and state = 'OPEN' and amount >= -new.amount
    returning amount into v_captured;
    if not found then
      raise exception 'hold % cannot be captured by this posting', new.hold_id using errcode = 'LG006';
    end if;
  end if;
  if new.account_id is not null then
    update account set posted = posted + new.amount, held = held - v_captured
    where platform_id = new.platform_id and id = new.account_id and kind = 'INTERNAL' and currency = new.currency
    returning posted, version into new.balance_after, new.account_version;
    if not found then
      raise exception 'no internal account % in %', new.account_id, new.currency using errcode = 'LG007';
    end if;
  end if;
  return new;
end
$$;

-- The part of check_plan for customers that a plan changes: locks them by id, and tells the first reason why they may not
-- change, or null. A deleted customer stays as it is, and a UMA address has one live holder.
create or replace function check_customers(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_change record;
  v_deleted boolean;
begin
  for v_change in
    select m.id, m."set" ->> 'uma_address' as uma_address
    from jsonb_to_recordset(p_plan -> 'customers') as m(id uuid, "set" jsonb) order by m.id
  loop
    select is_deleted into v_deleted from customer
    where platform_id = p_platform and id = v_change.id for no key update;
    if v_deleted then
      return jsonb_build_object('code', 'CUSTOMER_DELETED', 'id', v_change.id);
    end if;
    if exists (
      select from customer c
      where lower(c.uma_address) = lower(v_change.uma_address) and not c.is_deleted
        and (c.platform_id, c.id) <> (p_platform, v_change.id)
    ) then
      return jsonb_build_object('code', 'UMA_ADDRESS_EXISTS');
    end if;
  end loop;
  return null;
end
$$;

-- Deferred, once per new journal, at commit: at least two legs, and every currency sums to zero.
create or replace function check_journal() returns trigger
  language plpgsql
as $$
begin
  if (select count(*) from posting p where p.platform_id = new.platform_id and p.journal_id = new.id) < 2
     or exists (
       select from posting p where p.platform_id = new.platform_id and p.journal_id = new.id
       group by p.currency having sum(p.amount) <> 0
     ) then
    raise exception 'journal % does not balance', new.id using errcode = 'LG008';
  end if;
  return null;
end
$$;

-- The part of check_plan for the rail's orders that a plan concludes or puts off: locks them by id, and refuses one that
-- has its outcome already. So two workers that held the same order (the first for longer than its lease) settle it once,
-- even where the payment's status does not tell, as after a pull.
create or replace function check_orders(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_order record;
begin
  for v_order in
    select o.id, o.due_at from rail_order o
    where o.platform_id = p_platform and o.id in (select (m ->> 'id')::uuid from jsonb_array_elements(p_plan -> 'orders') m)
    order by o.id for no key update
  loop
    if v_order.due_at is null then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_order.id, 'status', 'CLOSED');
    end if;
  end loop;
  return null;
end
$$;

-- Locks what a plan will change, in one order for all plans (quotes, transactions, orders, customers, accounts), and tells
-- the first reason why it may not happen, or null. Nothing is written before the whole plan has been found possible.
-- A move marked fresh is of a row that the same plan inserts: there is nothing to lock or check yet.
create or replace function check_plan(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move record;
  v_row record;
  v_refusal jsonb;
  v_accounts uuid[];
begin
  select c.id into v_row from jsonb_populate_recordset(null::customer, p_plan -> 'insert' -> 'customer') n
  join customer c on lower(c.uma_address) = lower(n.uma_address) and not c.is_deleted limit 1;
  if found then
    return jsonb_build_object('code', 'UMA_ADDRESS_EXISTS');
  end if;
  select a.id into v_row from jsonb_populate_recordset(null::account, p_plan -> 'insert' -> 'account') n
  join account a on a.platform_id = p_platform and a.kind = 'EXTERNAL' and n.kind = 'EXTERNAL' and a.status <> 'INACTIVE'
    and a.customer_id is not distinct from n.customer_id and a.currency = n.currency
    and a.account_type = n.account_type and a.identifier = n.identifier limit 1;
  if found then
    return jsonb_build_object('code', 'ACCOUNT_EXISTS', 'id', v_row.id);
  end if;

  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'quotes') as m(id uuid, "from" text[], expiry text, fresh boolean)
    where m.fresh is not true order by m.id
  loop
    select status, expires_at into v_row from quote
    where platform_id = p_platform and id = v_move.id for no key update;
    if not found then
      return jsonb_build_object('code', 'QUOTE_NOT_FOUND', 'id', v_move.id);
    end if;
    -- The clock is read after the lock is held: a quote that expired while the command waited is expired.
    if v_row.status = 'EXPIRED' or (v_row.status = 'PENDING' and v_move.expiry = 'before' and clock_timestamp() >= v_row.expires_at) then
      return jsonb_build_object('code', 'QUOTE_EXPIRED', 'id', v_move.id, 'expiresAt', v_row.expires_at);
    end if;
    if not v_row.status::text = any (v_move."from") or (v_move.expiry = 'after' and clock_timestamp() < v_row.expires_at) then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_move.id, 'status', v_row.status);
    end if;
  end loop;

  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'transactions') as m(id uuid, "from" text[], fresh boolean)
    where m.fresh is not true order by m.id
  loop
    select status into v_row from transaction
    where platform_id = p_platform and id = v_move.id for no key update;
    if not found then
      return jsonb_build_object('code', 'TRANSACTION_NOT_FOUND', 'id', v_move.id);
    end if;
    if not v_row.status::text = any (v_move."from") then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_move.id, 'status', v_row.status);
    end if;
  end loop;

  v_refusal := coalesce(check_orders(p_platform, p_plan), check_customers(p_platform, p_plan));
  if v_refusal is not null then
    return v_refusal;
  end if;
  for v_row in
    select c.id, c.kyc_status, c.is_deleted from customer c
    where c.platform_id = p_platform and c.id in (select jsonb_array_elements_text(p_plan -> 'ready' -> 'customers')::uuid)
    order by c.id for share
  loop
    if v_row.is_deleted or v_row.kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') then
      return jsonb_build_object('code', 'USER_NOT_READY', 'id', v_row.id, 'kycStatus', v_row.kyc_status, 'isDeleted', v_row.is_deleted);
    end if;
  end loop;

  -- As a list, so that each is found by its key: joined, the planner would rather read every account of the platform.
  v_accounts := array(
    select l.account
    from jsonb_array_elements(p_plan -> 'journals') j, jsonb_to_recordset(j -> 'legs') as l(account uuid)
    where l.account is not null
    union
    select h.account_id from jsonb_populate_recordset(null::hold, p_plan -> 'insert' -> 'hold') h
    union
    select h.account_id from hold h
    where h.platform_id = p_platform and h.state = 'OPEN'
      and h.id in (select jsonb_array_elements_text(p_plan -> 'release')::uuid)
    union
    select jsonb_array_elements_text(p_plan -> 'ready' -> 'accounts')::uuid
  );
  for v_row in
    select a.id, a.kind, a.status, a.posted - a.held as spendable, coalesce(c.change, 0) as change
    from account a
    left join (
      select account, sum(change) as change
      from (
        select l.account, l.amount + coalesce(h.amount, 0) as change
        from jsonb_array_elements(p_plan -> 'journals') j,
             jsonb_to_recordset(j -> 'legs') as l(account uuid, amount bigint, hold uuid)
             left join hold h on h.platform_id = p_platform and h.id = l.hold and h.state = 'OPEN'
        where l.account is not null
        union all
        select h.account_id, -h.amount from jsonb_populate_recordset(null::hold, p_plan -> 'insert' -> 'hold') h
        union all
        select h.account_id, h.amount from hold h
        where h.platform_id = p_platform and h.state = 'OPEN'
          and h.id in (select jsonb_array_elements_text(p_plan -> 'release')::uuid)
      ) changes
      group by account
    ) c on c.account = a.id
    where a.platform_id = p_platform and a.id = any (v_accounts)
    order by a.id for no key update of a
  loop
    if v_row.kind = 'EXTERNAL' and v_row.status <> 'ACTIVE' then
      return jsonb_build_object('code', 'INVALID_BANK_ACCOUNT', 'id', v_row.id, 'status', v_row.status);
    end if;
    if v_row.change < 0 and v_row.spendable + v_row.change < 0 then
      return jsonb_build_object('code', 'INSUFFICIENT_BALANCE', 'id', v_row.id,
                                'spendable', v_row.spendable::text, 'needed', (-v_row.change)::text);
    end if;
  end loop;

  return null;
end
$$;

-- Several plans that happen together or not at all, such as the two sides of a payment between platforms: a list of
-- {platform, plan}, without idempotency claims. All are checked before any is applied. Returns the first refusal, or null.
create or replace function commit_group(p_group jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_item jsonb;
  v_refusal jsonb;
begin
  for v_item in select * from jsonb_array_elements(p_group) loop
    v_refusal := check_plan((v_item ->> 'platform')::uuid, v_item -> 'plan');
    if v_refusal is not null then
      return v_refusal;
    end if;
  end loop;
  for v_item in select * from jsonb_array_elements(p_group) loop
    perform apply_plan((v_item ->> 'platform')::uuid, v_item -> 'plan');
  end loop;
  return null;
end
$$;

-- One command, whole or not at all: its idempotency claim, the state it changes, the money it moves, the events (by
-- trigger) and the outcome that a repeat of the same key will be told. A second call with the key waits for the first
-- to end (at most lock_timeout), because the claim is the first thing written.
create or replace function commit_plan(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_claim jsonb := p_plan -> 'claim';
  v_first idempotency_record;
  v_refusal jsonb;
  v_result jsonb;
begin
  if v_claim is not null then
    insert into idempotency_record (platform_id, operation, key, request_hash)
    values (p_platform, v_claim ->> 'operation', v_claim ->> 'key', decode(v_claim ->> 'hash', 'hex'))
    on conflict do nothing;
    if not found then
      select * into v_first from idempotency_record
      where platform_id = p_platform and operation = v_claim ->> 'operation' and key = v_claim ->> 'key';
      if v_first.request_hash <> decode(v_claim ->> 'hash', 'hex') then
        return jsonb_build_object('outcome', 'mismatch');
      end if;
      return jsonb_build_object('outcome', 'first', 'refusal', v_first.refusal, 'result', v_first.result);
    end if;
  end if;

  v_refusal := check_plan(p_platform, p_plan);
  if v_refusal is null then
    v_result := apply_plan(p_platform, p_plan);
  end if;

  if v_claim is not null then
    if v_refusal ->> 'code' in ('USER_NOT_READY', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND') then
      -- Answers with status 403 or 404 are not kept: a later try with the key may succeed.
      delete from idempotency_record
      where platform_id = p_platform and operation = v_claim ->> 'operation' and key = v_claim ->> 'key';
    else
      update idempotency_record set refusal = v_refusal, result = v_result
      where platform_id = p_platform and operation = v_claim ->> 'operation' and key = v_claim ->> 'key';
    end if;
  end if;

  return jsonb_build_object('outcome', 'now', 'refusal', v_refusal, 'result', v_result);
end
$$;

-- Before update on account: balances move only through postings and holds (their triggers), owner and currency never.
create or replace function guard_account() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.kind, new.customer_id, new.currency)
     is distinct from (old.platform_id, old.id, old.created_at, old.kind, old.customer_id, old.currency) then
    raise exception 'account %: its owner and currency cannot change', old.id using errcode = 'LG002';
  end if;
  if (new.posted, new.held) is distinct from (old.posted, old.held) and pg_trigger_depth() < 2 then
    raise exception 'account %: a balance changes only by a posting or a hold', old.id using errcode = 'LG004';
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;

-- Before update on quote: only the status moves, and only along quote_move. What was priced and promised stays.
create or replace function guard_quote() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.expires_at, new.transaction_id, new.customer_id,
      new.source_kind, new.source_account_id, new.destination_kind, new.destination_account_id, new.destination_uma_address,
      new.sending_currency, new.receiving_currency, new.total_sending_amount, new.total_receiving_amount,
      new.exchange_rate, new.fees_included, new.platform_fee, new.locked_currency_side, new.pricing)
     is distinct from
     (old.platform_id, old.id, old.created_at, old.expires_at, old.transaction_id, old.customer_id,
      old.source_kind, old.source_account_id, old.destination_kind, old.destination_account_id, old.destination_uma_address,
      old.sending_currency, old.receiving_currency, old.total_sending_amount, old.total_receiving_amount,
      old.exchange_rate, old.fees_included, old.platform_fee, old.locked_currency_side, old.pricing) then
    raise exception 'quote %: what was quoted cannot change', old.id using errcode = 'LG002';
  end if;
  if not exists (select from quote_move m where m."from" = old.status and m."to" = new.status) then
    raise exception 'quote %: no move from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;

-- Before insert on quote and transaction: a story starts at its beginning, and every later status is a move.
create or replace function guard_start() returns trigger
  language plpgsql
as $$
begin
  if new.status::text not in ('CREATED', 'PENDING') then
    raise exception '% %: nothing starts as %', tg_table_name, new.id, new.status using errcode = 'LG003';
  end if;
  return new;
end
$$;

-- Before update on transaction: the status moves along transaction_move, sides and sent amount stay, and the moments of
-- settlement and refund are taken from the database's clock.
create or replace function guard_transaction() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.type, new.customer_id, new.quote_id, new.sent_amount, new.sent_currency,
      new.received_currency, new.source_account_id, new.reference, new.fees, new.exchange_rate)
     is distinct from
     (old.platform_id, old.id, old.created_at, old.type, old.customer_id, old.quote_id, old.sent_amount, old.sent_currency,
      old.received_currency, old.source_account_id, old.reference, old.fees, old.exchange_rate) then
    raise exception 'transaction %: its parties and amounts cannot change', old.id using errcode = 'LG002';
  end if;
  if not exists (select from transaction_move m where m."from" = old.status and m."to" = new.status) then
    raise exception 'transaction %: no move from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  if new.status = 'COMPLETED' then
    new.settled_at := new.updated_at;
  end if;
  if new.refund_reference is not null and old.refund_reference is null then
    new.refund_initiated_at := new.updated_at;
    new.refund_settled_at := case when new.refund_settled_at is not null then new.updated_at end;
  end if;
  return new;
end
$$;

-- Whether a payment with this status has come to its end. (COMPLETED may still become REFUNDED: a bank return.)
create or replace function is_terminal(status transaction_status) returns boolean
  language sql immutable parallel safe
as $$
  select status in ('COMPLETED', 'REJECTED', 'FAILED', 'REFUNDED', 'EXPIRED')
$$;

-- On records that are written once: corrections are new records, never edits.
create or replace function refuse_change() returns trigger
  language plpgsql
as $$
begin
  raise exception '% is append-only: % refused', tg_table_name, lower(tg_op) using errcode = 'LG001';
end
$$;

-- The sequencer's step: takes committed changes from the outbox, oldest first, gives each the next number of its
-- platform's feed, and tells all instances once. Rows are consumed, not passed by a moving cursor, so one that commits
-- late is numbered late and never missed. Only one caller at a time (the sequencer's advisory lock).
create or replace function sequence_outbox(p_limit int) returns int
  language plpgsql
as $$
declare
  v_heads text[];
  v_count int;
begin
  with taken as (
    delete from outbox where id in (select id from outbox order by id limit p_limit) returning *
  ), counted as (
    select platform_id, count(*) as events from taken group by platform_id
  ), heads as (
    insert into feed_head as h (platform_id, sequence)
    select platform_id, events from counted
    on conflict (platform_id) do update set sequence = h.sequence + excluded.sequence
    returning h.platform_id, h.sequence
  ), placed as (
    insert into event (platform_id, sequence, id, type, occurred_at, transaction_id, quote_id, account_id, customer_id,
                       version, previous_status, status, reason, terminal, old_balance, new_balance, snapshot)
    select t.platform_id, h.sequence - c.events + row_number() over (partition by t.platform_id order by t.id),
           t.event_id, t.type, t.occurred_at, t.transaction_id, t.quote_id, t.account_id, t.customer_id,
           t.version, t.previous_status, t.status, t.reason, t.terminal, t.old_balance, t.new_balance, t.snapshot
    from taken t join counted c using (platform_id) join heads h using (platform_id)
  )
  select array_agg(h.platform_id::text || ':' || h.sequence), coalesce(sum(c.events), 0)::int into v_heads, v_count
  from heads h join counted c using (platform_id);

  -- A notification carries less than 8,000 bytes: about 57 bytes for each platform.
  for v_from in 1 .. coalesce(array_length(v_heads, 1), 0) by 100 loop
    perform pg_notify('feed', array_to_string(v_heads[v_from : v_from + 99], ','));
  end loop;
  return v_count;
end
$$;

-- Before update on customers: the next version, at the database's clock.
create or replace function stamp_change() returns trigger
  language plpgsql
as $$
begin
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;

-- Before insert on lookup: made at the moment inside its id, and good for ten minutes.
create or replace function stamp_lookup() returns trigger
  language plpgsql
as $$
begin
  new.created_at := uuid_v7_time(new.id);
  new.expires_at := new.created_at + interval '10 minutes';
  return new;
end
$$;

-- Before insert on every versioned table: its first version, made at the moment inside its id.
create or replace function stamp_new_row() returns trigger
  language plpgsql
as $$
begin
  new.version := 1;
  new.created_at := uuid_v7_time(new.id);
  new.updated_at := new.created_at;
  return new;
end
$$;

-- What Prisma cannot say ---------------------------------------------------------------------------------------------

-- Money and versions
ALTER TABLE "account"
  ADD CONSTRAINT "account_spendable" CHECK ("held" >= 0 AND "posted" - "held" >= 0),
  ADD CONSTRAINT "account_kind_shape" CHECK (
    CASE "kind"
      WHEN 'INTERNAL' THEN "status" IS NULL AND "account_type" IS NULL AND "account_info" IS NULL AND "identifier" IS NULL
        AND "beneficiary" IS NULL AND NOT "default_uma_deposit_account"
      ELSE "status" IS NOT NULL AND "account_type" IS NOT NULL AND "account_info" IS NOT NULL AND "identifier" IS NOT NULL
        AND "posted" = 0 AND "held" = 0
    END),
  SET (fillfactor = 75);
ALTER TABLE "posting"
  ADD CONSTRAINT "posting_amount" CHECK ("amount" <> 0),
  ADD CONSTRAINT "posting_side" CHECK (("account_id" IS NULL) <> ("system" IS NULL)),
  ADD CONSTRAINT "posting_chain" CHECK (("account_id" IS NULL) = ("balance_after" IS NULL) AND ("account_id" IS NULL) = ("account_version" IS NULL));
ALTER TABLE "hold" ADD CONSTRAINT "hold_amount" CHECK ("amount" > 0), SET (fillfactor = 75);
ALTER TABLE "quote"
  ADD CONSTRAINT "quote_amounts" CHECK (
    "total_sending_amount" BETWEEN 1 AND 9000000000000000 AND "total_receiving_amount" BETWEEN 1 AND 9000000000000000
    AND "fees_included" BETWEEN 0 AND "total_sending_amount" AND "platform_fee" BETWEEN 0 AND "fees_included" AND "exchange_rate" > 0),
  ADD CONSTRAINT "quote_source" CHECK (
    CASE "source_kind" WHEN 'ACCOUNT' THEN "source_account_id" IS NOT NULL WHEN 'REALTIME_FUNDING' THEN "source_account_id" IS NULL ELSE false END),
  ADD CONSTRAINT "quote_destination" CHECK (
    CASE "destination_kind" WHEN 'ACCOUNT' THEN "destination_account_id" IS NOT NULL WHEN 'UMA_ADDRESS' THEN "destination_uma_address" IS NOT NULL ELSE false END),
  SET (fillfactor = 75);
ALTER TABLE "transaction"
  ADD CONSTRAINT "transaction_amounts" CHECK (
    "sent_amount" BETWEEN 1 AND 9000000000000000 AND "received_amount" BETWEEN 1 AND 9000000000000000 AND "fees" >= 0),
  ADD CONSTRAINT "transaction_sent_currency" CHECK (("sent_amount" IS NULL) = ("sent_currency" IS NULL)),
  ADD CONSTRAINT "transaction_failure" CHECK ("status" <> 'FAILED' OR "failure_reason" IS NOT NULL),
  ADD CONSTRAINT "transaction_settled" CHECK ("status" <> 'COMPLETED' OR "settled_at" IS NOT NULL),
  ADD CONSTRAINT "transaction_refund" CHECK (("refund_reference" IS NULL) = ("refund_amount" IS NULL) AND ("refund_reference" IS NULL) = ("refund_initiated_at" IS NULL)),
  ADD CONSTRAINT "transaction_refunded" CHECK ("status" <> 'REFUNDED' OR "refund_reference" IS NOT NULL),
  SET (fillfactor = 75);
ALTER TABLE "platform_fee" ADD CONSTRAINT "platform_fee_range" CHECK ("fixed_fee" >= 0 AND "variable_fee_rate" >= 0 AND "variable_fee_rate" < 1);
ALTER TABLE "idempotency_record" ADD CONSTRAINT "idempotency_key_form" CHECK ("key" ~ '^[\x21-\x7e]{1,255}$');

-- One internal account per owner and currency; one live account per owner, currency and identifier; one default for
-- incoming UMA payments per customer; one live holder of a UMA address.
CREATE UNIQUE INDEX "account_internal_owner" ON "account" ("platform_id", "customer_id", "currency") NULLS NOT DISTINCT WHERE "kind" = 'INTERNAL';
CREATE UNIQUE INDEX "account_external_identifier" ON "account" ("platform_id", "customer_id", "currency", "account_type", "identifier") NULLS NOT DISTINCT WHERE "kind" = 'EXTERNAL' AND "status" <> 'INACTIVE';
CREATE UNIQUE INDEX "account_default_uma_deposit" ON "account" ("platform_id", "customer_id") WHERE "default_uma_deposit_account";
CREATE UNIQUE INDEX "customer_uma_address" ON "customer" (lower("uma_address")) WHERE NOT "is_deleted";

-- Work that waits
CREATE INDEX "quote_expiry" ON "quote" ("expires_at") WHERE "status" = 'PENDING';
CREATE INDEX "rail_order_due" ON "rail_order" ("due_at") WHERE "due_at" IS NOT NULL;

-- Statuses move only along these
INSERT INTO "quote_move" ("from", "to") VALUES
  ('PENDING', 'PROCESSING'), ('PENDING', 'EXPIRED'), ('PENDING', 'FAILED'), ('PROCESSING', 'COMPLETED'), ('PROCESSING', 'FAILED');
INSERT INTO "transaction_move" ("from", "to") VALUES
  ('CREATED', 'PENDING'), ('CREATED', 'EXPIRED'), ('CREATED', 'FAILED'),
  ('PENDING', 'PROCESSING'), ('PENDING', 'COMPLETED'), ('PENDING', 'REJECTED'), ('PENDING', 'FAILED'), ('PENDING', 'EXPIRED'),
  ('PROCESSING', 'COMPLETED'), ('PROCESSING', 'REJECTED'), ('PROCESSING', 'FAILED'),
  ('COMPLETED', 'REFUNDED');

INSERT INTO "currency" ("code", "name", "symbol", "decimals") VALUES
  ('USD', 'US Dollar', '$', 2), ('EUR', 'Euro', '€', 2), ('GBP', 'British Pound', '£', 2), ('MXN', 'Mexican Peso', 'MX$', 2),
  ('BRL', 'Brazilian Real', 'R$', 2), ('INR', 'Indian Rupee', '₹', 2), ('NGN', 'Nigerian Naira', '₦', 2), ('CAD', 'Canadian Dollar', 'CA$', 2),
  ('PHP', 'Philippine Peso', '₱', 2), ('SGD', 'Singapore Dollar', 'S$', 2), ('JPY', 'Japanese Yen', '¥', 0), ('BTC', 'Bitcoin', '₿', 8),
  ('USDC', 'USD Coin', 'USDC', 6), ('USDT', 'Tether', 'USDT', 6);

-- Triggers
CREATE TRIGGER "stamp" BEFORE INSERT ON "customer" FOR EACH ROW EXECUTE FUNCTION stamp_new_row();
CREATE TRIGGER "stamp" BEFORE INSERT ON "account" FOR EACH ROW EXECUTE FUNCTION stamp_new_row();
CREATE TRIGGER "stamp" BEFORE INSERT ON "quote" FOR EACH ROW EXECUTE FUNCTION stamp_new_row();
CREATE TRIGGER "stamp" BEFORE INSERT ON "transaction" FOR EACH ROW EXECUTE FUNCTION stamp_new_row();
CREATE TRIGGER "guard" BEFORE UPDATE ON "customer" FOR EACH ROW EXECUTE FUNCTION stamp_change();
CREATE TRIGGER "guard" BEFORE UPDATE ON "account" FOR EACH ROW EXECUTE FUNCTION guard_account();
CREATE TRIGGER "guard" BEFORE UPDATE ON "quote" FOR EACH ROW EXECUTE FUNCTION guard_quote();
CREATE TRIGGER "guard" BEFORE UPDATE ON "transaction" FOR EACH ROW EXECUTE FUNCTION guard_transaction();
CREATE TRIGGER "announce" AFTER INSERT OR UPDATE ON "customer" FOR EACH ROW EXECUTE FUNCTION announce_customer();
CREATE TRIGGER "announce" AFTER INSERT OR UPDATE ON "account" FOR EACH ROW EXECUTE FUNCTION announce_account();
CREATE TRIGGER "announce" AFTER INSERT OR UPDATE ON "quote" FOR EACH ROW EXECUTE FUNCTION announce_quote();
CREATE TRIGGER "announce" AFTER INSERT OR UPDATE ON "transaction" FOR EACH ROW EXECUTE FUNCTION announce_transaction();
CREATE TRIGGER "apply" BEFORE INSERT ON "posting" FOR EACH ROW EXECUTE FUNCTION apply_posting();
CREATE TRIGGER "apply" BEFORE INSERT OR UPDATE ON "hold" FOR EACH ROW EXECUTE FUNCTION apply_hold();
CREATE CONSTRAINT TRIGGER "balance" AFTER INSERT ON "journal" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_journal();

-- Written once, never changed or deleted
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "journal" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "posting" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "event" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_delete" BEFORE DELETE ON "hold" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_delete" BEFORE DELETE ON "account" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_delete" BEFORE DELETE ON "quote" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_delete" BEFORE DELETE ON "transaction" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "journal" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "posting" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "event" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "account" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "hold" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Stories start at their beginning and are never truncated away
CREATE TRIGGER "start" BEFORE INSERT ON "quote" FOR EACH ROW EXECUTE FUNCTION guard_start();
CREATE TRIGGER "start" BEFORE INSERT ON "transaction" FOR EACH ROW EXECUTE FUNCTION guard_start();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "quote" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "transaction" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Receiver lookups and payments between customers of one installation
CREATE TRIGGER "stamp" BEFORE INSERT ON "lookup" FOR EACH ROW EXECUTE FUNCTION stamp_lookup();
-- An approval is asked of the receiving platform only.
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_approval" CHECK ("approval_due_at" IS NULL OR "type" = 'INCOMING');
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "arrival" FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Client tokens: bound to exactly one thing, and never to what only a platform's server may do.
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_bound_to_one" CHECK (num_nonnulls("customer_id", "quote_id", "transaction_id") = 1);
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_permissions" CHECK ("permissions" <@ array['VIEW', 'TRANSACT']::permission[]);

-- Webhooks: a delivery that waits has a next attempt and no other has one, and its place is found fast.
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_types" CHECK ("event_types" IS NOT NULL AND cardinality("event_types") > 0);
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_previous_secret" CHECK (("previous_secret" IS NULL) = ("previous_secret_until" IS NULL));
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_disabled" CHECK (("status" = 'DISABLED') = ("disabled_at" IS NOT NULL));
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_next" CHECK (("status" = 'PENDING') = ("next_attempt_at" IS NOT NULL));
CREATE INDEX "webhook_delivery_due" ON "webhook_delivery" ("platform_id", "endpoint_id", "next_attempt_at") WHERE "status" = 'PENDING';
CREATE INDEX "webhook_delivery_leased" ON "webhook_delivery" ("platform_id", "endpoint_id") WHERE "leased_until" IS NOT NULL;
CREATE INDEX "webhook_delivery_questions" ON "webhook_delivery" ("next_attempt_at") WHERE "status" = 'PENDING' AND "question";
