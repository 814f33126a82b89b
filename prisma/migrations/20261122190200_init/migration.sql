-- The part of check_plan for customers to whose accounts a plan lets money come in: they must not be deleted.
create or replace function check_undeleted(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
begin
  select c.id into v_id from customer c
  where c.platform_id = p_platform and c.id = any (uuids(p_ids)) and c.is_deleted order by c.id limit 1;
  if found then
    return jsonb_build_object('code', 'CUSTOMER_DELETED', 'id', v_id);
  end if;
  return null;
end
$$;

-- before tables
-- Returns the advisory lock of an idempotency key. Two keys that share a lock by chance only wait for each other.
create or replace function claim_lock(p_platform uuid, p_claim jsonb) returns bigint
  language sql immutable parallel safe
as $$
  select hashtextextended(p_platform::text || (p_claim ->> 'operation') || ' ' || (p_claim ->> 'key'), 0)
$$;

-- before tables
-- Returns the time of the one clock, which is the clock of the database, in milliseconds, the precision of records. It
-- does not stop at the start of the transaction.
create or replace function clock_ms() returns timestamptz
  language sql volatile parallel safe
as $$
  select date_trunc('milliseconds', clock_timestamp())
$$;

-- before tables
-- Makes a UUIDv7 (RFC 9562, method 3): 48 bits of milliseconds, 12 bits of the fraction below, 62 random bits. Ids from
-- one server sort by creation time, to the microsecond. Postgres has its own function only from version 18. One
-- expression that reads the clock once, because only such a function is inlined into the statement that calls it:
-- microseconds × 4096 / 1000 are 15 hexadecimal digits, of which the last three are the fraction. (date_part, because
-- its float holds the microseconds of our time exactly; extract would compute with numeric.)
create or replace function uuid_v7() returns uuid
  language sql volatile parallel safe
as $$
  select (overlay(
    lpad(to_hex((date_part('epoch', clock_timestamp()) * 1000000)::bigint * 512 / 125), 15, '0') placing '7' from 13 for 0
  ) || right(gen_random_uuid()::text, 17))::uuid
$$;

-- before tables
-- Returns the millisecond in a UUIDv7: when the record was created.
create or replace function uuid_v7_time(id uuid) returns timestamptz
  language sql immutable strict parallel safe
as $$
  select to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;

-- before tables
-- Converts a JSON list of ids to an array. PL/pgSQL evaluates this expression without a statement: unnest and array_agg
-- would cost several times as much. Ids have no characters with a meaning in the text form of an array.
create or replace function uuids(p_list jsonb) returns uuid[]
  language sql stable parallel safe
as $$
  select translate(p_list::text, '[]"', '{}')::uuid[]
$$;

-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "environment" AS ENUM ('SANDBOX', 'PRODUCTION');

-- CreateEnum
CREATE TYPE "permission" AS ENUM ('VIEW', 'TRANSACT', 'MANAGE');

-- CreateEnum
CREATE TYPE "client_grant" AS ENUM ('LOOK_UP_RECEIVERS', 'ADD_BENEFICIARIES');

-- CreateEnum
CREATE TYPE "trusted_document_policy" AS ENUM ('OPTIONAL', 'APPS', 'ALL');

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
CREATE TYPE "system_account" AS ENUM ('OUTSIDE', 'CLEARING', 'LIQUIDITY', 'FEES', 'SUSPENSE');

-- CreateEnum
CREATE TYPE "rail_order_kind" AS ENUM ('PAYOUT', 'COLLECTION');

-- CreateEnum
CREATE TYPE "rail_case_kind" AS ENUM ('OTHER_OUTCOME', 'OTHER_AMOUNT');

-- CreateEnum
CREATE TYPE "event_type" AS ENUM ('OUTGOING_PAYMENT', 'INCOMING_PAYMENT', 'ACCOUNT_STATUS', 'KYC_STATUS', 'TEST', 'QUOTE_STATUS', 'EXTERNAL_ACCOUNT_STATUS', 'CUSTOMER_CHANGE', 'ACCOUNT_CHANGE', 'WEBHOOK_DELIVERY');

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
    "rate_limit" INTEGER,
    "rate_burst" INTEGER,
    "api_token_rate_limit" INTEGER,
    "api_token_rate_burst" INTEGER,
    "client_token_rate_limit" INTEGER,
    "client_token_rate_burst" INTEGER,
    "trusted_documents" "trusted_document_policy" NOT NULL DEFAULT 'OPTIONAL',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),

    CONSTRAINT "platform_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "uma_domain" (
    "domain" TEXT NOT NULL,
    "platform_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),

    CONSTRAINT "uma_domain_pkey" PRIMARY KEY ("domain")
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
    "created_by_id" UUID,

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
    "grants" "client_grant"[] DEFAULT ARRAY[]::"client_grant"[],
    "trusted_documents_only" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "created_by_id" UUID,
    "owner_id" UUID,

    CONSTRAINT "client_token_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "trusted_document" (
    "platform_id" UUID NOT NULL,
    "hash" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),

    CONSTRAINT "trusted_document_pkey" PRIMARY KEY ("platform_id","hash")
);

-- CreateTable
CREATE TABLE "document_use" (
    "platform_id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,
    "text" TEXT NOT NULL,
    "client_name" TEXT NOT NULL,
    "client_version" TEXT NOT NULL,
    "uses" BIGINT NOT NULL,
    "first_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),

    CONSTRAINT "document_use_pkey" PRIMARY KEY ("platform_id","digest","client_name","client_version")
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
    "metadata" JSONB,

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
    "funding_instructions" JSONB NOT NULL DEFAULT '[]',
    "status" "external_account_status",
    "status_reason" TEXT,
    "account_type" "external_account_type",
    "account_info" JSONB,
    "identifier" TEXT,
    "beneficiary" JSONB,
    "platform_account_id" TEXT,
    "default_uma_deposit_account" BOOLEAN NOT NULL DEFAULT false,
    "beneficiary_verification_status" "beneficiary_verification_status",
    "beneficiary_verified_name" TEXT,
    "is_deleted" BOOLEAN NOT NULL DEFAULT false,
    "metadata" JSONB,

    CONSTRAINT "account_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "account_check" (
    "platform_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "account_check_pkey" PRIMARY KEY ("platform_id","account_id")
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
    "metadata" JSONB,

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
    "source_name" TEXT,
    "source_number" TEXT,
    "destination_name" TEXT,
    "destination_number" TEXT,
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
    "metadata" JSONB,

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
CREATE TABLE "external_account_move" (
    "from" "external_account_status" NOT NULL,
    "to" "external_account_status" NOT NULL,

    CONSTRAINT "external_account_move_pkey" PRIMARY KEY ("from","to")
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

    CONSTRAINT "posting_pkey" PRIMARY KEY ("platform_id","journal_id","leg")
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
    "approval_deferred" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "rail_order_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "rail_case" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL DEFAULT uuid_v7(),
    "order_id" UUID NOT NULL,
    "transaction_id" UUID NOT NULL,
    "kind" "rail_case_kind" NOT NULL,
    "said" TEXT NOT NULL,
    "stands" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "times" INTEGER NOT NULL DEFAULT 1,
    "closed_at" TIMESTAMPTZ(3),
    "closed_by" TEXT,
    "closed_reason" TEXT,

    CONSTRAINT "rail_case_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "rail_connection" (
    "platform_id" UUID NOT NULL,
    "sealed" BYTEA NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),

    CONSTRAINT "rail_connection_pkey" PRIMARY KEY ("platform_id")
);

-- CreateTable
CREATE TABLE "lookup" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "uma_address" TEXT NOT NULL,
    "token_id" UUID,
    "keyed" BOOLEAN NOT NULL DEFAULT false,
    "sender_customer_id" UUID,
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
CREATE TABLE "resume_point" (
    "platform_id" UUID NOT NULL,
    "subject" TEXT NOT NULL,
    "key" BYTEA NOT NULL,
    "stream_id" UUID NOT NULL,
    "position" BIGINT,
    "sent" BIGINT,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),

    CONSTRAINT "resume_point_pkey" PRIMARY KEY ("platform_id","subject","key")
);

-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL DEFAULT uuid_v7(),
    "url" TEXT NOT NULL,
    "of_config" BOOLEAN NOT NULL DEFAULT false,
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
    "failures_after" TIMESTAMPTZ(3),
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

-- CreateTable
CREATE TABLE "clock_reading" (
    "id" BOOLEAN NOT NULL DEFAULT true,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),

    CONSTRAINT "clock_reading_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "key_in_use" (
    "setting" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),

    CONSTRAINT "key_in_use_pkey" PRIMARY KEY ("setting","key_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "platform_name_key" ON "platform"("name");

-- CreateIndex
CREATE UNIQUE INDEX "platform_uma_domain_key" ON "platform"("uma_domain");

-- CreateIndex
CREATE INDEX "uma_domain_platform_id_idx" ON "uma_domain"("platform_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_token_client_id_key" ON "api_token"("client_id");

-- CreateIndex
CREATE INDEX "api_token_platform_id_created_by_id_idx" ON "api_token"("platform_id", "created_by_id");

-- CreateIndex
CREATE INDEX "client_token_platform_id_created_by_id_expires_at_idx" ON "client_token"("platform_id", "created_by_id", "expires_at");

-- CreateIndex
CREATE INDEX "client_token_platform_id_owner_id_expires_at_idx" ON "client_token"("platform_id", "owner_id", "expires_at");

-- CreateIndex
CREATE INDEX "client_token_expires_at_idx" ON "client_token"("expires_at");

-- CreateIndex
CREATE INDEX "document_use_last_used_at_idx" ON "document_use"("last_used_at");

-- CreateIndex
CREATE INDEX "trusted_document_platform_id_digest_idx" ON "trusted_document"("platform_id", "digest");

-- CreateIndex
CREATE INDEX "customer_platform_id_platform_customer_id_idx" ON "customer"("platform_id", "platform_customer_id");

-- CreateIndex
CREATE INDEX "customer_platform_id_updated_at_id_idx" ON "customer"("platform_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "customer_platform_id_kyc_status_id_idx" ON "customer"("platform_id", "kyc_status", "id");

-- CreateIndex
CREATE INDEX "account_platform_id_customer_id_id_idx" ON "account"("platform_id", "customer_id", "id");

-- CreateIndex
CREATE INDEX "account_check_due_at_idx" ON "account_check"("due_at");

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
CREATE INDEX "transaction_platform_id_type_id_idx" ON "transaction"("platform_id", "type", "id");

-- CreateIndex
CREATE INDEX "transaction_platform_id_sent_currency_sent_amount_idx" ON "transaction"("platform_id", "sent_currency", "sent_amount");

-- CreateIndex
CREATE INDEX "transaction_platform_id_received_currency_received_amount_idx" ON "transaction"("platform_id", "received_currency", "received_amount");

-- CreateIndex
CREATE INDEX "transaction_platform_id_updated_at_id_idx" ON "transaction"("platform_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "journal_platform_id_transaction_id_idx" ON "journal"("platform_id", "transaction_id");

-- CreateIndex
CREATE INDEX "idempotency_record_created_at_idx" ON "idempotency_record"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "rail_case_platform_id_order_id_kind_key" ON "rail_case"("platform_id", "order_id", "kind");

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
ALTER TABLE "uma_domain" ADD CONSTRAINT "uma_domain_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "platform_fee" ADD CONSTRAINT "platform_fee_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "platform_fee" ADD CONSTRAINT "platform_fee_sending_currency_fkey" FOREIGN KEY ("sending_currency") REFERENCES "currency"("code") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_platform_id_created_by_id_fkey" FOREIGN KEY ("platform_id", "created_by_id") REFERENCES "api_token"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_customer_id_fkey" FOREIGN KEY ("platform_id", "customer_id") REFERENCES "customer"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_quote_id_fkey" FOREIGN KEY ("platform_id", "quote_id") REFERENCES "quote"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_created_by_id_fkey" FOREIGN KEY ("platform_id", "created_by_id") REFERENCES "api_token"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "client_token" ADD CONSTRAINT "client_token_platform_id_owner_id_fkey" FOREIGN KEY ("platform_id", "owner_id") REFERENCES "customer"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "trusted_document" ADD CONSTRAINT "trusted_document_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "document_use" ADD CONSTRAINT "document_use_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "customer" ADD CONSTRAINT "customer_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "account" ADD CONSTRAINT "account_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "account" ADD CONSTRAINT "account_platform_id_customer_id_fkey" FOREIGN KEY ("platform_id", "customer_id") REFERENCES "customer"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "account" ADD CONSTRAINT "account_currency_fkey" FOREIGN KEY ("currency") REFERENCES "currency"("code") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "account_check" ADD CONSTRAINT "account_check_platform_id_account_id_fkey" FOREIGN KEY ("platform_id", "account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "quote" ADD CONSTRAINT "quote_platform_id_customer_id_fkey" FOREIGN KEY ("platform_id", "customer_id") REFERENCES "customer"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "quote" ADD CONSTRAINT "quote_platform_id_source_account_id_fkey" FOREIGN KEY ("platform_id", "source_account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "quote" ADD CONSTRAINT "quote_platform_id_destination_account_id_fkey" FOREIGN KEY ("platform_id", "destination_account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "quote" ADD CONSTRAINT "quote_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_platform_id_customer_id_fkey" FOREIGN KEY ("platform_id", "customer_id") REFERENCES "customer"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_platform_id_source_account_id_fkey" FOREIGN KEY ("platform_id", "source_account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_platform_id_destination_account_id_fkey" FOREIGN KEY ("platform_id", "destination_account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "journal" ADD CONSTRAINT "journal_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "rail_order" ADD CONSTRAINT "rail_order_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "rail_case" ADD CONSTRAINT "rail_case_platform_id_order_id_fkey" FOREIGN KEY ("platform_id", "order_id") REFERENCES "rail_order"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "rail_connection" ADD CONSTRAINT "rail_connection_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "lookup" ADD CONSTRAINT "lookup_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "lookup" ADD CONSTRAINT "lookup_platform_id_sender_customer_id_fkey" FOREIGN KEY ("platform_id", "sender_customer_id") REFERENCES "customer"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "arrival" ADD CONSTRAINT "arrival_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "arrival" ADD CONSTRAINT "arrival_sender_platform_id_sender_transaction_id_fkey" FOREIGN KEY ("sender_platform_id", "sender_transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

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

-- Returns the fields of an account that the outcome of an order may need, as JSON. The whole row costs several times as
-- much to write and to read. Stable, like to_json: only then is it inlined into the statement that calls it.
create or replace function account_party(a account) returns json
  language sql stable parallel safe
as $$
  select json_build_object('id', a.id, 'kind', a.kind, 'customerId', a.customer_id, 'currency', a.currency,
                           'accountType', a.account_type, 'identifier', a.identifier)
$$;

-- Returns the name of an account for people: who owns it, or what it is (src/payments/accounts/account-names.ts).
create or replace function account_name(beneficiary jsonb, type external_account_type, currency text) returns text
  language sql immutable parallel safe
as $$
  select coalesce(
    beneficiary ->> 'fullName',
    beneficiary ->> 'legalName',
    case type
      when 'LAYER2_WALLET' then 'Bitcoin wallet'
      when 'LIGHTNING' then 'Lightning wallet'
      when 'SOLANA_WALLET' then 'Solana wallet'
      when 'TRON_WALLET' then 'Tron wallet'
      when 'POLYGON_WALLET' then 'Polygon wallet'
      when 'BASE_WALLET' then 'Base wallet'
    end,
    currency || ' account')
$$;

-- Returns the last four characters of what identifies an account, for people: of a short one fewer, so that at least half
-- stays hidden. An internal account has no number, and is identified by its id.
create or replace function account_number(kind account_kind, id uuid, identifier text) returns text
  language sql immutable parallel safe
as $$
  select '•••• ' || case when kind = 'INTERNAL' then upper(right(id::text, 4))
                         else right(identifier, least(4, length(identifier) / 2)) end
$$;

-- Returns an account as the feed and stored answers contain it. Its balance is text, because it may exceed what a JSON
-- number holds exactly. Stable, like to_jsonb: only then is it inlined into the statement that calls it.
create or replace function account_snapshot(a account) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(a) || jsonb_build_object('posted', a.posted::text)
$$;

-- Returns the version of an internal account at a moment: that of its last posting before it, or a version between that and
-- its next posting; 0 where there was none. Versions rise with time, since the lock of the account is held when a posting
-- gets its time. So it searches by halves: some twenty reads of the index for a million postings, and no index by time,
-- which every payment would pay for.
create or replace function account_version_before(p_platform uuid, p_account uuid, p_moment timestamptz) returns int
  language plpgsql stable
as $$
declare
  -- All postings up to v_low are before the moment, and none above v_high is.
  v_low int := 0;
  v_high int;
  v_middle int;
  v_found record;
begin
  select p.account_version into v_high from posting p
  where p.platform_id = p_platform and p.account_id = p_account order by p.account_version desc limit 1;
  while v_low < v_high loop
    v_middle := v_low + (v_high - v_low + 1) / 2;
    select p.account_version, uuid_v7_time(p.journal_id) < p_moment as is_before into v_found from posting p
    where p.platform_id = p_platform and p.account_id = p_account and p.account_version > v_low and p.account_version <= v_middle
    order by p.account_version desc limit 1;
    if not found or v_found.is_before then
      v_low := v_middle;
    else
      v_high := v_found.account_version - 1;
    end if;
  end loop;
  return v_low;
end
$$;

-- After every insert or update of accounts: writes the event of that version. A new balance, status or verification has
-- its own type; any other change is an ACCOUNT_CHANGE, which only the feed shows.
create or replace function announce_account() returns trigger
  language plpgsql
as $$
begin
  if new.kind = 'INTERNAL' and tg_op = 'UPDATE' and new.posted <> old.posted then
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, old_balance, new_balance, snapshot)
    values (new.platform_id, uuid_v7(), 'ACCOUNT_STATUS', new.updated_at, new.id, new.customer_id, new.version,
            old.posted, new.posted, account_snapshot(new));
  elsif new.kind = 'EXTERNAL' and (tg_op = 'INSERT' or (new.status, new.beneficiary_verification_status)
                                   is distinct from (old.status, old.beneficiary_verification_status)) then
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, previous_status, status, reason, snapshot)
    values (new.platform_id, uuid_v7(), 'EXTERNAL_ACCOUNT_STATUS', new.updated_at, new.id, new.customer_id, new.version,
            case tg_op when 'UPDATE' then old.status end, new.status, new.status_reason, account_snapshot(new));
  else
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, previous_status, status, snapshot)
    values (new.platform_id, uuid_v7(), 'ACCOUNT_CHANGE', new.updated_at, new.id, new.customer_id, new.version,
            case tg_op when 'UPDATE' then old.status end, new.status, account_snapshot(new));
  end if;
  return null;
end
$$;

-- After every insert or update of customers: writes the event of that version. A final decision on its identity check is
-- a KYC_STATUS; any other change (its details, its deletion, a check that begins) is a CUSTOMER_CHANGE, which only the
-- feed shows.
create or replace function announce_customer() returns trigger
  language plpgsql
as $$
begin
  insert into outbox (platform_id, event_id, type, occurred_at, customer_id, version, previous_status, status, snapshot)
  values (new.platform_id, uuid_v7(),
          case when new.kyc_status <> 'PENDING_REVIEW' and (tg_op = 'INSERT' or new.kyc_status <> old.kyc_status)
            then 'KYC_STATUS'::event_type else 'CUSTOMER_CHANGE' end,
          new.updated_at, new.id, new.version, case tg_op when 'UPDATE' then old.kyc_status end, new.kyc_status, to_jsonb(new));
  return null;
end
$$;

-- After the end of a webhook delivery: writes its event, which no webhook carries. The outbox takes it with the rights
-- of the owner: requests end deliveries too, when they disable an endpoint.
create or replace function announce_delivery() returns trigger
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
begin
  insert into outbox (platform_id, event_id, type, occurred_at, version, previous_status, status, snapshot)
  values (new.platform_id, uuid_v7(), 'WEBHOOK_DELIVERY', clock_ms(), new.begun, old.status, new.status,
          jsonb_build_object('platform_id', new.platform_id, 'id', new.id, 'endpoint_id', new.endpoint_id,
                             'event_sequence', new.event_sequence, 'status', new.status));
  return null;
end
$$;

-- After every insert or update of quotes: writes the event of each, in the same way as announce_transaction.
create or replace function announce_quote() returns trigger
  language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                        status, reason, terminal, snapshot)
    select n.platform_id, uuid_v7(), 'QUOTE_STATUS', n.updated_at, n.transaction_id, n.id, n.customer_id, n.version,
      n.status, n.status_reason, n.status in ('COMPLETED', 'FAILED', 'EXPIRED'), to_jsonb(n)
    from now_is n;
  else
    insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                        previous_status, status, reason, terminal, snapshot)
    select n.platform_id, uuid_v7(), 'QUOTE_STATUS', n.updated_at, n.transaction_id, n.id, n.customer_id, n.version,
      o.status, n.status, n.status_reason, n.status in ('COMPLETED', 'FAILED', 'EXPIRED'), to_jsonb(n)
    from now_is n join was o on o.platform_id = n.platform_id and o.id = n.id;
  end if;
  return null;
end
$$;

-- After every insert or update of transactions: writes the event of each, in the same transaction, in one statement for
-- all of them.
create or replace function announce_transaction() returns trigger
  language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                        status, reason, terminal, snapshot)
    select n.platform_id, uuid_v7(), case n.type when 'OUTGOING' then 'OUTGOING_PAYMENT'::event_type else 'INCOMING_PAYMENT' end,
      n.updated_at, n.id, n.quote_id, n.customer_id, n.version, n.status, n.status_reason, is_terminal(n.status), to_jsonb(n)
    from now_is n;
  else
    insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                        previous_status, status, reason, terminal, snapshot)
    select n.platform_id, uuid_v7(), case n.type when 'OUTGOING' then 'OUTGOING_PAYMENT'::event_type else 'INCOMING_PAYMENT' end,
      n.updated_at, n.id, n.quote_id, n.customer_id, n.version, o.status, n.status, n.status_reason, is_terminal(n.status), to_jsonb(n)
    from now_is n join was o on o.platform_id = n.platform_id and o.id = n.id;
  end if;
  return null;
end
$$;

-- The part of apply_plans for a plan that changes customers or external accounts, or the time of the next check of an
-- account.
create or replace function apply_owner_changes(p_platform uuid, p_plan jsonb) returns void
  language plpgsql
as $$
declare
  v_item jsonb;
  v_customer customer;
  v_account account;
  v_tokens uuid[];
begin
  for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'customers'), 0) - 1 loop
    v_item := p_plan -> 'customers' -> v_at;
    select * into v_customer from customer where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
    v_customer := jsonb_populate_record(v_customer, v_item -> 'set');
    update customer set
      uma_address = v_customer.uma_address, kyc_status = v_customer.kyc_status, is_deleted = v_customer.is_deleted,
      name = v_customer.name, birth_date = v_customer.birth_date, nationality = v_customer.nationality,
      registration_number = v_customer.registration_number, tax_id = v_customer.tax_id,
      address = v_customer.address, beneficial_owners = v_customer.beneficial_owners, metadata = v_customer.metadata
    where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
    -- The tokens of apps end with their customer, also those of its quotes and transactions. All who end tokens lock
    -- them by id.
    if v_customer.is_deleted then
      v_tokens := array(
        select id from client_token
        where platform_id = p_platform and owner_id = v_customer.id and revoked_at is null
          and expires_at > statement_timestamp()
        order by id for no key update);
      update client_token set revoked_at = clock_ms() where platform_id = p_platform and id = any (v_tokens);
    end if;
  end loop;

  for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'accounts'), 0) - 1 loop
    v_item := p_plan -> 'accounts' -> v_at;
    select * into v_account from account where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
    v_account := jsonb_populate_record(v_account, coalesce(v_item -> 'set', '{}'));
    -- One default deposit account per customer, as in apply_registrations.
    if (v_item -> 'set' ->> 'default_uma_deposit_account')::boolean then
      update account set default_uma_deposit_account = false
      where platform_id = p_platform and customer_id = v_account.customer_id and id <> v_account.id
        and default_uma_deposit_account;
    end if;
    update account set
      status = coalesce((v_item ->> 'to')::external_account_status, status),
      status_reason = coalesce(v_item ->> 'reason', status_reason),
      beneficiary_verification_status = v_account.beneficiary_verification_status,
      beneficiary_verified_name = v_account.beneficiary_verified_name,
      default_uma_deposit_account = v_account.default_uma_deposit_account,
      platform_account_id = v_account.platform_account_id,
      metadata = v_account.metadata,
      is_deleted = v_account.is_deleted
    where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
  end loop;
  -- The rail checks an account again, or has given its final answer.
  for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'checks'), 0) - 1 loop
    v_item := p_plan -> 'checks' -> v_at;
    if v_item ->> 'due_in_ms' is null then
      delete from account_check where platform_id = p_platform and account_id = (v_item ->> 'account_id')::uuid;
    else
      update account_check set due_at = clock_ms() + (v_item ->> 'due_in_ms')::bigint * interval '1 millisecond'
      where platform_id = p_platform and account_id = (v_item ->> 'account_id')::uuid;
    end if;
  end loop;
end
$$;

-- Applies plans that check_group has accepted, as a list of {platform, plan}: new rows, money, changes of status, and
-- orders for the rail. Each kind takes one statement for all plans. Triggers write the events and change the balances.
-- The events of a plan come in the order of this function. The order of different plans does not matter, because they
-- do not conflict.
create or replace function apply_plans(p_plans jsonb) returns void
  language plpgsql
as $$
declare
  v_platforms uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].platform'));
  v_rows jsonb;
begin
  -- A row of another platform than its plan's would pass the wall of this database.
  if p_plans @? '$[*] ? (@.plan.insert.*[*].platform_id != @.platform)' then
    raise exception 'a plan inserts a row of another platform' using errcode = 'LG010';
  end if;
  -- An expression checks for what few plans contain, because a statement costs time even when it finds nothing to do.
  if p_plans @? '$[*].plan.insert ? (exists (@.customer) || exists (@.account) || exists (@.account_check))' then
    for v_at in 0 .. jsonb_array_length(p_plans) - 1 loop
      perform apply_registrations((p_plans -> v_at ->> 'platform')::uuid, p_plans -> v_at -> 'plan' -> 'insert');
    end loop;
  end if;

  v_rows := jsonb_path_query_array(p_plans, '$[*].plan.insert.transaction[*]');
  if v_rows <> '[]' then
    insert into transaction select r.* from jsonb_populate_recordset(null::transaction, v_rows) r;
  end if;
  v_rows := jsonb_path_query_array(p_plans, '$[*].plan.insert.quote[*]');
  if v_rows <> '[]' then
    insert into quote select r.* from jsonb_populate_recordset(null::quote, v_rows) r;
  end if;
  v_rows := jsonb_path_query_array(p_plans, '$[*].plan.insert.arrival[*]');
  if v_rows <> '[]' then
    insert into arrival select r.* from jsonb_populate_recordset(null::arrival, v_rows) r;
  end if;

  -- Money before statuses: the event of a deposit precedes the event of the payment that it starts (specification 6,
  -- rule 3).
  if p_plans @? '$[*].plan.journals[*]' then
    with movement as materialized (
      select p.platform, p.plan_number, j.number, uuid_v7() as id, j.transaction_id, j.kind, j.legs
      from rows from (jsonb_to_recordset(p_plans) as (platform uuid, plan jsonb)) with ordinality as p(platform, plan, plan_number),
        rows from (
          jsonb_to_recordset(p.plan -> 'journals') as (kind text, transaction_id uuid, legs jsonb)
        ) with ordinality as j(kind, transaction_id, legs, number)
    ), journal as (
      insert into journal (platform_id, id, transaction_id, kind, created_at)
      select m.platform, m.id, m.transaction_id, m.kind, uuid_v7_time(m.id) from movement m
    )
    insert into posting (platform_id, journal_id, leg, account_id, system, currency, amount)
    select m.platform, m.id, l.leg, l.account, l.system, l.currency, l.amount
    from movement m, rows from (
      jsonb_to_recordset(m.legs) as (account uuid, system system_account, currency text, amount bigint)
    ) with ordinality as l(account, system, currency, amount, leg)
    -- Each leg changes the balance of its account as it is written, and the balance must never be below zero in
    -- between.
    order by m.plan_number, m.number, l.leg;
  end if;

  -- Rows are found by a list of their keys. With only a join, a plan made while the table was small would read the
  -- whole table.
  v_rows := jsonb_path_query_array(p_plans, '$[*].plan.quotes[*]');
  if v_rows <> '[]' then
    update quote q set status = m."to", status_reason = m.reason
    from jsonb_to_recordset(v_rows) as m(id uuid, "to" quote_status, reason text)
    where q.platform_id = any (v_platforms) and q.id = any (uuids(jsonb_path_query_array(v_rows, '$[*].id'))) and q.id = m.id;
  end if;
  v_rows := jsonb_path_query_array(p_plans, '$[*].plan.transactions[*]');
  if v_rows <> '[]' then
    update transaction t set
      status = m."to",
      status_reason = m.reason,
      failure_reason = case when m."set" ? 'failure_reason' then (m."set" ->> 'failure_reason')::failure_reason else t.failure_reason end,
      refund_reference = case when m."set" ? 'refund_reference' then m."set" ->> 'refund_reference' else t.refund_reference end,
      refund_amount = case when m."set" ? 'refund_amount' then (m."set" ->> 'refund_amount')::bigint else t.refund_amount end,
      -- A refund that waits in suspense has started, but is not settled.
      refund_settled_at = case when coalesce(m."set" ->> 'refund_reference', t.refund_reference) is not null
                                    and m.refund_waits is not true
                               then coalesce(t.refund_settled_at, clock_ms()) end,
      received_amount = case when m."set" ? 'received_amount' then (m."set" ->> 'received_amount')::bigint else t.received_amount end,
      counterparty_information = coalesce(nullif(m."set" -> 'counterparty_information', 'null'), t.counterparty_information),
      destination_account_id = case when m."set" ? 'destination_account_id' then (m."set" ->> 'destination_account_id')::uuid else t.destination_account_id end,
      requested_information = case when m."set" ? 'requested_information' then nullif(m."set" -> 'requested_information', 'null') else t.requested_information end,
      approval_due_at = coalesce(clock_ms() + m.approval_in_ms * interval '1 millisecond', t.approval_due_at),
      expected_settlement_at = coalesce(clock_ms() + m.expected_in_ms * interval '1 millisecond', t.expected_settlement_at)
    from jsonb_to_recordset(v_rows) as m(id uuid, "to" transaction_status, reason text, "set" jsonb, refund_waits boolean,
      approval_in_ms bigint, expected_in_ms bigint)
    where t.platform_id = any (v_platforms) and t.id = any (uuids(jsonb_path_query_array(v_rows, '$[*].id'))) and t.id = m.id;
  end if;

  if p_plans @? '$[*].plan ? (exists (@.customers) || exists (@.accounts) || exists (@.checks))' then
    for v_at in 0 .. jsonb_array_length(p_plans) - 1 loop
      perform apply_owner_changes((p_plans -> v_at ->> 'platform')::uuid, p_plans -> v_at -> 'plan');
    end loop;
  end if;

  v_rows := jsonb_path_query_array(p_plans, '$[*].plan.insert.rail_order[*]');
  if v_rows <> '[]' then
    insert into rail_order (platform_id, id, transaction_id, kind, created_at, due_at, attempts, scenario)
    select r.platform_id, r.id, r.transaction_id, r.kind, uuid_v7_time(r.id),
      clock_ms() + coalesce(r.due_in_ms, 0) * interval '1 millisecond', 0, r.scenario
    from jsonb_to_recordset(v_rows) as r(platform_id uuid, id uuid, transaction_id uuid, kind rail_order_kind, due_in_ms bigint,
      scenario jsonb);
  end if;
  v_rows := jsonb_path_query_array(p_plans, '$[*].plan.orders[*]');
  if v_rows <> '[]' then
    update rail_order o set due_at = clock_ms() + m.due_in_ms * interval '1 millisecond'
    from jsonb_to_recordset(v_rows) as m(id uuid, due_in_ms bigint)
    where o.platform_id = any (v_platforms) and o.id = any (uuids(jsonb_path_query_array(v_rows, '$[*].id'))) and o.id = m.id;
  end if;
end
$$;

-- Before insert on posting, for legs on an account: changes the balance of the account, so that postings and balances
-- cannot differ. An account is never deleted, so finding it here replaces a foreign key, which would look it up again.
-- (Legs on system accounts change no balance; the checks for all legs are in check_legs.)
create or replace function apply_posting() returns trigger
  language plpgsql
as $$
begin
  update account set posted = posted + new.amount
  where platform_id = new.platform_id and id = new.account_id and kind = 'INTERNAL' and currency = new.currency
  returning posted, version into new.balance_after, new.account_version;
  if not found then
    raise exception 'no internal account % in %', new.account_id, new.currency using errcode = 'LG007';
  end if;
  return new;
end
$$;

-- The part of apply_plans for a plan that inserts customers or accounts. Few plans do.
create or replace function apply_registrations(p_platform uuid, p_insert jsonb) returns void
  language plpgsql
as $$
declare
  v_account account;
begin
  if p_insert ? 'customer' then
    insert into customer select r.* from jsonb_populate_recordset(null::customer, p_insert -> 'customer') r;
  end if;
  if p_insert ? 'account' then
    -- One default deposit account per customer: a new default replaces the old one.
    for v_account in
      select r.* from jsonb_populate_recordset(null::account, p_insert -> 'account') r
      where r.default_uma_deposit_account and r.customer_id is not null
    loop
      update account set default_uma_deposit_account = false
      where platform_id = p_platform and customer_id = v_account.customer_id and default_uma_deposit_account;
    end loop;
    insert into account select r.* from jsonb_populate_recordset(null::account, p_insert -> 'account') r;
  end if;
  if p_insert ? 'account_check' then
    insert into account_check (platform_id, account_id, due_at)
    select p_platform, r.account_id, clock_ms() + r.due_in_ms * interval '1 millisecond'
    from jsonb_to_recordset(p_insert -> 'account_check') as r(account_id uuid, due_in_ms bigint);
  end if;
end
$$;

-- The part of check_plan for external accounts that a plan changes. A deleted one does not change. A change with a version
-- is valid only for that version of the account. One without a status leaves it as it is.
create or replace function check_accounts(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move record;
  v_account account;
  v_other uuid;
begin
  for v_move in
    select * from jsonb_to_recordset(p_moves) as m(id uuid, "from" text[], "to" external_account_status, version int)
  loop
    select * into v_account from account where platform_id = p_platform and id = v_move.id and kind = 'EXTERNAL';
    if not found or not v_account.status::text = any (v_move."from") or v_account.version <> coalesce(v_move.version, v_account.version) then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'ExternalAccount', 'id', v_move.id, 'status', v_account.status);
    end if;
    if v_account.is_deleted then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_move.id, 'status', 'DELETED');
    end if;
    -- Its owner may have registered it again while it was INACTIVE.
    select a.id into v_other from account a
    where a.platform_id = p_platform and a.kind = 'EXTERNAL' and a.status <> 'INACTIVE' and v_move."to" <> 'INACTIVE' and a.id <> v_account.id
      and a.customer_id is not distinct from v_account.customer_id and a.currency = v_account.currency
      and a.account_type = v_account.account_type and a.identifier = v_account.identifier limit 1;
    if found then
      return jsonb_build_object('code', 'ACCOUNT_EXISTS', 'id', v_other);
    end if;
  end loop;
  return null;
end
$$;

-- The part of check_balances for an account whose balance a plan may raise above its bound. Returns the refusal, or
-- null. Called under the lock of the account, and only where all credits together would exceed the bound, which is
-- rare.
-- A balance is at most 9,000,000,000,000,000 smallest units, like an amount: a JSON number holds it exactly. The bound
-- is for new money and holds right after the credit, even where the same plan sends the money on: its refund would
-- leave it here.
-- An exempt leg (a refund, or the fee of the platform for a delivered payment) may exceed the bound, because refusing
-- it would undo nothing. Only money that was sent away and meanwhile replaced by new money can exceed it, so by one
-- payment at a time. But a thousand payments can be under way at once. So exempt legs stop at
-- 9,000,000,000,000,000,000, a thousand times the bound. Then a refund waits in SUSPENSE
-- (src/payments/settlement/full-account.ts), no balance comes near 2^63, and no retry goes on for ever.
create or replace function check_balance(p_account uuid, p_posted bigint, p_journals jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  v_new numeric;
  v_all numeric;
  v_limit numeric;
  v_coming numeric;
begin
  select coalesce(sum(l.amount) filter (where l.exempt is not true), 0), coalesce(sum(l.amount), 0) into v_new, v_all
  from jsonb_array_elements(p_journals) j,
    jsonb_to_recordset(j -> 'legs') as l(account uuid, amount numeric, exempt boolean)
  where l.account = p_account and l.amount > 0;
  -- Where the new money fits, exempt legs stay far below their own bound.
  v_limit := case when v_new > 0 then 9000000000000000 else 9000000000000000000 end;
  v_coming := case when v_new > 0 then v_new else v_all end;
  if v_coming > 0 and p_posted + v_coming > v_limit then
    return jsonb_build_object('code', 'AMOUNT_OUT_OF_RANGE', 'id', p_account, 'limit', v_limit::text,
                              'balance', p_posted::text, 'coming', v_coming::text);
  end if;
  return null;
end
$$;

-- The part of check_plan for accounts whose balances a plan changes: none may go below zero, and none above its bound
-- (check_balance).
create or replace function check_balances(p_platform uuid, p_journals jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_legs jsonb;
  v_accounts uuid[] := '{}';
  v_changes bigint[] := '{}';
  v_account record;
  v_change numeric;
  v_gain numeric;
  v_refusal jsonb;
begin
  -- The change of each account, in one pass over the legs.
  for v_journal in 0 .. jsonb_array_length(p_journals) - 1 loop
    v_legs := p_journals -> v_journal -> 'legs';
    for v_at in 0 .. jsonb_array_length(v_legs) - 1 loop
      continue when not v_legs -> v_at ? 'account';
      v_accounts := v_accounts || (v_legs -> v_at ->> 'account')::uuid;
      v_changes := v_changes || (v_legs -> v_at ->> 'amount')::bigint;
    end loop;
  end loop;
  if cardinality(v_accounts) = 0 then
    return null;
  end if;
  -- By their keys: with a join, the planner would read all accounts of the platform.
  for v_account in
    select a.id, a.posted, a.currency from account a where a.platform_id = p_platform and a.id = any (v_accounts) order by a.id
  loop
    v_change := 0;
    v_gain := 0;
    for v_at in 1 .. cardinality(v_changes) loop
      if v_accounts[v_at] = v_account.id then
        v_change := v_change + v_changes[v_at];
        v_gain := v_gain + greatest(v_changes[v_at], 0);
      end if;
    end loop;
    if v_change < 0 and v_account.posted + v_change < 0 then
      return jsonb_build_object('code', 'INSUFFICIENT_BALANCE', 'id', v_account.id,
                                'spendable', v_account.posted::text, 'needed', (-v_change)::text,
                                'currency', v_account.currency);
    end if;
    if v_gain > 0 and v_account.posted + v_gain > 9000000000000000 then
      v_refusal := check_balance(v_account.id, v_account.posted, p_journals);
      if v_refusal is not null then
        return v_refusal || jsonb_build_object('currency', v_account.currency);
      end if;
    end if;
  end loop;
  return null;
end
$$;

-- The part of check_plan for customers that a plan changes. A deleted customer cannot change, one with money or payments
-- under way cannot be deleted, and only one customer that is not deleted has a UMA address.
create or replace function check_customers(p_platform uuid, p_changes jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_change record;
  v_deleted boolean;
  v_holder customer;
  v_refusal jsonb;
begin
  for v_change in
    select m.id, m."set" ->> 'uma_address' as uma_address, (m."set" ->> 'is_deleted')::boolean as is_deleted
    from jsonb_to_recordset(p_changes) as m(id uuid, "set" jsonb)
  loop
    select is_deleted into v_deleted from customer where platform_id = p_platform and id = v_change.id;
    if v_deleted then
      return jsonb_build_object('code', 'CUSTOMER_DELETED', 'id', v_change.id);
    end if;
    if v_change.is_deleted then
      v_refusal := check_deletion(p_platform, v_change.id);
      if v_refusal is not null then
        return v_refusal;
      end if;
    end if;
    select * into v_holder from customer c
    where lower(c.uma_address) = lower(v_change.uma_address) and not c.is_deleted
      and (c.platform_id, c.id) <> (p_platform, v_change.id) limit 1;
    if found then
      -- Another platform's customer is not named.
      return jsonb_build_object('code', 'UMA_ADDRESS_EXISTS',
                                'id', case when v_holder.platform_id = p_platform then v_holder.id end);
    end if;
  end loop;
  return null;
end
$$;

-- The part of check_customers for a customer that a plan deletes. Its accounts here hold nothing, and no payment of it or to
-- it is under way. lock_plans has locked the customer and these accounts, so nothing begins and nothing is credited now. A
-- quote that nobody has executed is no payment: its transaction is PENDING.
create or replace function check_deletion(p_platform uuid, p_customer uuid) returns jsonb
  language plpgsql
as $$
declare
  v_accounts uuid[];
  v_balances jsonb;
  v_payments uuid[];
begin
  select array_agg(a.id),
    coalesce(jsonb_agg(jsonb_build_object('account', a.id, 'currency', a.currency, 'amount', a.posted::text) order by a.id)
      filter (where a.posted <> 0), '[]')
  into v_accounts, v_balances
  from account a where a.platform_id = p_platform and a.customer_id = p_customer and a.kind = 'INTERNAL';
  v_payments := array(
    select t.id from transaction t
    where t.platform_id = p_platform and t.status in ('CREATED', 'PENDING', 'PROCESSING')
      and (t.customer_id = p_customer or t.destination_account_id = any (v_accounts))
      and (t.quote_id is null or t.status <> 'PENDING')
    order by t.id);
  if v_balances <> '[]' or cardinality(v_payments) > 0 then
    return jsonb_build_object('code', 'CUSTOMER_IN_USE', 'id', p_customer, 'balances', v_balances,
                              'payments', cardinality(v_payments), 'transactions', to_jsonb(v_payments[1:20]));
  end if;
  return null;
end
$$;

-- The part of check_plan for quotes that are paid after they were marked EXPIRED. Such a quote does not change and is
-- paid once. The journals of its payment, under the lock of the quote, show whether it was paid before.
create or replace function check_expired(p_platform uuid, p_quotes jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
  v_status quote_status;
  v_transaction uuid;
begin
  for v_at in 0 .. jsonb_array_length(p_quotes) - 1 loop
    v_id := (p_quotes -> v_at ->> 'id')::uuid;
    select status, transaction_id into v_status, v_transaction from quote where platform_id = p_platform and id = v_id;
    if not found then
      return jsonb_build_object('code', 'QUOTE_NOT_FOUND', 'id', v_id);
    end if;
    if v_status <> 'EXPIRED'
       or exists (select from journal j where j.platform_id = p_platform and j.transaction_id = v_transaction) then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'Quote', 'id', v_id, 'status', v_status);
    end if;
  end loop;
  return null;
end
$$;

-- Decides about a group of plans. Returns {outcome: now, plans}, the plans to apply; or {outcome: now, refusal}, the
-- first reason against it; or the first answer to its idempotency key (first_answer). Only a group of one plan has a
-- claim. Nothing is written before all groups of a batch have been checked.
-- A plan may have an alternative, under `otherwise`: it replaces a plan that is refused because a quote has expired.
-- The clock is read while the lock of the quote is held. So a deposit at the moment of expiry either executes its quote
-- or is credited, and is never refused for its timing.
create or replace function check_group(p_group jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_platform uuid := p_group #>> '{0,platform}';
  v_answer jsonb;
  v_plan jsonb;
  v_refusal jsonb;
begin
  if p_group #> '{0,plan}' ? 'claim' then
    v_answer := first_answer(v_platform, p_group #> '{0,plan,claim}');
    if v_answer is not null then
      return v_answer;
    end if;
  end if;
  for v_at in 0 .. jsonb_array_length(p_group) - 1 loop
    v_platform := p_group -> v_at ->> 'platform';
    v_plan := p_group -> v_at -> 'plan';
    v_refusal := check_plan(v_platform, v_plan);
    while v_refusal ->> 'code' = 'QUOTE_EXPIRED' and v_plan ? 'otherwise' loop
      v_plan := v_plan -> 'otherwise';
      v_refusal := check_plan(v_platform, v_plan);
      p_group := jsonb_set(p_group, array[v_at::text, 'plan'], v_plan);
    end loop;
    if v_refusal is not null then
      return jsonb_build_object('outcome', 'now', 'refusal', v_refusal);
    end if;
  end loop;
  return jsonb_build_object('outcome', 'now', 'plans', p_group);
end
$$;

-- Deferred, once per new journal, at commit: checks that it has at least two legs and that every currency sums to zero.
create or replace function check_journal() returns trigger
  language plpgsql
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
as $$
begin
  if (select coalesce(sum(c.legs), 0) < 2 or bool_or(c.sum <> 0)
      from (select count(*) as legs, sum(p.amount) as sum from posting p
            where p.platform_id = new.platform_id and p.journal_id = new.id group by p.currency) c) then
    raise exception 'journal % does not balance', new.id using errcode = 'LG008';
  end if;
  return null;
end
$$;

-- After each insert of legs, for all of them at once: checks that each belongs to a journal of this transaction (a
-- committed journal is sealed), and is in a known currency. Journals and currencies are never deleted, so foreign keys
-- are not needed. They would check the same again for each leg.
create or replace function check_legs() returns trigger
  language plpgsql
as $$
begin
  -- An age of 0 means that this transaction wrote the row.
  if exists (
    select from leg l
    where age((select j.xmin from journal j where j.platform_id = l.platform_id and j.id = l.journal_id)) is distinct from 0
      or (select c.code from currency c where c.code = l.currency) is null
  ) then
    if exists (select from leg l where not exists (select from currency c where c.code = l.currency)) then
      raise exception 'a leg is in an unknown currency' using errcode = 'foreign_key_violation';
    end if;
    raise exception 'a leg was added to a journal that is sealed' using errcode = 'LG005';
  end if;
  return null;
end
$$;

-- The part of check_plan for orders that a plan concludes or postpones: refuses an order that has its outcome. So an
-- order that two workers held (the first for longer than its lease) is settled once, even where the status of the
-- payment does not show it, as after a pull.
create or replace function check_orders(p_platform uuid, p_orders jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
begin
  select o.id into v_id from rail_order o
  where o.platform_id = p_platform and o.id = any (uuids(jsonb_path_query_array(p_orders, '$[*].id'))) and o.due_at is null
  order by o.id limit 1;
  if found then
    return jsonb_build_object('code', 'CONFLICT', 'id', v_id, 'status', 'CLOSED');
  end if;
  return null;
end
$$;

-- Returns the first reason against a plan, or null. The rows are locked by lock_plans. A move marked is_new is of a row
-- that the same plan inserts: there is nothing to check yet.
create or replace function check_plan(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
begin
  return coalesce(
    case when p_plan -> 'insert' ?| '{customer,account}' then check_registrations(p_platform, p_plan -> 'insert') end,
    case when p_plan ? 'quotes' then check_quotes(p_platform, p_plan -> 'quotes') end,
    case when p_plan ? 'expired' then check_expired(p_platform, p_plan -> 'expired') end,
    case when p_plan ? 'transactions' then check_transactions(p_platform, p_plan -> 'transactions') end,
    case when p_plan ? 'orders' then check_orders(p_platform, p_plan -> 'orders') end,
    case when p_plan ? 'customers' then check_customers(p_platform, p_plan -> 'customers') end,
    case when p_plan ? 'accounts' then check_accounts(p_platform, p_plan -> 'accounts') end,
    case when p_plan -> 'require_active' ? 'customers' then check_active_customers(p_platform, p_plan #> '{require_active,customers}') end,
    case when p_plan -> 'require_active' ? 'undeleted' then check_undeleted(p_platform, p_plan #> '{require_active,undeleted}') end,
    case when p_plan ? 'journals' then check_balances(p_platform, p_plan -> 'journals') end,
    case when p_plan -> 'require_active' ? 'accounts' then check_active_accounts(p_platform, p_plan #> '{require_active,accounts}') end,
    case when p_plan ? 'capacity' then check_capacity(p_platform, p_plan -> 'capacity') end
  );
end
$$;

-- The part of check_plan for quotes whose status a plan changes. The clock is read while the lock is held: a quote that
-- expired while the command waited counts as expired.
create or replace function check_quotes(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move jsonb;
  v_id uuid;
  v_status quote_status;
  v_expires_at timestamptz;
  v_updated_at timestamptz;
begin
  for v_at in 0 .. jsonb_array_length(p_moves) - 1 loop
    v_move := p_moves -> v_at;
    continue when (v_move ->> 'is_new')::boolean;
    v_id := (v_move ->> 'id')::uuid;
    select status, expires_at, updated_at into v_status, v_expires_at, v_updated_at from quote where platform_id = p_platform and id = v_id;
    if not found then
      return jsonb_build_object('code', 'QUOTE_NOT_FOUND', 'id', v_id);
    end if;
    if v_status = 'EXPIRED'
       or (v_status = 'PENDING' and v_move ->> 'expiry' = 'before' and clock_timestamp() >= v_expires_at) then
      -- One that was cancelled has expired then.
      return jsonb_build_object('code', 'QUOTE_EXPIRED', 'id', v_id,
                                'expiresAt', case v_status when 'EXPIRED' then least(v_expires_at, v_updated_at) else v_expires_at end);
    end if;
    if not v_move -> 'from' ? v_status::text or (v_move ->> 'expiry' = 'after' and clock_timestamp() < v_expires_at) then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'Quote', 'id', v_id, 'status', v_status);
    end if;
  end loop;
  return null;
end
$$;

-- The part of check_plan for external accounts that take part in a payment: they must be ACTIVE.
create or replace function check_active_accounts(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
  v_customer uuid;
  v_status external_account_status;
begin
  select a.id, a.customer_id, a.status into v_id, v_customer, v_status from account a
  where a.platform_id = p_platform and a.kind = 'EXTERNAL' and a.id = any (uuids(p_ids)) and a.status <> 'ACTIVE'
  order by a.id limit 1;
  if found then
    return jsonb_build_object('code', 'INVALID_BANK_ACCOUNT', 'id', v_id, 'customerId', v_customer, 'status', v_status);
  end if;
  return null;
end
$$;

-- The part of check_plan for customers who take part in a payment: they must be allowed to move money.
create or replace function check_active_customers(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
  v_kyc_status kyc_status;
  v_is_deleted boolean;
begin
  for v_at in 0 .. jsonb_array_length(p_ids) - 1 loop
    v_id := (p_ids ->> v_at)::uuid;
    select kyc_status, is_deleted into v_kyc_status, v_is_deleted from customer where platform_id = p_platform and id = v_id;
    if v_is_deleted or v_kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') then
      return jsonb_build_object('code', 'USER_NOT_READY', 'id', v_id, 'kycStatus', v_kyc_status, 'isDeleted', v_is_deleted);
    end if;
  end loop;
  return null;
end
$$;

-- The part of check_plan for customers and external accounts that a plan inserts. Only one customer that is not deleted
-- has a UMA address, and an owner has only one account with an identifier that is not INACTIVE.
create or replace function check_registrations(p_platform uuid, p_insert jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
begin
  -- Another platform's customer is not named.
  select case when c.platform_id = p_platform then c.id end into v_id from jsonb_populate_recordset(null::customer, p_insert -> 'customer') n
  join customer c on lower(c.uma_address) = lower(n.uma_address) and not c.is_deleted limit 1;
  if found then
    return jsonb_build_object('code', 'UMA_ADDRESS_EXISTS', 'id', v_id);
  end if;
  select a.id into v_id from jsonb_populate_recordset(null::account, p_insert -> 'account') n
  join account a on a.platform_id = p_platform and a.kind = 'EXTERNAL' and n.kind = 'EXTERNAL' and a.status <> 'INACTIVE'
    and a.customer_id is not distinct from n.customer_id and a.currency = n.currency
    and a.account_type = n.account_type and a.identifier = n.identifier limit 1;
  if found then
    return jsonb_build_object('code', 'ACCOUNT_EXISTS', 'id', v_id);
  end if;
  return null;
end
$$;

-- The part of check_plan for accounts that the payment of a plan will credit later, so that a payment that cannot end
-- well does not begin. Returns the refusal for the first account whose balance would then exceed its bound
-- (check_balance), or null. Payments under way are counted only where amount and balance come near the bound. No lock
-- is taken: the bound is enforced when the money is credited, and a payment that does not fit then fails.
create or replace function check_capacity(p_platform uuid, p_capacity jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  v_credit record;
  v_posted bigint;
  v_currency text;
  v_coming numeric;
begin
  for v_credit in select * from jsonb_to_recordset(p_capacity) as r(account uuid, amount bigint) loop
    select posted, currency into v_posted, v_currency from account where platform_id = p_platform and id = v_credit.account;
    v_coming := v_credit.amount;
    if v_posted + v_coming > 900000000000000 then
      -- Through the open orders, which are few, however long the history of the account is.
      v_coming := v_coming + (
        select coalesce(sum(t.received_amount), 0)
        from rail_order o join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
        where o.due_at is not null and o.platform_id = p_platform and t.destination_account_id = v_credit.account
          and t.status in ('PENDING', 'PROCESSING'));
    end if;
    if v_posted + v_coming > 9000000000000000 then
      return jsonb_build_object('code', 'AMOUNT_OUT_OF_RANGE', 'id', v_credit.account, 'limit', '9000000000000000',
                                'balance', v_posted::text, 'coming', v_coming::text, 'currency', v_currency);
    end if;
  end loop;
  return null;
end
$$;

-- The part of check_plan for transactions whose status a plan changes. A refund that waits in suspense is paid once.
create or replace function check_transactions(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move jsonb;
  v_id uuid;
  v_status transaction_status;
  v_refund_waits boolean;
begin
  for v_at in 0 .. jsonb_array_length(p_moves) - 1 loop
    v_move := p_moves -> v_at;
    continue when (v_move ->> 'is_new')::boolean;
    v_id := (v_move ->> 'id')::uuid;
    select status, refund_reference is not null and refund_settled_at is null into v_status, v_refund_waits
    from transaction where platform_id = p_platform and id = v_id;
    if not found then
      return jsonb_build_object('code', 'TRANSACTION_NOT_FOUND', 'id', v_id);
    end if;
    if not v_move -> 'from' ? v_status::text or ((v_move ->> 'pays_refund')::boolean and not v_refund_waits) then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'Transaction', 'id', v_id, 'status', v_status);
    end if;
  end loop;
  return null;
end
$$;

-- Checks the groups of a batch one by one, applies the accepted ones together, and concludes each. Together, because
-- the fixed cost of statements is a large part of a payment. Returns answers like commit_batches.
create or replace function commit_batch(p_groups jsonb) returns jsonb[]
  language plpgsql
as $$
declare
  v_count int := jsonb_array_length(p_groups);
  v_answers jsonb[] := '{}';
  v_answer jsonb;
  v_item jsonb;
  v_plans jsonb;
begin
  for v_at in 0 .. v_count - 1 loop
    v_answers := v_answers || check_group(p_groups -> v_at);
  end loop;

  v_plans := jsonb_path_query_array(to_jsonb(v_answers), '$[*].plans[*]');
  if v_plans <> '[]' then
    perform apply_plans(v_plans);
  end if;

  for v_at in 1 .. v_count loop
    v_answer := v_answers[v_at];
    if v_answer ->> 'outcome' = 'now' then
      v_item := p_groups #> array[(v_at - 1)::text, '0'];
      v_answers[v_at] := conclude_plan((v_item ->> 'platform')::uuid, v_item -> 'plan', v_answer -> 'refusal');
    end if;
  end loop;
  return v_answers;
end
$$;

-- Commits plans that share a transaction. A group is a list of {platform, plan} that are carried out all or none: one plan,
-- like most commands and outcomes, or the two sides of a payment between platforms. A batch is a list of groups of which none
-- changes what decides the check of another: the caller ensures this (src/ledger/batches.ts). Each group is done or refused on
-- its own, as if they came one after another. Returns one answer for each group, in the order of the batches:
--   {outcome: now, refusal, result}    done now, or refused now; with the row that its plan names as its result
--   {outcome: first, refusal, result}  the outcome of the first call with its idempotency key
--   {outcome: mismatch}                its idempotency key was used with another input
-- All locks come first; then each batch is checked, applied and concluded (commit_batch).
-- Runs with the rights of the owner: the roles that serve and work change no money and no status otherwise.
-- Each statement, here and in the functions called, is planned once per connection, because planning took longer than
-- execution. The plans use keys, row by row, because the tables may have been empty when they were made.
create or replace function commit_batches(p_batches jsonb) returns jsonb[]
  language plpgsql
  security definer set search_path = public, pg_temp
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  v_answers jsonb[] := '{}';
begin
  perform lock_plans(jsonb_path_query_array(p_batches, '$[*][*][*]'));
  for v_at in 0 .. jsonb_array_length(p_batches) - 1 loop
    v_answers := v_answers || commit_batch(p_batches -> v_at);
  end loop;
  return v_answers;
end
$$;

-- Returns the answer to a plan that was applied or refused, with the row that it names as its result, in its present
-- state. Stores the answer under the idempotency key of the plan, for repeats.
create or replace function conclude_plan(p_platform uuid, p_plan jsonb, p_refusal jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_claim jsonb := p_plan -> 'claim';
  v_target jsonb := p_plan -> 'result';
  v_id uuid := v_target ->> 'id';
  v_row jsonb;
  v_result jsonb;
begin
  if p_refusal is null and v_target is not null then
    case v_target ->> 'type'
      when 'Transaction' then
        select to_jsonb(t) into v_row from transaction t where t.platform_id = p_platform and t.id = v_id;
      when 'Quote' then
        select to_jsonb(q) into v_row from quote q where q.platform_id = p_platform and q.id = v_id;
      when 'Customer' then
        select to_jsonb(c) into v_row from customer c where c.platform_id = p_platform and c.id = v_id;
      when 'Account' then
        select account_snapshot(a) into v_row from account a where a.platform_id = p_platform and a.id = v_id;
    end case;
    v_result := jsonb_build_object('type', v_target -> 'type', 'row', v_row);
  end if;
  -- Answers with status 403 or 404 are not stored: a later call with the key may succeed.
  if v_claim is not null
     and (p_refusal is null or p_refusal ->> 'code' not in ('USER_NOT_READY', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND')) then
    insert into idempotency_record (platform_id, operation, key, request_hash, refusal, result)
    values (p_platform, v_claim ->> 'operation', v_claim ->> 'key', decode(v_claim ->> 'hash', 'hex'), p_refusal, v_result);
  end if;
  return jsonb_build_object('outcome', 'now', 'refusal', p_refusal, 'result', v_result);
end
$$;

-- Finds a valid API token by its client id, with the hash of its secret and the settings of its platform: nobody
-- knows the platform before. Runs with the rights of the owner, since the serving role sees no row before it has named one.
create or replace function find_api_token(p_client_id text) returns table (
  id uuid, platform_id uuid, secret_hash bytea, permissions text[], environment environment,
  rate_limit int, rate_burst int, api_token_rate_limit int, api_token_rate_burst int, client_token_rate_limit int,
  client_token_rate_burst int, trusted_documents trusted_document_policy
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select t.id, t.platform_id, t.secret_hash, t.permissions::text[], p.environment, p.rate_limit, p.rate_burst,
    p.api_token_rate_limit, p.api_token_rate_burst, p.client_token_rate_limit, p.client_token_rate_burst,
    p.trusted_documents
  from api_token t join platform p on p.id = t.platform_id
  where t.client_id = p_client_id and t.revoked_at is null;
end
$$;

-- Returns the tokens of a list, of any platforms, that are neither revoked nor expired. For the open connections of an
-- instance. Runs with the rights of the owner, since the serving role sees one platform at a time.
create or replace function find_live_tokens(p_platforms uuid[], p_ids uuid[]) returns setof uuid
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select s.id from unnest(p_platforms, p_ids) as s (platform_id, id)
  where exists (select from api_token t where t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null)
     or exists (select from client_token t where t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null
                  and t.expires_at > clock_timestamp());
end
$$;

-- Finds the customer of any platform who receives at a UMA address, in lower case, with what a payer may know: the
-- domain and the currencies of its platform, and the currency of its deposit account. Runs with the rights of the owner,
-- since the serving role sees one platform at a time.
create or replace function find_receiver(p_address text, p_environment environment) returns table (
  platform_id uuid, id uuid, uma_domain text, currencies text[], deposit_currency text
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select r.platform_id, r.id, p.uma_domain, p.currencies, d.currency
  from customer r
  join platform p on p.id = r.platform_id
  left join account d on d.platform_id = r.platform_id and d.customer_id = r.id and d.default_uma_deposit_account
    and d.status = 'ACTIVE'
  where lower(r.uma_address) = p_address and not r.is_deleted and p.environment = p_environment
    and r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED');
end
$$;

-- Returns the first answer to an idempotency key that was used before, or null.
create or replace function first_answer(p_platform uuid, p_claim jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_operation text := p_claim ->> 'operation';
  v_key text := p_claim ->> 'key';
  v_hash bytea;
  v_refusal jsonb;
  v_result jsonb;
begin
  select request_hash, refusal, result into v_hash, v_refusal, v_result from idempotency_record
  where platform_id = p_platform and operation = v_operation and key = v_key;
  if not found then
    return null;
  end if;
  if v_hash <> decode(p_claim ->> 'hash', 'hex') then
    return jsonb_build_object('outcome', 'mismatch');
  end if;
  return jsonb_build_object('outcome', 'first', 'refusal', v_refusal, 'result', v_result);
end
$$;

-- Detects that the clock of the database was set back by more than a second, and moves due times back too. Otherwise
-- what was due soon by the old clock would wait for as long as the clock was set back. Returns the step in
-- milliseconds, or null. Any number of processes call this repeatedly: one of them locks the row, and the others do not
-- wait.
-- A due time more than half of the step ahead counts as set by the old clock. A due time that is really so far ahead is
-- moved wrongly. That is harmless, because it only happens early: a rail is asked again, or a receiver gets an event
-- early.
create or replace function follow_clock() returns double precision
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_seen timestamptz;
  v_now timestamptz;
  v_step interval;
begin
  select seen_at into v_seen from clock_reading for update skip locked;
  if not found then
    return null;
  end if;
  v_now := clock_timestamp();
  v_step := v_seen - v_now;
  if v_step < interval '-1 second' then
    update clock_reading set seen_at = v_now;
  end if;
  if v_step <= interval '1 second' then
    return null;
  end if;
  -- The age of an order counts from its creation.
  update rail_order set due_at = due_at - v_step, created_at = created_at - v_step where due_at > v_now + v_step / 2;
  update account_check set due_at = due_at - v_step where due_at > v_now + v_step / 2;
  update webhook_delivery set
    next_attempt_at = case when next_attempt_at > v_now + v_step / 2 then next_attempt_at - v_step else next_attempt_at end,
    leased_until = case when leased_until > v_now + v_step / 2 then leased_until - v_step else leased_until end
  where status = 'PENDING' and greatest(next_attempt_at, leased_until) > v_now + v_step / 2;
  update clock_reading set seen_at = v_now;
  return date_part('epoch', v_step) * 1000;
end
$$;

-- Before update on account: the balance changes only through postings (apply_posting), owner and currency never change,
-- and the status of an external account changes only along external_account_move.
create or replace function guard_account() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.kind, new.customer_id, new.currency)
     is distinct from (old.platform_id, old.id, old.created_at, old.kind, old.customer_id, old.currency) then
    raise exception 'account %: its owner and currency cannot change', old.id using errcode = 'LG002';
  end if;
  if new.posted <> old.posted and pg_trigger_depth() < 2 then
    raise exception 'account %: a balance changes only by a posting', old.id using errcode = 'LG004';
  end if;
  -- Two nested conditions: combined with `exists`, the first would cost a statement of its own.
  if new.status is distinct from old.status then
    if not exists (select from external_account_move m where m."from" = old.status and m."to" = new.status) then
      raise exception 'external account %: no move from % to %', old.id, old.status, new.status using errcode = 'LG003';
    end if;
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;

-- Before insert on account: no external account starts INACTIVE, and every later status is a move.
create or replace function guard_account_start() returns trigger
  language plpgsql
as $$
begin
  if new.status = 'INACTIVE' then
    raise exception 'external account %: nothing starts as INACTIVE', new.id using errcode = 'LG003';
  end if;
  return new;
end
$$;

-- Before insert on event: only sequence_outbox writes the feed, from the outbox. The rows that the outbox names belong
-- to its platform (guard_outbox) and are never deleted, so no foreign keys are needed here. They took a third of the
-- time of sequence_outbox, and locked rows that payments were waiting to change.
create or replace function guard_feed() returns trigger
  language plpgsql
as $$
declare
  v_callers text;
begin
  get diagnostics v_callers = pg_context;
  -- The words around the name of a function are in the language of the server.
  if position('sequence_outbox(integer)' in v_callers) = 0 then
    raise exception 'only sequence_outbox writes the feed' using errcode = 'LG009';
  end if;
  return null;
end
$$;

-- Before insert on outbox, for rows that no trigger writes (such as test events): checks that the rows that they name
-- belong to their platform. A trigger writes the ids of the row that it was called for, so those need no check.
create or replace function guard_outbox() returns trigger
  language plpgsql
as $$
begin
  if (new.transaction_id is not null
      and not exists (select from transaction t where t.platform_id = new.platform_id and t.id = new.transaction_id))
     or (new.quote_id is not null
         and not exists (select from quote q where q.platform_id = new.platform_id and q.id = new.quote_id))
     or (new.account_id is not null
         and not exists (select from account a where a.platform_id = new.platform_id and a.id = new.account_id))
     or (new.customer_id is not null
         and not exists (select from customer c where c.platform_id = new.platform_id and c.id = new.customer_id)) then
    raise exception 'event %: what it names is not of its platform', new.event_id using errcode = 'foreign_key_violation';
  end if;
  return new;
end
$$;

-- Before update on quote: only the status changes, and only along quote_move. Prices and parties never change.
create or replace function guard_quote() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.expires_at, new.transaction_id, new.customer_id,
      new.source_kind, new.source_account_id, new.destination_kind, new.destination_account_id, new.destination_uma_address,
      new.sending_currency, new.receiving_currency, new.total_sending_amount, new.total_receiving_amount,
      new.exchange_rate, new.fees_included, new.platform_fee, new.locked_currency_side, new.pricing, new.metadata)
     is distinct from
     (old.platform_id, old.id, old.created_at, old.expires_at, old.transaction_id, old.customer_id,
      old.source_kind, old.source_account_id, old.destination_kind, old.destination_account_id, old.destination_uma_address,
      old.sending_currency, old.receiving_currency, old.total_sending_amount, old.total_receiving_amount,
      old.exchange_rate, old.fees_included, old.platform_fee, old.locked_currency_side, old.pricing, old.metadata) then
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

-- Before insert on quote: it starts PENDING, with version 1, at the time in its id. Every later status is a move. Its
-- currencies are known, and its transaction ties it to its platform (see guard_transaction_start).
create or replace function guard_quote_start() returns trigger
  language plpgsql
as $$
begin
  if new.status <> 'PENDING' then
    raise exception 'quote %: nothing starts as %', new.id, new.status using errcode = 'LG003';
  end if;
  if not exists (select from currency where code = new.sending_currency)
     or not exists (select from currency where code = new.receiving_currency) then
    raise exception 'quote %: in an unknown currency', new.id using errcode = 'foreign_key_violation';
  end if;
  new.version := 1;
  new.created_at := uuid_v7_time(new.id);
  new.updated_at := new.created_at;
  return new;
end
$$;

-- Returns the name and the number that a payment stores of an account at one of its ends: of an internal account that is
-- not its customer's own, the name is that of the owner.
create or replace function name_party(p_platform uuid, p_account uuid, p_customer uuid, out name text, out number text)
  language plpgsql stable
as $$
declare
  v_account account;
begin
  if p_account is null then
    return;
  end if;
  select * into v_account from account a where a.platform_id = p_platform and a.id = p_account;
  number := account_number(v_account.kind, v_account.id, v_account.identifier);
  if v_account.kind = 'INTERNAL' and v_account.customer_id is distinct from p_customer then
    name := case when v_account.customer_id is null
      then (select p.name from platform p where p.id = p_platform)
      else (select c.name from customer c where c.platform_id = p_platform and c.id = v_account.customer_id) end;
  end if;
  name := coalesce(name, account_name(v_account.beneficiary, v_account.account_type, v_account.currency));
end
$$;

-- Before update on transaction: the status changes along transaction_move, the parties and the sent amount never
-- change, and the times of settlement and refund come from the clock of the database.
create or replace function guard_transaction() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.type, new.customer_id, new.quote_id, new.sent_amount, new.sent_currency,
      new.received_currency, new.source_account_id, new.reference, new.fees, new.exchange_rate,
      new.source_name, new.source_number, new.metadata)
     is distinct from
     (old.platform_id, old.id, old.created_at, old.type, old.customer_id, old.quote_id, old.sent_amount, old.sent_currency,
      old.received_currency, old.source_account_id, old.reference, old.fees, old.exchange_rate,
      old.source_name, old.source_number, old.metadata) then
    raise exception 'transaction %: its parties and amounts cannot change', old.id using errcode = 'LG002';
  end if;
  -- A refund that waited in suspense is paid after the payment has ended: its status does not change.
  if not (new.status = old.status and old.refund_reference is not null and old.refund_settled_at is null and new.refund_settled_at is not null)
     and not exists (select from transaction_move m where m."from" = old.status and m."to" = new.status) then
    raise exception 'transaction %: no move from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  if new.destination_account_id is distinct from old.destination_account_id then
    select p.name, p.number into new.destination_name, new.destination_number
    from name_party(new.platform_id, new.destination_account_id, new.customer_id) p;
  else
    new.destination_name := old.destination_name;
    new.destination_number := old.destination_number;
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

-- Before insert on transaction: it starts CREATED or PENDING, with version 1, at the time in its id. Every later status
-- is a move. It stores the names of the accounts at its ends, as they are now: later changes of accounts and owners
-- do not change what was paid. A customer or account of its platform takes part in it, and its currencies are known. None of these is
-- ever deleted, so one check is enough. Foreign keys would also lock the one row that all transactions share.
create or replace function guard_transaction_start() returns trigger
  language plpgsql
as $$
begin
  if new.status not in ('CREATED', 'PENDING') then
    raise exception 'transaction %: nothing starts as %', new.id, new.status using errcode = 'LG003';
  end if;
  if num_nonnulls(new.customer_id, new.source_account_id, new.destination_account_id) = 0 then
    raise exception 'transaction %: nobody takes part in it', new.id using errcode = 'foreign_key_violation';
  end if;
  if not exists (select from currency where code = new.received_currency)
     or (new.sent_currency is not null and not exists (select from currency where code = new.sent_currency)) then
    raise exception 'transaction %: in an unknown currency', new.id using errcode = 'foreign_key_violation';
  end if;
  select p.name, p.number into new.source_name, new.source_number
  from name_party(new.platform_id, new.source_account_id, new.customer_id) p;
  select p.name, p.number into new.destination_name, new.destination_number
  from name_party(new.platform_id, new.destination_account_id, new.customer_id) p;
  new.version := 1;
  new.created_at := uuid_v7_time(new.id);
  new.updated_at := new.created_at;
  return new;
end
$$;

-- Before insert on customer, and before an update of its UMA address: the address is in a domain of the customer's platform.
create or replace function guard_uma_address() returns trigger
  language plpgsql
as $$
begin
  if not exists (
    select from uma_domain where domain = split_part(new.uma_address, '@', 2) and platform_id = new.platform_id
  ) then
    raise exception 'customer %: the domain of its UMA address is not of its platform', new.id using errcode = 'LG011';
  end if;
  return new;
end
$$;

-- Tells whether the columns of an account are consistent, and its balance is not negative: the check constraint of its
-- rows. It is a function of the row, because Postgres parses a plain check constraint again in every statement, which
-- took a quarter of the time to write a transaction. A function is parsed once.
create or replace function is_sound_account(a account) returns boolean
  language plpgsql immutable parallel safe
as $$
begin
  return a.posted >= 0
    and case a.kind
          when 'INTERNAL' then a.status is null and a.account_type is null and a.account_info is null
            and a.identifier is null and a.beneficiary is null and not a.default_uma_deposit_account
            and not a.is_deleted
          else a.status is not null and a.account_type is not null and a.account_info is not null
            and a.identifier is not null and a.posted = 0
            and (not a.is_deleted or a.status = 'INACTIVE' and not a.default_uma_deposit_account)
        end;
end
$$;

-- Tells whether the columns of a quote are consistent: the check constraint of its rows. It is a function of the row,
-- because Postgres parses a plain check constraint again in every statement, which took a quarter of the time to write
-- a transaction. A function is parsed once.
create or replace function is_sound_quote(q quote) returns boolean
  language plpgsql immutable parallel safe
as $$
begin
  return q.total_sending_amount between 1 and 9000000000000000
    and q.total_receiving_amount between 1 and 9000000000000000
    and q.fees_included between 0 and q.total_sending_amount
    and q.platform_fee between 0 and q.fees_included
    and q.exchange_rate > 0
    and case q.source_kind
          when 'ACCOUNT' then q.source_account_id is not null
          when 'REALTIME_FUNDING' then q.source_account_id is null
          else false
        end
    and case q.destination_kind
          when 'ACCOUNT' then q.destination_account_id is not null
          when 'UMA_ADDRESS' then q.destination_uma_address is not null
          else false
        end;
end
$$;

-- Tells whether the columns of a transaction are consistent: the check constraint of its rows. It is a function of the
-- row, because Postgres parses a plain check constraint again in every statement, which took a quarter of the time to
-- write a transaction. A function is parsed once.
create or replace function is_sound_transaction(t transaction) returns boolean
  language plpgsql immutable parallel safe
as $$
begin
  return t.sent_amount between 1 and 9000000000000000
    and t.received_amount between 1 and 9000000000000000
    and t.fees >= 0
    and (t.sent_amount is null) = (t.sent_currency is null)
    and (t.status <> 'FAILED' or t.failure_reason is not null)
    and (t.status <> 'COMPLETED' or t.settled_at is not null)
    and (t.refund_reference is null) = (t.refund_amount is null)
    and (t.refund_reference is null) = (t.refund_initiated_at is null)
    and (t.status <> 'REFUNDED' or t.refund_reference is not null)
    and (t.approval_due_at is null or t.type = 'INCOMING');
end
$$;

-- Tells whether a status is final for a payment. (COMPLETED may still become REFUNDED: a bank return.)
create or replace function is_terminal(status transaction_status) returns boolean
  language sql immutable parallel safe
as $$
  select status in ('COMPLETED', 'REJECTED', 'FAILED', 'REFUNDED', 'EXPIRED')
$$;

-- Leases up to p_limit due orders for p_lease_ms, each with all data that its outcome may need. Nobody else takes them
-- in this time. Planned once per connection, in the written order of joins and by keys alone: an order needs some
-- twenty rows among millions, and the search for the best order of these joins took far longer than the joins.
create or replace function lease_orders(p_limit int, p_lease_ms bigint) returns table (
  platform_id uuid, id uuid, kind rail_order_kind, attempts int, scenario jsonb, environment environment, new_id uuid,
  leased_until text, age_ms float8, transaction json, platform_fee bigint, sender_information jsonb,
  sender_uma_address text, source json, destination json, funding_account_id uuid, platform_account_id uuid,
  can_return_fee boolean, receiver_platform_id uuid, receiver_customer_id uuid, receiver_is_active boolean,
  deposit_account_id uuid, incoming json, incoming_destination json, approval_left_ms float8,
  approval_deferred boolean
)
  language plpgsql
  set plan_cache_mode = 'force_generic_plan'
  set join_collapse_limit = 1
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
begin
  return query
  with leased as (
    update rail_order o set due_at = clock_ms() + p_lease_ms * interval '1 millisecond', attempts = o.attempts + 1
    where o.ctid = any (array(
      select d.ctid from rail_order d where d.due_at <= v_now order by d.due_at limit p_limit for update skip locked))
    returning o.*
  )
  select o.platform_id, o.id, o.kind, o.attempts, o.scenario, p.environment, uuid_v7(),
    o.due_at::text, date_part('epoch', clock_timestamp() - o.created_at) * 1000,
    to_json(t), q.platform_fee, q.sender_information, c.uma_address,
    case when s.id is not null then account_party(s) end,
    case when d.id is not null then account_party(d) end,
    -- The internal account of the owner in that currency, where the money comes from outside.
    case when s.kind = 'INTERNAL' then s.id else coalesce(
      (select f.id from account f where f.platform_id = t.platform_id and f.kind = 'INTERNAL' and f.currency = t.sent_currency
         and f.customer_id = case when s.id is null then t.customer_id else s.customer_id end),
      (select f.id from account f where f.platform_id = t.platform_id and f.kind = 'INTERNAL' and f.currency = t.sent_currency
         and f.customer_id is null and case when s.id is null then t.customer_id else s.customer_id end is null),
      t.source_account_id) end,
    pa.id, pa.posted >= q.platform_fee,
    r.platform_id, r.id, not r.is_deleted and r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED'),
    coalesce(rd.id, ri.id),
    case when i.id is not null then to_json(i) end,
    case when ia.id is not null then account_party(ia) end,
    date_part('epoch', coalesce(i.approval_due_at, t.approval_due_at) - clock_timestamp()) * 1000,
    o.approval_deferred
  from leased o
  join platform p on p.id = o.platform_id
  join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
  left join quote q on q.platform_id = t.platform_id and q.id = t.quote_id
  left join customer c on c.platform_id = t.platform_id and c.id = t.customer_id
  left join account s on s.platform_id = t.platform_id and s.id = t.source_account_id
  left join account d on d.platform_id = t.platform_id and d.id = t.destination_account_id
  left join account pa on pa.platform_id = t.platform_id and pa.kind = 'INTERNAL' and pa.customer_id is null
    and pa.currency = t.sent_currency and q.platform_fee > 0
  left join lookup l on l.platform_id = q.platform_id and l.id = q.lookup_id
  left join customer r on r.platform_id = l.receiver_platform_id and r.id = l.receiver_customer_id
  left join account rd on rd.platform_id = r.platform_id and rd.customer_id = r.id and rd.default_uma_deposit_account
    and rd.status = 'ACTIVE' and rd.currency = t.received_currency
  left join account ri on ri.platform_id = r.platform_id and ri.customer_id = r.id and ri.kind = 'INTERNAL'
    and ri.currency = t.received_currency
  left join arrival ar on ar.sender_platform_id = t.platform_id and ar.sender_transaction_id = t.id
  left join transaction i on i.platform_id = ar.platform_id and i.id = ar.transaction_id
  left join account ia on ia.platform_id = i.platform_id and ia.id = i.destination_account_id
  order by o.id;
end
$$;

-- Locks the idempotency keys of plans, in one order. A call with the same key waits for the first one to end, for
-- lock_timeout at most.
create or replace function lock_claims(p_plans jsonb) returns void
  language plpgsql
as $$
begin
  if jsonb_array_length(p_plans) = 1 then
    -- The first try does not wait, since an expression costs less than a statement.
    if pg_try_advisory_xact_lock(claim_lock((p_plans #>> '{0,platform}')::uuid, p_plans #> '{0,plan,claim}')) then
      return;
    end if;
  end if;
  perform pg_advisory_xact_lock(c.lock) from (
    select distinct claim_lock(p.platform, p.plan -> 'claim') as lock
    from jsonb_to_recordset(p_plans) as p(platform uuid, plan jsonb) where p.plan ? 'claim' order by 1
  ) c;
end
$$;

-- Locks the rows that a list of {platform, plan} changes or that decide its checks, before any of it is read. All transactions
-- that commit plans use one order, so that no two of them wait for each other:
--   1. idempotency keys, by their number
--   2. quotes  3. transactions  4. orders for the rail  5. customers  6. internal accounts  7. external accounts, each by
--      platform and id
-- A row that changes is locked for no key update, since rows that refer to it need not wait. A row that must only stay as it is
-- is locked for share, which any number may hold at once. Where the plans of one list do both to customers or to external
-- accounts, all of these are locked for no key update. An alternative changes nothing that its plan does not name
-- (src/ledger/plan.ts). Of a customer that a plan deletes, the internal accounts are locked too, like accounts that change: its
-- deletion depends on their balances, and no customer gets another one.
-- Expressions, which cost far less than statements, collect the ids. Then one statement locks the rows of each table, by key.
create or replace function lock_plans(p_plans jsonb) returns void
  language plpgsql
as $$
declare
  v_platforms uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].platform'));
  v_changed uuid[];
  v_active uuid[];
  v_emptied uuid[] := '{}';
begin
  if p_plans @? '$[*].plan.claim' then
    perform lock_claims(p_plans);
  end if;
  v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.quotes[*] ? (!(@.is_new == true)).id'));
  if cardinality(v_changed) > 0 then
    perform from quote where platform_id = any (v_platforms) and id = any (v_changed) order by platform_id, id for no key update;
  end if;
  v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.transactions[*] ? (!(@.is_new == true)).id'));
  if cardinality(v_changed) > 0 then
    perform from transaction where platform_id = any (v_platforms) and id = any (v_changed)
    order by platform_id, id for no key update;
  end if;
  v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.orders[*].id'));
  if cardinality(v_changed) > 0 then
    perform from rail_order where platform_id = any (v_platforms) and id = any (v_changed)
    order by platform_id, id for no key update;
  end if;

  v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.customers[*].id'));
  v_active := uuids(jsonb_path_query_array(p_plans, '$[*].plan.require_active.customers[*]'))
    || uuids(jsonb_path_query_array(p_plans, '$[*].plan.require_active.undeleted[*]'));
  if cardinality(v_changed) > 0 then
    perform from customer where platform_id = any (v_platforms) and id = any (v_changed || v_active)
    order by platform_id, id for no key update;
    v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.customers[*] ? (@.set.is_deleted == true).id'));
    if cardinality(v_changed) > 0 then
      v_emptied := array(
        select id from account where platform_id = any (v_platforms) and customer_id = any (v_changed) and kind = 'INTERNAL');
    end if;
  elsif cardinality(v_active) > 0 then
    perform from customer where platform_id = any (v_platforms) and id = any (v_active) order by platform_id, id for share;
  end if;

  v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.journals[*].legs[*].account')) || v_emptied;
  if cardinality(v_changed) > 0 then
    perform from account where platform_id = any (v_platforms) and id = any (v_changed) order by platform_id, id for no key update;
  end if;
  v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.accounts[*].id'));
  v_active := uuids(jsonb_path_query_array(p_plans, '$[*].plan.require_active.accounts[*]'));
  if cardinality(v_changed) > 0 then
    -- A new default deposit account also changes the one before.
    if p_plans @? '$[*].plan.accounts[*].set ? (@.default_uma_deposit_account == true)' then
      v_changed := v_changed || array(
        select d.id from account a join account d on d.platform_id = a.platform_id and d.customer_id = a.customer_id
          and d.default_uma_deposit_account
        where a.platform_id = any (v_platforms) and a.id = any (v_changed));
    end if;
    perform from account where platform_id = any (v_platforms) and kind = 'EXTERNAL' and id = any (v_changed || v_active)
    order by platform_id, id for no key update;
  elsif cardinality(v_active) > 0 then
    perform from account where platform_id = any (v_platforms) and kind = 'EXTERNAL' and id = any (v_active)
    order by platform_id, id for share;
  end if;
end
$$;

-- Returns the id of the oldest event in the outbox, of any platform; null when none waits. While the feed moves, it is
-- never the same for long. Runs with the rights of the owner, since the serving role sees one platform at a time.
create or replace function oldest_waiting() returns bigint
  language plpgsql stable
  security definer set search_path = public, pg_temp
  set enable_seqscan = off
as $$
begin
  return (select min(id) from outbox);
end
$$;

-- On records that are written once: refuses every change. A correction is a new record.
create or replace function refuse_change() returns trigger
  language plpgsql
as $$
begin
  raise exception '% is append-only: % refused', tg_table_name, lower(tg_op) using errcode = 'LG001';
end
$$;

-- After insert on platform, and after an update of its UMA domain: the domain is the platform's from now on, also when it
-- takes another one later, so that nobody else ever receives what was meant for its customers' addresses. Of platforms that
-- take one domain at once, one gets it. A domain in which customers of another platform have addresses is taken, too.
-- Runs with the rights of the owner: who serves sees one platform at a time, and writes no domains.
create or replace function reserve_uma_domain() returns trigger
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
begin
  insert into uma_domain (domain, platform_id) values (new.uma_domain, new.id) on conflict (domain) do nothing;
  if not exists (select from uma_domain where domain = new.uma_domain and platform_id = new.id) or exists (
    select from customer
    where split_part(lower(uma_address), '@', 2) = new.uma_domain and platform_id <> new.id and not is_deleted
  ) then
    raise exception 'the UMA domain % is taken', new.uma_domain using errcode = 'unique_violation';
  end if;
  return null;
end
$$;

-- Moves committed events from the outbox to the feed, oldest first: gives each the next number of its platform, and
-- notifies all instances once. Rows are deleted, not passed by a moving cursor, so an event that commits late is
-- numbered late and never missed. Only one caller runs at a time (the advisory lock of the sequencer), so nobody moves
-- a row between the first read and the delete. Planned once per connection, by keys, because the outbox is empty at
-- times.
create or replace function sequence_outbox(p_limit int) returns int
  language plpgsql
  security definer set search_path = public, pg_temp
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
as $$
declare
  v_heads text[];
  v_count int;
begin
  with taken as (
    delete from outbox where ctid = any (array(select ctid from outbox order by id limit p_limit)) returning *
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

  -- A notification has less than 8,000 bytes: about 57 bytes for each platform.
  for v_from in 1 .. coalesce(array_length(v_heads, 1), 0) by 100 loop
    perform pg_notify('feed', array_to_string(v_heads[v_from : v_from + 99], ','));
  end loop;
  return v_count;
end
$$;

-- Before update on customers: sets the next version, and the time of the clock of the database.
create or replace function stamp_change() returns trigger
  language plpgsql
as $$
begin
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;

-- Before insert on lookup: sets its creation time, which is in its id, and its expiry ten minutes later.
create or replace function stamp_lookup() returns trigger
  language plpgsql
as $$
begin
  new.created_at := uuid_v7_time(new.id);
  new.expires_at := new.created_at + interval '10 minutes';
  return new;
end
$$;

-- Before insert on every versioned table: sets version 1 and the creation time, which is in the id.
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

-- Makes the order due now that waits for a decision on this incoming transaction: its own, or that of the payment that sent
-- it, which may be another platform's. Runs with the rights of the owner, since the serving role sees one platform at a time.
create or replace function wake_orders(p_platform uuid, p_transaction uuid) returns void
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
begin
  update rail_order o set due_at = clock_ms()
  where o.due_at is not null and ((o.platform_id = p_platform and o.transaction_id = p_transaction)
    or (o.platform_id, o.transaction_id) in (
      select a.sender_platform_id, a.sender_transaction_id from arrival a
      where a.platform_id = p_platform and a.transaction_id = p_transaction));
end
$$;

-- What Prisma cannot say ---------------------------------------------------------------------------------------------

-- Check constraints. On the busiest tables they are functions of the row (is_sound_account says why).
-- Free space in the pages of tables whose rows change, for heap-only updates.
ALTER TABLE "account" ADD CONSTRAINT "account_sound" CHECK (is_sound_account("account")), SET (fillfactor = 75);
ALTER TABLE "quote" ADD CONSTRAINT "quote_sound" CHECK (is_sound_quote("quote")), SET (fillfactor = 75);
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_sound" CHECK (is_sound_transaction("transaction")), SET (fillfactor = 75);
ALTER TABLE "posting"
  ADD CONSTRAINT "posting_amount" CHECK ("amount" <> 0),
  ADD CONSTRAINT "posting_side" CHECK (("account_id" IS NULL) <> ("system" IS NULL)),
  ADD CONSTRAINT "posting_chain" CHECK (("account_id" IS NULL) = ("balance_after" IS NULL) AND ("account_id" IS NULL) = ("account_version" IS NULL));
-- A limit of rate has both its numbers or neither.
ALTER TABLE "platform"
  ADD CONSTRAINT "platform_rate" CHECK (num_nulls("rate_limit", "rate_burst") <> 1 AND least("rate_limit", "rate_burst") > 0),
  ADD CONSTRAINT "platform_api_token_rate" CHECK (num_nulls("api_token_rate_limit", "api_token_rate_burst") <> 1 AND least("api_token_rate_limit", "api_token_rate_burst") > 0),
  ADD CONSTRAINT "platform_client_token_rate" CHECK (num_nulls("client_token_rate_limit", "client_token_rate_burst") <> 1 AND least("client_token_rate_limit", "client_token_rate_burst") > 0);
-- Frequent updates of columns without an index: they stay in their page, and vacuum has little to do
ALTER TABLE "resume_point" SET (fillfactor = 50);
ALTER TABLE "platform_fee" ADD CONSTRAINT "platform_fee_range" CHECK ("fixed_fee" >= 0 AND "variable_fee_rate" >= 0 AND "variable_fee_rate" < 1);
-- 1 to 255 printable characters of ASCII. A count up to 255 in the regular expression took most of the time to write a record.
ALTER TABLE "idempotency_record" ADD CONSTRAINT "idempotency_key_form" CHECK (length("key") BETWEEN 1 AND 255 AND "key" !~ '[^\x21-\x7e]');
-- A client token is bound to exactly one record, and never has a permission that is only for a platform's server. That of a
-- customer ends with this customer.
ALTER TABLE "client_token"
  ADD CONSTRAINT "client_token_bound_to_one" CHECK (num_nonnulls("customer_id", "quote_id", "transaction_id") = 1),
  ADD CONSTRAINT "client_token_owner" CHECK ("customer_id" IS NULL OR "customer_id" IS NOT DISTINCT FROM "owner_id"),
  ADD CONSTRAINT "client_token_permissions" CHECK ("permissions" <@ array['VIEW', 'TRANSACT']::permission[]);
ALTER TABLE "webhook_endpoint"
  ADD CONSTRAINT "webhook_endpoint_types" CHECK ("event_types" IS NOT NULL AND cardinality("event_types") > 0),
  ADD CONSTRAINT "webhook_endpoint_previous_secret" CHECK (("previous_secret" IS NULL) = ("previous_secret_until" IS NULL)),
  ADD CONSTRAINT "webhook_endpoint_disabled" CHECK (("status" = 'DISABLED') = ("disabled_at" IS NOT NULL));
-- A pending delivery has a next attempt, and no other has one.
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_next" CHECK (("status" = 'PENDING') = ("next_attempt_at" IS NOT NULL));
-- Exactly one row.
ALTER TABLE "clock_reading" ADD CONSTRAINT "clock_reading_one" CHECK ("id");
ALTER TABLE "key_in_use" ADD CONSTRAINT "key_in_use_setting" CHECK ("setting" IN ('SECRET_KEY', 'CLIENT_TOKEN_KEY'));
INSERT INTO "clock_reading" DEFAULT VALUES;

-- One internal account per owner and currency; one external account that is not INACTIVE per owner, currency and identifier;
-- one default for incoming UMA payments per customer; one customer that is not deleted per UMA address; at most one endpoint
-- that the settings of a platform name.
CREATE UNIQUE INDEX "account_internal_owner" ON "account" ("platform_id", "customer_id", "currency") NULLS NOT DISTINCT WHERE "kind" = 'INTERNAL';
CREATE UNIQUE INDEX "account_external_identifier" ON "account" ("platform_id", "customer_id", "currency", "account_type", "identifier") NULLS NOT DISTINCT WHERE "kind" = 'EXTERNAL' AND "status" <> 'INACTIVE';
CREATE UNIQUE INDEX "account_default_uma_deposit" ON "account" ("platform_id", "customer_id") WHERE "default_uma_deposit_account";
CREATE UNIQUE INDEX "customer_uma_address" ON "customer" (lower("uma_address")) WHERE NOT "is_deleted";
CREATE UNIQUE INDEX "webhook_endpoint_of_config" ON "webhook_endpoint" ("platform_id") WHERE "of_config";
-- One posting per account and version, among the legs that have an account: most have none.
CREATE UNIQUE INDEX "posting_chain_of_account" ON "posting" ("platform_id", "account_id", "account_version") WHERE "account_id" IS NOT NULL;

-- The events of a customer itself, among those of all its payments
CREATE INDEX "event_of_customer_itself" ON "event" ("platform_id", "customer_id", "sequence") WHERE "type" IN ('KYC_STATUS', 'CUSTOMER_CHANGE');

-- Pending work
CREATE INDEX "quote_expiry" ON "quote" ("expires_at") WHERE "status" = 'PENDING';
CREATE INDEX "rail_order_due" ON "rail_order" ("due_at") WHERE "due_at" IS NOT NULL;
CREATE INDEX "webhook_delivery_due" ON "webhook_delivery" ("platform_id", "endpoint_id", "next_attempt_at") WHERE "status" = 'PENDING';
CREATE INDEX "webhook_delivery_leased" ON "webhook_delivery" ("platform_id", "endpoint_id") WHERE "leased_until" IS NOT NULL;
CREATE INDEX "webhook_delivery_questions" ON "webhook_delivery" ("next_attempt_at") WHERE "status" = 'PENDING' AND "question";
-- Refunds that wait in suspense, for the operator
CREATE INDEX "transaction_refund_waits" ON "transaction" ("refund_initiated_at") WHERE "refund_reference" IS NOT NULL AND "refund_settled_at" IS NULL;
-- Lookups that no quote names are deleted when they are old; those of a token that have not expired are counted
CREATE INDEX "lookup_expiry" ON "lookup" ("expires_at");
CREATE INDEX "lookup_of_token" ON "lookup" ("platform_id", "token_id", "expires_at");
CREATE INDEX "quote_lookup" ON "quote" ("platform_id", "lookup_id") WHERE "lookup_id" IS NOT NULL;
-- Filters of lists (docs/lists.md): of the rows that few have, so that the others cost nothing
CREATE INDEX "customer_name" ON "customer" ("platform_id", (lower("name")) COLLATE "C");
CREATE INDEX "account_status" ON "account" ("platform_id", "status", "id") WHERE "status" IS NOT NULL;
CREATE INDEX "account_account_type" ON "account" ("platform_id", "account_type", "id") WHERE "account_type" IS NOT NULL;
CREATE INDEX "account_verification" ON "account" ("platform_id", "beneficiary_verification_status", "id") WHERE "beneficiary_verification_status" IS NOT NULL;
CREATE INDEX "transaction_failure_reason" ON "transaction" ("platform_id", "failure_reason", "id") WHERE "failure_reason" IS NOT NULL;
CREATE INDEX "transaction_begun" ON "transaction" ("platform_id", "id") WHERE "quote_id" IS NULL OR ("status" <> 'PENDING' AND "status" <> 'EXPIRED');
CREATE INDEX "webhook_delivery_undelivered" ON "webhook_delivery" ("platform_id", "endpoint_id", "id") WHERE "status" <> 'DELIVERED';

-- The allowed moves of statuses
INSERT INTO "quote_move" ("from", "to") VALUES
  ('PENDING', 'PROCESSING'), ('PENDING', 'EXPIRED'), ('PENDING', 'FAILED'), ('PROCESSING', 'COMPLETED'), ('PROCESSING', 'FAILED');
INSERT INTO "transaction_move" ("from", "to") VALUES
  ('CREATED', 'PENDING'), ('CREATED', 'EXPIRED'), ('CREATED', 'FAILED'),
  ('PENDING', 'PROCESSING'), ('PENDING', 'COMPLETED'), ('PENDING', 'REJECTED'), ('PENDING', 'FAILED'), ('PENDING', 'EXPIRED'),
  ('PROCESSING', 'COMPLETED'), ('PROCESSING', 'REJECTED'), ('PROCESSING', 'FAILED'),
  ('COMPLETED', 'REFUNDED');
INSERT INTO "external_account_move" ("from", "to") VALUES
  ('PENDING', 'ACTIVE'), ('PENDING', 'UNDER_REVIEW'), ('PENDING', 'INACTIVE'),
  ('ACTIVE', 'UNDER_REVIEW'), ('ACTIVE', 'INACTIVE'),
  ('UNDER_REVIEW', 'ACTIVE'), ('UNDER_REVIEW', 'INACTIVE'),
  ('INACTIVE', 'ACTIVE');

INSERT INTO "currency" ("code", "name", "symbol", "decimals") VALUES
  ('USD', 'US Dollar', '$', 2), ('EUR', 'Euro', '€', 2), ('GBP', 'British Pound', '£', 2), ('MXN', 'Mexican Peso', 'MX$', 2),
  ('BRL', 'Brazilian Real', 'R$', 2), ('INR', 'Indian Rupee', '₹', 2), ('NGN', 'Nigerian Naira', '₦', 2), ('CAD', 'Canadian Dollar', 'CA$', 2),
  ('PHP', 'Philippine Peso', '₱', 2), ('SGD', 'Singapore Dollar', 'S$', 2), ('JPY', 'Japanese Yen', '¥', 0), ('BTC', 'Bitcoin', '₿', 8),
  ('USDC', 'USD Coin', 'USDC', 6), ('USDT', 'Tether', 'USDT', 6);

-- New rows get their version and times, and start with an allowed status
CREATE TRIGGER "stamp" BEFORE INSERT ON "customer" FOR EACH ROW EXECUTE FUNCTION stamp_new_row();
CREATE TRIGGER "stamp" BEFORE INSERT ON "account" FOR EACH ROW EXECUTE FUNCTION stamp_new_row();
CREATE TRIGGER "start" BEFORE INSERT ON "account" FOR EACH ROW EXECUTE FUNCTION guard_account_start();
CREATE TRIGGER "start" BEFORE INSERT ON "quote" FOR EACH ROW EXECUTE FUNCTION guard_quote_start();
CREATE TRIGGER "start" BEFORE INSERT ON "transaction" FOR EACH ROW EXECUTE FUNCTION guard_transaction_start();
CREATE TRIGGER "stamp" BEFORE INSERT ON "lookup" FOR EACH ROW EXECUTE FUNCTION stamp_lookup();

-- Changes are checked before, and announced after
CREATE TRIGGER "guard" BEFORE UPDATE ON "customer" FOR EACH ROW EXECUTE FUNCTION stamp_change();
CREATE TRIGGER "guard" BEFORE UPDATE ON "account" FOR EACH ROW EXECUTE FUNCTION guard_account();
CREATE TRIGGER "guard" BEFORE UPDATE ON "quote" FOR EACH ROW EXECUTE FUNCTION guard_quote();
CREATE TRIGGER "guard" BEFORE UPDATE ON "transaction" FOR EACH ROW EXECUTE FUNCTION guard_transaction();
CREATE TRIGGER "address" BEFORE INSERT OR UPDATE OF "uma_address" ON "customer" FOR EACH ROW EXECUTE FUNCTION guard_uma_address();
CREATE TRIGGER "reserve" AFTER INSERT OR UPDATE OF "uma_domain" ON "platform" FOR EACH ROW EXECUTE FUNCTION reserve_uma_domain();
CREATE TRIGGER "announce" AFTER INSERT OR UPDATE ON "customer" FOR EACH ROW EXECUTE FUNCTION announce_customer();
CREATE TRIGGER "announce" AFTER INSERT OR UPDATE ON "account" FOR EACH ROW EXECUTE FUNCTION announce_account();
CREATE TRIGGER "announce" AFTER UPDATE ON "webhook_delivery" FOR EACH ROW
  WHEN (old."status" = 'PENDING' AND new."status" <> 'PENDING') EXECUTE FUNCTION announce_delivery();
CREATE TRIGGER "announce" AFTER INSERT ON "quote" REFERENCING NEW TABLE AS "now_is" FOR EACH STATEMENT EXECUTE FUNCTION announce_quote();
CREATE TRIGGER "announce_moved" AFTER UPDATE ON "quote" REFERENCING OLD TABLE AS "was" NEW TABLE AS "now_is" FOR EACH STATEMENT EXECUTE FUNCTION announce_quote();
CREATE TRIGGER "announce" AFTER INSERT ON "transaction" REFERENCING NEW TABLE AS "now_is" FOR EACH STATEMENT EXECUTE FUNCTION announce_transaction();
CREATE TRIGGER "announce_moved" AFTER UPDATE ON "transaction" REFERENCING OLD TABLE AS "was" NEW TABLE AS "now_is" FOR EACH STATEMENT EXECUTE FUNCTION announce_transaction();

-- A leg on an account changes its balance; each statement checks its legs once; a journal must balance when it commits
CREATE TRIGGER "apply" BEFORE INSERT ON "posting" FOR EACH ROW WHEN (new."account_id" IS NOT NULL) EXECUTE FUNCTION apply_posting();
CREATE TRIGGER "legs" AFTER INSERT ON "posting" REFERENCING NEW TABLE AS "leg" FOR EACH STATEMENT EXECUTE FUNCTION check_legs();
CREATE CONSTRAINT TRIGGER "balance" AFTER INSERT ON "journal" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_journal();

-- Only sequence_outbox writes the feed; triggers write the outbox, and other rows of it are checked
CREATE TRIGGER "guard" BEFORE INSERT ON "outbox" FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION guard_outbox();
CREATE TRIGGER "guard" BEFORE INSERT ON "event" FOR EACH STATEMENT EXECUTE FUNCTION guard_feed();

-- Records that are written once, and rows that others name, are never deleted
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "journal" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "posting" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "event" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "arrival" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "uma_domain" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "append_only" BEFORE UPDATE OF "code" OR DELETE ON "currency" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_delete" BEFORE DELETE ON "customer" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_delete" BEFORE DELETE ON "account" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_delete" BEFORE DELETE ON "quote" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_delete" BEFORE DELETE ON "transaction" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "journal" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "posting" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "uma_domain" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "event" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "currency" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "account" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "quote" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "transaction" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The wall of the database (docs/database-roles.md). Two roles serve: gateway_serving answers requests and sees one platform
-- at a time, gateway_work does background work for all platforms. Neither owns a table. A login is a member of them.
DO $$
DECLARE
  v_role text;
BEGIN
  FOREACH v_role IN ARRAY array['gateway_serving', 'gateway_work'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = v_role) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        -- The migration of another database of this server has just made it.
        NULL;
      END;
    END IF;
  END LOOP;
END
$$;
GRANT USAGE ON SCHEMA "public" TO "gateway_serving", "gateway_work";

-- What both read: all that a platform may see of itself, and which migrations were applied
GRANT SELECT ON "platform", "uma_domain", "platform_fee", "api_token", "client_token", "currency", "customer", "account", "quote", "transaction",
  "journal", "posting", "idempotency_record", "rail_order", "lookup", "event", "feed_head", "webhook_endpoint", "webhook_delivery",
  "webhook_attempt", "resume_point", "trusted_document", "document_use" TO "gateway_serving";
GRANT SELECT ON ALL TABLES IN SCHEMA "public" TO "gateway_work";
DO $$
BEGIN
  IF to_regclass('public._prisma_migrations') IS NOT NULL THEN
    GRANT SELECT ON "_prisma_migrations" TO PUBLIC;
  END IF;
END
$$;

-- Plain records of a platform. Money, statuses and events change only in commit_batches and sequence_outbox. A row may be
-- locked by who may update one of its columns: the version of a customer, which a trigger sets anyway
GRANT INSERT ON "api_token", "client_token", "idempotency_record", "lookup", "webhook_endpoint", "webhook_delivery", "outbox"
  TO "gateway_serving", "gateway_work";
GRANT SELECT ("event_id") ON "outbox" TO "gateway_serving";
GRANT USAGE ON SEQUENCE "outbox_id_seq" TO "gateway_serving", "gateway_work";
GRANT UPDATE ("uma_domain", "currencies", "trusted_documents", "updated_at") ON "platform" TO "gateway_serving", "gateway_work";
GRANT UPDATE ("last_used_at", "revoked_at") ON "api_token" TO "gateway_serving", "gateway_work";
GRANT UPDATE ("revoked_at") ON "client_token" TO "gateway_serving", "gateway_work";
GRANT UPDATE ("result") ON "idempotency_record" TO "gateway_serving", "gateway_work";
GRANT UPDATE ("version") ON "customer" TO "gateway_work";
GRANT UPDATE, DELETE ON "webhook_endpoint" TO "gateway_serving", "gateway_work";
GRANT SELECT, INSERT ON "key_in_use" TO "gateway_serving", "gateway_work";
GRANT UPDATE ON "webhook_delivery" TO "gateway_serving", "gateway_work";
GRANT INSERT, UPDATE, DELETE ON "resume_point" TO "gateway_serving", "gateway_work";
GRANT INSERT, DELETE ON "trusted_document" TO "gateway_serving", "gateway_work";
GRANT INSERT ON "document_use" TO "gateway_serving";
GRANT UPDATE ("uses", "last_used_at") ON "document_use" TO "gateway_serving", "gateway_work";
GRANT DELETE ON "document_use" TO "gateway_work";

-- Background work and the operator's commands
GRANT INSERT ON "platform", "webhook_attempt", "rail_case", "rail_connection" TO "gateway_work";
GRANT UPDATE ("times", "closed_at", "closed_by", "closed_reason") ON "rail_case" TO "gateway_work";
GRANT UPDATE ("sealed", "updated_at") ON "rail_connection" TO "gateway_work";
GRANT UPDATE ("rate_limit", "rate_burst", "api_token_rate_limit", "api_token_rate_burst", "client_token_rate_limit",
  "client_token_rate_burst") ON "platform" TO "gateway_work";
GRANT INSERT, UPDATE, DELETE ON "platform_fee" TO "gateway_work";
GRANT UPDATE ("due_at", "attempts", "approval_deferred") ON "rail_order" TO "gateway_work";
GRANT UPDATE ("due_at", "attempts") ON "account_check" TO "gateway_work";
GRANT UPDATE ("expires_at") ON "lookup" TO "gateway_work";
GRANT DELETE ON "idempotency_record", "client_token", "lookup", "webhook_delivery", "key_in_use", "rail_connection" TO "gateway_work";

-- These functions run with the rights of the owner
REVOKE EXECUTE ON FUNCTION commit_batches(jsonb), sequence_outbox(int), follow_clock(), find_api_token(text),
  find_live_tokens(uuid[], uuid[]), find_receiver(text, environment), wake_orders(uuid, uuid), oldest_waiting() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION commit_batches(jsonb), find_api_token(text), find_live_tokens(uuid[], uuid[]),
  find_receiver(text, environment), wake_orders(uuid, uuid), oldest_waiting() TO "gateway_serving", "gateway_work";
GRANT EXECUTE ON FUNCTION sequence_outbox(int), follow_clock() TO "gateway_work";

-- Row-level security: every table with a platform, and the platforms. Without a platform no row is seen. The owner sees all
DO $$
DECLARE
  v_table regclass;
  v_column text;
  v_platform text := 'current_setting(''gateway.platform'', true)::uuid';
BEGIN
  FOR v_table, v_column IN
    SELECT attrelid::regclass, attname FROM pg_attribute
    WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p'))
      AND attname = CASE attrelid WHEN 'platform'::regclass THEN 'id' ELSE 'platform_id' END AND NOT attisdropped
  LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format('CREATE POLICY "all_platforms" ON %s TO "gateway_work" USING (true)', v_table);
    EXECUTE format('CREATE POLICY "one_platform" ON %s TO "gateway_serving" USING (%I = %s)%s', v_table, v_column, v_platform,
      -- Only triggers announce what happened to money; an event without one is a test.
      CASE v_table WHEN 'outbox'::regclass THEN format(' WITH CHECK (%I = %s AND "type" = ''TEST'')', v_column, v_platform) END);
  END LOOP;
END
$$;

-- The serving role reads these four through views of the same name, which its search path finds first (docs/database-roles.md,
-- "What does it cost?"): below row-level security no index serves a condition on an enum or on lower(), which are not leakproof
CREATE SCHEMA "serving";
GRANT USAGE ON SCHEMA "serving" TO "gateway_serving";
CREATE VIEW "serving"."transaction" AS
  SELECT * FROM "public"."transaction" WHERE "platform_id" = current_setting('gateway.platform', true)::uuid;
CREATE VIEW "serving"."quote" AS
  SELECT * FROM "public"."quote" WHERE "platform_id" = current_setting('gateway.platform', true)::uuid;
CREATE VIEW "serving"."customer" AS
  SELECT * FROM "public"."customer" WHERE "platform_id" = current_setting('gateway.platform', true)::uuid;
CREATE VIEW "serving"."account" AS
  SELECT * FROM "public"."account" WHERE "platform_id" = current_setting('gateway.platform', true)::uuid;
GRANT SELECT ON "serving"."transaction", "serving"."quote", "serving"."customer", "serving"."account" TO "gateway_serving";
GRANT UPDATE ("version") ON "serving"."customer" TO "gateway_serving";
