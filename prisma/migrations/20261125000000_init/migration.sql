-- The database of the service: functions that defaults of columns call, types, tables with their indexes, foreign keys, functions,
-- then what Prisma cannot say. Functions are those of prisma/functions.

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

create type environment as enum ('SANDBOX', 'PRODUCTION');
create type permission as enum ('VIEW', 'TRANSACT', 'MANAGE');
create type client_grant as enum ('LOOK_UP_RECEIVERS', 'ADD_BENEFICIARIES');
create type trusted_document_policy as enum ('OPTIONAL', 'APPS', 'ALL');
create type customer_type as enum ('INDIVIDUAL', 'BUSINESS');
create type kyc_status as enum ('APPROVED', 'REJECTED', 'PENDING_REVIEW', 'EXPIRED', 'CANCELED', 'MANUALLY_APPROVED', 'MANUALLY_REJECTED');
create type account_kind as enum ('INTERNAL', 'EXTERNAL');
create type external_account_status as enum ('PENDING', 'ACTIVE', 'UNDER_REVIEW', 'INACTIVE');
create type external_account_type as enum ('US_ACCOUNT', 'CLABE', 'PIX', 'IBAN', 'UPI', 'NGN_ACCOUNT', 'CAD_ACCOUNT', 'GBP_ACCOUNT', 'PHP_ACCOUNT', 'SGD_ACCOUNT', 'LAYER2_WALLET', 'LIGHTNING', 'SOLANA_WALLET', 'TRON_WALLET', 'POLYGON_WALLET', 'BASE_WALLET');
create type beneficiary_verification_status as enum ('MATCHED', 'PARTIAL_MATCH', 'NOT_MATCHED', 'UNSUPPORTED', 'CHECKED_BY_RECEIVING_FI', 'PENDING');
create type quote_status as enum ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'EXPIRED');
create type transaction_status as enum ('CREATED', 'PENDING', 'PROCESSING', 'COMPLETED', 'REJECTED', 'FAILED', 'REFUNDED', 'EXPIRED');
create type transaction_type as enum ('INCOMING', 'OUTGOING');
create type locked_currency_side as enum ('SENDING', 'RECEIVING');
create type party_kind as enum ('ACCOUNT', 'REALTIME_FUNDING', 'UMA_ADDRESS');
create type failure_reason as enum ('LNURLP_FAILED', 'PAY_REQUEST_FAILED', 'PAYMENT_APPROVAL_WEBHOOK_ERROR', 'PAYMENT_APPROVAL_TIMED_OUT', 'OFFRAMP_FAILED', 'MISSING_MANDATORY_PAYEE_DATA', 'QUOTE_EXPIRED', 'QUOTE_EXECUTION_FAILED');
create type system_account as enum ('OUTSIDE', 'CLEARING', 'LIQUIDITY', 'FEES', 'SUSPENSE', 'ADJUSTMENTS', 'DIFFERENCES');
create type rail_order_kind as enum ('PAYOUT', 'COLLECTION');
create type event_type as enum ('OUTGOING_PAYMENT', 'INCOMING_PAYMENT', 'ACCOUNT_STATUS', 'KYC_STATUS', 'TEST', 'QUOTE_STATUS', 'EXTERNAL_ACCOUNT_STATUS', 'CUSTOMER_CHANGE', 'ACCOUNT_CHANGE', 'WEBHOOK_DELIVERY');
create type webhook_endpoint_status as enum ('ENABLED', 'FAILING', 'DISABLED');
create type webhook_delivery_status as enum ('PENDING', 'DELIVERED', 'FAILED');
create type rail_case_kind as enum ('OTHER_OUTCOME', 'OTHER_AMOUNT');
create type deposit_status as enum ('RECEIVED', 'CREDITED', 'UNATTRIBUTED', 'CLOSED');
create type adjustment_status as enum ('PROPOSED', 'APPROVED', 'REJECTED');
create type reconciliation_fault as enum ('MISSING_THERE', 'MISSING_HERE', 'TWICE', 'OTHER_AMOUNT', 'OTHER_OUTCOME', 'OTHER_BALANCE');

create table platform (
  id uuid not null default uuid_v7(),
  name text not null,
  environment environment not null,
  uma_domain text not null,
  currencies text[],
  rate_limit integer,
  rate_burst integer,
  api_token_rate_limit integer,
  api_token_rate_burst integer,
  client_token_rate_limit integer,
  client_token_rate_burst integer,
  trusted_documents trusted_document_policy not null default 'OPTIONAL',
  created_at timestamptz(3) not null default clock_ms(),
  updated_at timestamptz(3) not null default clock_ms(),
  primary key (id)
);
create unique index platform_name_key on platform (name);
create unique index platform_uma_domain_key on platform (uma_domain);

create table uma_domain (
  domain text not null,
  platform_id uuid not null,
  created_at timestamptz(3) not null default clock_ms(),
  primary key (domain)
);
create index uma_domain_platform_id_idx on uma_domain (platform_id);

create table platform_fee (
  platform_id uuid not null,
  sending_currency text not null,
  fixed_fee bigint not null,
  variable_fee_rate decimal(12,10) not null,
  primary key (platform_id, sending_currency)
);

create table api_token (
  platform_id uuid not null,
  id uuid not null default uuid_v7(),
  client_id text not null,
  secret_hash bytea not null,
  name text not null,
  permissions permission[],
  created_at timestamptz(3) not null default clock_ms(),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  created_by_id uuid,
  primary key (platform_id, id)
);
create unique index api_token_client_id_key on api_token (client_id);
create index api_token_platform_id_created_by_id_idx on api_token (platform_id, created_by_id);

create table client_token (
  platform_id uuid not null,
  id uuid not null default uuid_v7(),
  customer_id uuid,
  quote_id uuid,
  transaction_id uuid,
  permissions permission[],
  grants client_grant[] default array[]::client_grant[],
  trusted_documents_only boolean not null default false,
  created_at timestamptz(3) not null default clock_ms(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  created_by_id uuid,
  owner_id uuid,
  primary key (platform_id, id)
);
create index client_token_platform_id_created_by_id_expires_at_idx on client_token (platform_id, created_by_id, expires_at);
create index client_token_platform_id_owner_id_expires_at_idx on client_token (platform_id, owner_id, expires_at);
create index client_token_expires_at_idx on client_token (expires_at);

create table trusted_document (
  platform_id uuid not null,
  hash text not null,
  text text not null,
  digest bytea not null,
  created_at timestamptz(3) not null default clock_ms(),
  primary key (platform_id, hash)
);
create index trusted_document_platform_id_digest_idx on trusted_document (platform_id, digest);

create table currency (
  code text not null,
  name text not null,
  symbol text not null,
  decimals smallint not null,
  primary key (code)
);

create table customer (
  platform_id uuid not null,
  id uuid not null,
  platform_customer_id text not null,
  customer_type customer_type not null,
  uma_address text not null,
  kyc_status kyc_status not null,
  is_deleted boolean not null default false,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  name text,
  birth_date date,
  nationality text,
  registration_number text,
  tax_id text,
  address jsonb,
  beneficial_owners jsonb not null default '[]',
  metadata jsonb,
  frozen_at timestamptz(3),
  primary key (platform_id, id)
);
create index customer_platform_id_platform_customer_id_idx on customer (platform_id, platform_customer_id);
create index customer_platform_id_uma_address_idx on customer (platform_id, uma_address);
create index customer_platform_id_updated_at_id_idx on customer (platform_id, updated_at, id);
create index customer_platform_id_kyc_status_id_idx on customer (platform_id, kyc_status, id);

create table account (
  platform_id uuid not null,
  id uuid not null,
  kind account_kind not null,
  customer_id uuid,
  currency text not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  posted bigint not null default 0,
  funding_instructions jsonb not null default '[]',
  status external_account_status,
  status_reason text,
  account_type external_account_type,
  account_info jsonb,
  identifier text,
  bank text,
  beneficiary jsonb,
  platform_account_id text,
  default_uma_deposit_account boolean not null default false,
  beneficiary_verification_status beneficiary_verification_status,
  beneficiary_verified_name text,
  is_deleted boolean not null default false,
  metadata jsonb,
  frozen_at timestamptz(3),
  primary key (platform_id, id)
);
create index account_platform_id_currency_id_idx on account (platform_id, currency, id);
create index account_platform_id_customer_id_id_idx on account (platform_id, customer_id, id);

create table account_check (
  platform_id uuid not null,
  account_id uuid not null,
  due_at timestamptz(3) not null,
  attempts integer not null default 0,
  primary key (platform_id, account_id)
);
create index account_check_due_at_idx on account_check (due_at);

create table identity_check (
  platform_id uuid not null,
  customer_id uuid not null,
  due_at timestamptz(3) not null,
  attempts integer not null default 0,
  primary key (platform_id, customer_id)
);
create index identity_check_due_at_idx on identity_check (due_at);

create table quote (
  platform_id uuid not null,
  id uuid not null,
  status quote_status not null,
  status_reason text,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  transaction_id uuid not null,
  customer_id uuid,
  source_kind party_kind not null,
  source_account_id uuid,
  destination_kind party_kind not null,
  destination_account_id uuid,
  destination_uma_address text,
  lookup_id uuid,
  sending_currency text not null,
  receiving_currency text not null,
  total_sending_amount bigint not null,
  total_receiving_amount bigint not null,
  locked_currency_side locked_currency_side not null,
  exchange_rate decimal(32,18) not null,
  fees_included bigint not null,
  platform_fee bigint not null,
  pricing jsonb not null,
  description text,
  payment_instructions jsonb not null default '[]',
  sender_information jsonb not null default '{}',
  scenario jsonb,
  metadata jsonb,
  rate_lock jsonb,
  primary key (platform_id, id)
);
create index quote_platform_id_customer_id_id_idx on quote (platform_id, customer_id, id);
create index quote_platform_id_status_id_idx on quote (platform_id, status, id);
create index quote_platform_id_source_account_id_id_idx on quote (platform_id, source_account_id, id);
create index quote_platform_id_destination_account_id_id_idx on quote (platform_id, destination_account_id, id);
create unique index quote_platform_id_transaction_id_key on quote (platform_id, transaction_id);

create table transaction (
  platform_id uuid not null,
  id uuid not null,
  type transaction_type not null,
  status transaction_status not null,
  status_reason text,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  settled_at timestamptz(3),
  expected_settlement_at timestamptz(3),
  customer_id uuid,
  quote_id uuid,
  sent_amount bigint,
  sent_currency text,
  received_amount bigint,
  received_currency text not null,
  source_kind party_kind,
  source_account_id uuid,
  source_uma_address text,
  destination_kind party_kind not null,
  destination_account_id uuid,
  destination_uma_address text,
  source_name text,
  source_number text,
  destination_name text,
  destination_number text,
  exchange_rate decimal(32,18),
  fees bigint,
  rate_details jsonb,
  failure_reason failure_reason,
  refund_reference text,
  refund_amount bigint,
  refund_initiated_at timestamptz(3),
  refund_settled_at timestamptz(3),
  reference text not null,
  counterparty_information jsonb not null default '{}',
  description text,
  approval_due_at timestamptz(3),
  requested_information jsonb,
  metadata jsonb,
  primary key (platform_id, id)
);
create index transaction_platform_id_customer_id_id_idx on transaction (platform_id, customer_id, id);
create index transaction_platform_id_status_id_idx on transaction (platform_id, status, id);
create index transaction_platform_id_reference_idx on transaction (platform_id, reference);
create index transaction_platform_id_source_account_id_id_idx on transaction (platform_id, source_account_id, id);
create index transaction_platform_id_destination_account_id_id_idx on transaction (platform_id, destination_account_id, id);
create index transaction_platform_id_type_id_idx on transaction (platform_id, type, id);
create index transaction_platform_id_sent_currency_sent_amount_idx on transaction (platform_id, sent_currency, sent_amount);
create index transaction_platform_id_received_currency_received_amount_idx on transaction (platform_id, received_currency, received_amount);
create index transaction_platform_id_updated_at_id_idx on transaction (platform_id, updated_at, id);

create table quote_move (
  "from" quote_status not null,
  "to" quote_status not null,
  primary key ("from", "to")
);

create table transaction_move (
  "from" transaction_status not null,
  "to" transaction_status not null,
  primary key ("from", "to")
);

create table external_account_move (
  "from" external_account_status not null,
  "to" external_account_status not null,
  primary key ("from", "to")
);

create table journal (
  platform_id uuid not null,
  id uuid not null default uuid_v7(),
  transaction_id uuid,
  kind text not null,
  created_at timestamptz(3) not null,
  primary key (platform_id, id)
);
create index journal_platform_id_transaction_id_idx on journal (platform_id, transaction_id);

create table posting (
  platform_id uuid not null,
  journal_id uuid not null,
  leg smallint not null,
  account_id uuid,
  system system_account,
  currency text not null,
  amount bigint not null,
  balance_after bigint,
  account_version integer,
  primary key (platform_id, journal_id, leg)
);

create table idempotency_record (
  platform_id uuid not null,
  operation text not null,
  key text not null,
  request_hash bytea not null,
  created_at timestamptz(3) not null default clock_ms(),
  refusal jsonb,
  result jsonb,
  primary key (platform_id, operation, key)
);
create index idempotency_record_created_at_idx on idempotency_record (created_at);

create table rail_order (
  platform_id uuid not null,
  id uuid not null,
  transaction_id uuid not null,
  kind rail_order_kind not null,
  created_at timestamptz(3) not null,
  due_at timestamptz(3),
  attempts integer not null default 0,
  scenario jsonb,
  approval_deferred boolean not null default false,
  rate_lock jsonb,
  primary key (platform_id, id)
);
create index rail_order_platform_id_transaction_id_idx on rail_order (platform_id, transaction_id);

create table rail_case (
  platform_id uuid not null,
  id uuid not null default uuid_v7(),
  order_id uuid not null,
  transaction_id uuid not null,
  kind rail_case_kind not null,
  said text not null,
  stands text not null,
  created_at timestamptz(3) not null default clock_ms(),
  times integer not null default 1,
  closed_at timestamptz(3),
  closed_by text,
  closed_reason text,
  moved_out bigint,
  moved_in bigint,
  primary key (platform_id, id)
);
create unique index rail_case_platform_id_order_id_kind_key on rail_case (platform_id, order_id, kind);

create table rail_connection (
  platform_id uuid not null,
  sealed bytea not null,
  updated_at timestamptz(3) not null default clock_ms(),
  deposits_due_at timestamptz(3) not null default clock_ms(),
  deposits_from timestamptz(3) not null default clock_ms(),
  primary key (platform_id)
);

create table rail_webhook (
  platform_id uuid not null,
  webhook_id text not null,
  received_at timestamptz(3) not null default clock_ms(),
  body bytea not null,
  due_at timestamptz(3) default clock_ms(),
  attempts integer not null default 0,
  primary key (platform_id, webhook_id)
);

create table rail_deposit (
  platform_id uuid not null,
  id uuid not null,
  reference text not null,
  held_at text not null,
  began_at timestamptz(3) not null,
  found_at timestamptz(3) not null default clock_ms(),
  amount bigint not null,
  currency text not null,
  payer text,
  memo text,
  account_id uuid,
  status deposit_status not null,
  reason text,
  transaction_id uuid,
  due_at timestamptz(3),
  attempts integer not null default 0,
  primary key (platform_id, id)
);
create unique index rail_deposit_transaction_id_key on rail_deposit (transaction_id);
create unique index rail_deposit_platform_id_reference_key on rail_deposit (platform_id, reference);

create table lookup (
  platform_id uuid not null,
  id uuid not null,
  uma_address text not null,
  token_id uuid,
  keyed boolean not null default false,
  sender_customer_id uuid,
  receiver_platform_id uuid,
  receiver_customer_id uuid,
  vasp_name text,
  network text not null,
  currencies jsonb not null,
  required_fields jsonb not null,
  information jsonb not null default '{}',
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (platform_id, id)
);

create table arrival (
  platform_id uuid not null,
  transaction_id uuid not null,
  sender_platform_id uuid not null,
  sender_transaction_id uuid not null,
  primary key (platform_id, transaction_id)
);
create unique index arrival_sender_platform_id_sender_transaction_id_key on arrival (sender_platform_id, sender_transaction_id);

create table outbox (
  id bigserial not null,
  platform_id uuid not null,
  event_id uuid not null,
  type event_type not null,
  occurred_at timestamptz(3) not null,
  transaction_id uuid,
  quote_id uuid,
  account_id uuid,
  customer_id uuid,
  version integer not null,
  previous_status text,
  status text,
  reason text,
  terminal boolean not null default false,
  old_balance bigint,
  new_balance bigint,
  snapshot jsonb,
  primary key (id)
);

create table stored_event (
  platform_id uuid not null,
  sequence bigint not null,
  id uuid not null,
  type event_type not null,
  occurred_at timestamptz(3) not null,
  transaction_id uuid,
  quote_id uuid,
  account_id uuid,
  customer_id uuid,
  version integer not null,
  previous_status text,
  status text,
  reason text,
  terminal boolean not null default false,
  old_balance bigint,
  new_balance bigint,
  snapshot jsonb,
  epoch integer,
  primary key (platform_id, sequence)
);
create index stored_event_platform_id_customer_id_sequence_idx on stored_event (platform_id, customer_id, sequence);
create unique index stored_event_platform_id_id_key on stored_event (platform_id, id);

create table feed_head (
  platform_id uuid not null,
  sequence bigint not null default 0,
  epoch integer,
  primary key (platform_id)
);

create table feed_epoch (
  id serial not null,
  epoch integer,
  server text,
  begun_at timestamptz(3) not null default clock_ms(),
  marked_at timestamptz(3),
  primary key (id)
);

create table resume_point (
  platform_id uuid not null,
  subject text not null,
  key bytea not null,
  stream_id uuid not null,
  position bigint,
  epoch integer,
  sent bigint,
  seen_at timestamptz(3) not null default clock_ms(),
  primary key (platform_id, subject, key)
);

create table webhook_endpoint (
  platform_id uuid not null,
  id uuid not null default uuid_v7(),
  url text not null,
  of_config boolean not null default false,
  event_types event_type[],
  description text,
  status webhook_endpoint_status not null default 'ENABLED',
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz(3),
  created_at timestamptz(3) not null default clock_ms(),
  position bigint not null,
  failures integer not null default 0,
  failing_since timestamptz(3),
  failures_after timestamptz(3),
  disabled_at timestamptz(3),
  notice text,
  token_id uuid,
  primary key (platform_id, id)
);

create table webhook_delivery (
  platform_id uuid not null,
  id uuid not null default uuid_v7(),
  endpoint_id uuid not null,
  event_sequence bigint not null,
  status webhook_delivery_status not null default 'PENDING',
  question boolean not null default false,
  begun integer not null default 0,
  tries integer not null default 0,
  next_attempt_at timestamptz(3) default clock_ms(),
  leased_until timestamptz(3),
  primary key (platform_id, id)
);
create index webhook_delivery_platform_id_endpoint_id_id_idx on webhook_delivery (platform_id, endpoint_id, id);
create index webhook_delivery_platform_id_event_sequence_idx on webhook_delivery (platform_id, event_sequence);
create unique index webhook_delivery_platform_id_endpoint_id_event_sequence_key on webhook_delivery (platform_id, endpoint_id, event_sequence);

create table webhook_attempt (
  platform_id uuid not null,
  delivery_id uuid not null,
  number integer not null,
  at timestamptz(3) not null,
  duration_ms integer not null,
  response_status integer,
  error text,
  primary key (platform_id, delivery_id, number)
);

create table operator_act (
  id uuid not null default uuid_v7(),
  at timestamptz(3) not null default clock_ms(),
  platform_id uuid,
  operator text not null,
  act text not null,
  subject text,
  reason text,
  before jsonb,
  after jsonb,
  primary key (id)
);
create index operator_act_platform_id_id_idx on operator_act (platform_id, id);
create index operator_act_subject_id_idx on operator_act (subject, id);

create table adjustment (
  platform_id uuid not null,
  id uuid not null default uuid_v7(),
  account_id uuid not null,
  amount bigint not null,
  currency text not null,
  reason text not null,
  proposed_by text not null,
  proposed_at timestamptz(3) not null default clock_ms(),
  expires_at timestamptz(3) not null,
  status adjustment_status not null default 'PROPOSED',
  decided_by text,
  decided_reason text,
  decided_at timestamptz(3),
  journal_id uuid,
  primary key (platform_id, id)
);
create unique index adjustment_platform_id_journal_id_key on adjustment (platform_id, journal_id);

create table reconciliation (
  platform_id uuid not null,
  id uuid not null default uuid_v7(),
  period_from timestamptz(3) not null,
  period_to timestamptz(3) not null,
  started_by text,
  started_at timestamptz(3) not null default clock_ms(),
  finished_at timestamptz(3),
  failure text,
  orders integer not null default 0,
  movements integer not null default 0,
  totals jsonb not null default '[]',
  primary key (platform_id, id)
);
create unique index reconciliation_platform_id_period_from_period_to_key on reconciliation (platform_id, period_from, period_to);

create table reconciliation_difference (
  platform_id uuid not null,
  id uuid not null default uuid_v7(),
  fault reconciliation_fault not null,
  order_id uuid,
  transaction_id uuid,
  reference text,
  currency text,
  here text,
  there text,
  period_from timestamptz(3) not null,
  period_to timestamptz(3) not null,
  found_at timestamptz(3) not null default clock_ms(),
  last_found_at timestamptz(3) not null default clock_ms(),
  times integer not null default 1,
  gone_at timestamptz(3),
  closed_at timestamptz(3),
  closed_by text,
  closed_reason text,
  beyond_low bigint,
  beyond_high bigint,
  same_as text not null,
  primary key (platform_id, id)
);
create unique index reconciliation_difference_platform_id_same_as_key on reconciliation_difference (platform_id, same_as);

create table clock_reading (
  id boolean not null default true,
  seen_at timestamptz(3) not null default clock_ms(),
  primary key (id)
);

create table audit_run (
  id uuid not null default uuid_v7(),
  finished_at timestamptz(3) not null default clock_ms(),
  rules integer not null,
  broken text[],
  covers_from timestamptz(3),
  covers_until timestamptz(3),
  on_replica boolean not null default false,
  primary key (id)
);

create table audit_checkpoint (
  id boolean not null default true,
  run_id uuid not null,
  covers_until timestamptz(3) not null,
  rules_digest bytea not null,
  epoch_id integer,
  primary key (id)
);
create unique index audit_checkpoint_run_id_key on audit_checkpoint (run_id);

create table audit_mark (
  platform_id uuid not null,
  sequence bigint not null,
  journal_at timestamptz(3),
  primary key (platform_id)
);

create table audit_balance (
  platform_id uuid not null,
  account_id uuid not null,
  version integer not null,
  posted bigint not null,
  primary key (platform_id, account_id)
);

create table key_in_use (
  setting text not null,
  key_id text not null,
  since timestamptz(3) not null default clock_ms(),
  primary key (setting, key_id)
);

alter table uma_domain add constraint uma_domain_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table platform_fee add constraint platform_fee_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table platform_fee add constraint platform_fee_sending_currency_fkey foreign key (sending_currency) references currency(code) on delete restrict on update restrict;
alter table api_token add constraint api_token_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table api_token add constraint api_token_platform_id_created_by_id_fkey foreign key (platform_id, created_by_id) references api_token(platform_id, id) on delete restrict on update restrict;
alter table client_token add constraint client_token_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table client_token add constraint client_token_platform_id_customer_id_fkey foreign key (platform_id, customer_id) references customer(platform_id, id) on delete restrict on update restrict;
alter table client_token add constraint client_token_platform_id_quote_id_fkey foreign key (platform_id, quote_id) references quote(platform_id, id) on delete restrict on update restrict;
alter table client_token add constraint client_token_platform_id_transaction_id_fkey foreign key (platform_id, transaction_id) references transaction(platform_id, id) on delete restrict on update restrict;
alter table client_token add constraint client_token_platform_id_created_by_id_fkey foreign key (platform_id, created_by_id) references api_token(platform_id, id) on delete restrict on update restrict;
alter table client_token add constraint client_token_platform_id_owner_id_fkey foreign key (platform_id, owner_id) references customer(platform_id, id) on delete restrict on update restrict;
alter table trusted_document add constraint trusted_document_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table customer add constraint customer_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table account add constraint account_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table account add constraint account_platform_id_customer_id_fkey foreign key (platform_id, customer_id) references customer(platform_id, id) on delete restrict on update restrict;
alter table account add constraint account_currency_fkey foreign key (currency) references currency(code) on delete restrict on update restrict;
alter table account_check add constraint account_check_platform_id_account_id_fkey foreign key (platform_id, account_id) references account(platform_id, id) on delete restrict on update restrict;
alter table identity_check add constraint identity_check_platform_id_customer_id_fkey foreign key (platform_id, customer_id) references customer(platform_id, id) on delete restrict on update restrict;
alter table quote add constraint quote_platform_id_customer_id_fkey foreign key (platform_id, customer_id) references customer(platform_id, id) on delete restrict on update restrict;
alter table quote add constraint quote_platform_id_source_account_id_fkey foreign key (platform_id, source_account_id) references account(platform_id, id) on delete restrict on update restrict;
alter table quote add constraint quote_platform_id_destination_account_id_fkey foreign key (platform_id, destination_account_id) references account(platform_id, id) on delete restrict on update restrict;
alter table quote add constraint quote_platform_id_transaction_id_fkey foreign key (platform_id, transaction_id) references transaction(platform_id, id) on delete restrict on update restrict;
alter table rail_order add constraint rail_order_platform_id_transaction_id_fkey foreign key (platform_id, transaction_id) references transaction(platform_id, id) on delete restrict on update restrict;
alter table rail_case add constraint rail_case_platform_id_order_id_fkey foreign key (platform_id, order_id) references rail_order(platform_id, id) on delete restrict on update restrict;
alter table rail_connection add constraint rail_connection_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table rail_webhook add constraint rail_webhook_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table rail_deposit add constraint rail_deposit_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table rail_deposit add constraint rail_deposit_platform_id_account_id_fkey foreign key (platform_id, account_id) references account(platform_id, id) on delete restrict on update restrict;
alter table lookup add constraint lookup_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table lookup add constraint lookup_platform_id_sender_customer_id_fkey foreign key (platform_id, sender_customer_id) references customer(platform_id, id) on delete restrict on update restrict;
alter table arrival add constraint arrival_platform_id_transaction_id_fkey foreign key (platform_id, transaction_id) references transaction(platform_id, id) on delete restrict on update restrict;
alter table arrival add constraint arrival_sender_platform_id_sender_transaction_id_fkey foreign key (sender_platform_id, sender_transaction_id) references transaction(platform_id, id) on delete restrict on update restrict;
alter table feed_head add constraint feed_head_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table webhook_endpoint add constraint webhook_endpoint_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table webhook_endpoint add constraint webhook_endpoint_platform_id_token_id_fkey foreign key (platform_id, token_id) references api_token(platform_id, id) on delete restrict on update restrict;
alter table webhook_delivery add constraint webhook_delivery_platform_id_endpoint_id_fkey foreign key (platform_id, endpoint_id) references webhook_endpoint(platform_id, id) on delete cascade on update restrict;
alter table webhook_attempt add constraint webhook_attempt_platform_id_delivery_id_fkey foreign key (platform_id, delivery_id) references webhook_delivery(platform_id, id) on delete cascade on update restrict;
alter table operator_act add constraint operator_act_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table adjustment add constraint adjustment_platform_id_account_id_fkey foreign key (platform_id, account_id) references account(platform_id, id) on delete restrict on update restrict;
alter table adjustment add constraint adjustment_platform_id_journal_id_fkey foreign key (platform_id, journal_id) references journal(platform_id, id) on delete restrict on update restrict;
alter table reconciliation add constraint reconciliation_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table reconciliation_difference add constraint reconciliation_difference_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table audit_checkpoint add constraint audit_checkpoint_run_id_fkey foreign key (run_id) references audit_run(id) on delete restrict on update restrict;
alter table audit_mark add constraint audit_mark_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;

-- Returns an account as it was after a change of it: the row of now, with what may have changed since as the event has it
-- (account_state). Its balance is text, as in account_snapshot.
create or replace function account_as_of(a account, e stored_event) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(a) || (
    '{"status_reason": null, "platform_account_id": null, "default_uma_deposit_account": false,
      "beneficiary_verification_status": null, "beneficiary_verified_name": null, "is_deleted": false, "frozen_at": null,
      "metadata": null}'
    || jsonb_build_object('posted', coalesce(e.new_balance, 0)::text, 'status', e.status, 'version', e.version,
                          'updated_at', e.occurred_at)
    || coalesce(e.snapshot, '{}'))
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

-- Returns the fields of an account that the outcome of an order may need, as JSON. The whole row costs several times as
-- much to write and to read. Stable, like to_json: only then is it inlined into the statement that calls it.
create or replace function account_party(a account) returns json
  language sql stable parallel safe
as $$
  select json_build_object('id', a.id, 'kind', a.kind, 'customerId', a.customer_id, 'currency', a.currency,
                           'accountType', a.account_type, 'identifier', a.identifier, 'accountInfo', a.account_info)
$$;

-- Returns an account as the feed and stored answers contain it. Its balance is text, because it may exceed what a JSON
-- number holds exactly. Stable, like to_jsonb: only then is it inlined into the statement that calls it.
create or replace function account_snapshot(a account) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(a) || jsonb_build_object('posted', a.posted::text)
$$;

-- Returns what its event stores of an account: the columns that may change after it was made (guard_account), where they say
-- something. Its status, version and time of change are columns of the event. account_as_of reads it.
create or replace function account_state(a account) returns jsonb
  language sql stable parallel safe
as $$
  select nullif(
    jsonb_strip_nulls(jsonb_build_object(
      'posted', nullif(a.posted, 0)::text, 'status_reason', a.status_reason, 'platform_account_id', a.platform_account_id,
      'default_uma_deposit_account', nullif(a.default_uma_deposit_account, false),
      'beneficiary_verification_status', a.beneficiary_verification_status,
      'beneficiary_verified_name', a.beneficiary_verified_name, 'is_deleted', nullif(a.is_deleted, false),
      'frozen_at', a.frozen_at))
    -- Nulls within it stay.
    || case when a.metadata is null then '{}' else jsonb_build_object('metadata', a.metadata) end,
    '{}')
$$;

-- Returns the legs of the difference between what was promised for an order and what its provider has moved on the platform's
-- account there (decision 95): p_out was taken, and p_in came in. What left beyond the promise is a debit of DIFFERENCES, and
-- what came in beyond it a credit. An empty list where both are as promised.
create or replace function difference_legs(p_platform uuid, p_order uuid, p_out bigint, p_in bigint) returns jsonb
  language sql stable
as $$
  select coalesce(jsonb_agg(jsonb_build_object('system', l.system, 'currency', l.currency, 'amount', l.amount::text) order by d.side, l.leg), '[]')
  from rail_order o
  join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
  left join account a on a.platform_id = t.platform_id and a.id = t.destination_account_id,
  lateral (select o.kind = 'COLLECTION' and t.type = 'OUTGOING' as is_pull) p,
  lateral (
    -- What was taken: for a payout, in the currency that it is paid from.
    select 1 as side, case when o.rate_lock is null then t.received_currency else t.sent_currency end as currency,
      p_out - coalesce((o.rate_lock ->> 'sent')::bigint, t.received_amount) as more
    where o.kind = 'PAYOUT'
    union all
    -- What came in: for a collection, and for what the rail converts for an account here.
    select 2, case when p.is_pull then t.sent_currency else t.received_currency end,
      case when p.is_pull then t.sent_amount else t.received_amount end - p_in
    where o.kind = 'COLLECTION' or o.rate_lock is not null and a.kind = 'INTERNAL'
  ) d,
  lateral (values (1, 'OUTSIDE', d.currency, d.more), (2, 'DIFFERENCES', d.currency, -d.more)) as l(leg, system, currency, amount)
  where o.platform_id = p_platform and o.id = p_order and d.more is distinct from 0
$$;

-- Tells whether a status is final for a payment. (COMPLETED may still become REFUNDED: a bank return.)
create or replace function is_terminal(status transaction_status) returns boolean
  language sql immutable parallel safe
as $$
  select status in ('COMPLETED', 'REJECTED', 'FAILED', 'REFUNDED', 'EXPIRED')
$$;

-- Returns a quote as it was after a change of it: of a quote nothing changes but what its event has in columns (guard_quote).
create or replace function quote_as_of(q quote, e stored_event) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(q)
    || jsonb_build_object('status', e.status, 'status_reason', e.reason, 'version', e.version, 'updated_at', e.occurred_at)
$$;

-- Says whether two names of operators are the same, but for capitals and spaces.
create or replace function same_person(p_one text, p_other text) returns boolean
  language sql immutable
as $$
  select lower(regexp_replace(p_one, '\s', '', 'g')) = lower(regexp_replace(p_other, '\s', '', 'g'))
$$;

-- Returns a transaction as it was after a change of it: the row of now, with what may have changed since as the event has it
-- (transaction_state).
create or replace function transaction_as_of(t transaction, e stored_event) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(t) || (
    '{"failure_reason": null, "refund_reference": null, "refund_amount": null, "refund_initiated_at": null, "refund_settled_at": null,
      "counterparty_information": {}}'
    || case when t.type = 'INCOMING' then '{"destination_account_id": null, "destination_name": null, "destination_number": null,
         "approval_due_at": null, "requested_information": null}'::jsonb else '{}' end
    || jsonb_build_object(
      'status', e.status, 'status_reason', e.reason, 'version', e.version, 'updated_at', e.occurred_at,
      'settled_at', case when e.status = 'COMPLETED' then e.occurred_at end,
      'expected_settlement_at', e.occurred_at + (e.snapshot ->> 'expected_in_ms')::bigint * interval '1 millisecond')
    || coalesce(e.snapshot - 'expected_in_ms', '{}'))
$$;

-- Returns what its event stores of a transaction: the columns that may change after it was made (guard_transaction), where they
-- say something. Its status, reason, version and time of change are columns of the event: a completed payment settled at that
-- time, and its expected time is stored as milliseconds after it. transaction_as_of reads it.
create or replace function transaction_state(t transaction) returns jsonb
  language sql stable parallel safe
as $$
  select nullif(
    case when t.expected_settlement_at is null then '{}' else jsonb_build_object(
      'expected_in_ms', (date_part('epoch', t.expected_settlement_at - t.updated_at) * 1000)::bigint) end
    || case when num_nonnulls(t.failure_reason, t.refund_reference, t.refund_amount, t.refund_initiated_at, t.refund_settled_at) = 0
              and (t.status = 'COMPLETED' or t.settled_at is null)
            then '{}' else jsonb_strip_nulls(jsonb_build_object(
              'settled_at', case when t.status <> 'COMPLETED' then t.settled_at end, 'failure_reason', t.failure_reason,
              'refund_reference', t.refund_reference, 'refund_amount', t.refund_amount,
              'refund_initiated_at', t.refund_initiated_at, 'refund_settled_at', t.refund_settled_at)) end
    || case when t.counterparty_information = '{}' then '{}'
            else jsonb_build_object('counterparty_information', t.counterparty_information) end
    || case when t.type = 'INCOMING' then
         jsonb_strip_nulls(jsonb_build_object(
           'destination_account_id', t.destination_account_id, 'destination_name', t.destination_name,
           'destination_number', t.destination_number, 'approval_due_at', t.approval_due_at))
         -- Nulls within it stay.
         || case when t.requested_information is null then '{}'
                 else jsonb_build_object('requested_information', t.requested_information) end
       else '{}' end,
    '{}')
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
-- its own type; any other change is an ACCOUNT_CHANGE, which only the feed shows. It stores of
-- the account what may change (account_state).
create or replace function announce_account() returns trigger
  language plpgsql
as $$
begin
  if new.kind = 'INTERNAL' and tg_op = 'UPDATE' and new.posted <> old.posted then
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, old_balance, new_balance, snapshot)
    values (new.platform_id, uuid_v7(), 'ACCOUNT_STATUS', new.updated_at, new.id, new.customer_id, new.version,
            old.posted, new.posted,
            -- Few internal accounts have any of it.
            case when num_nonnulls(new.frozen_at, new.metadata, new.platform_account_id, new.status_reason,
                                   new.beneficiary_verification_status, new.beneficiary_verified_name) > 0
              then account_state(new) - 'posted' end);
  elsif new.kind = 'EXTERNAL' and (tg_op = 'INSERT' or (new.status, new.beneficiary_verification_status)
                                   is distinct from (old.status, old.beneficiary_verification_status)) then
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, previous_status, status, reason, snapshot)
    values (new.platform_id, uuid_v7(), 'EXTERNAL_ACCOUNT_STATUS', new.updated_at, new.id, new.customer_id, new.version,
            case tg_op when 'UPDATE' then old.status end, new.status, new.status_reason, account_state(new));
  else
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, previous_status, status, snapshot)
    values (new.platform_id, uuid_v7(), 'ACCOUNT_CHANGE', new.updated_at, new.id, new.customer_id, new.version,
            case tg_op when 'UPDATE' then old.status end, new.status, account_state(new));
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

-- After every insert or update of quotes: writes the event of each, in the same way as announce_transaction. Their
-- columns say all that changes (quote_as_of).
create or replace function announce_quote() returns trigger
  language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                        status, reason, terminal)
    select n.platform_id, uuid_v7(), 'QUOTE_STATUS', n.updated_at, n.transaction_id, n.id, n.customer_id, n.version,
      n.status, n.status_reason, n.status in ('COMPLETED', 'FAILED', 'EXPIRED')
    from now_is n;
  else
    insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                        previous_status, status, reason, terminal)
    select n.platform_id, uuid_v7(), 'QUOTE_STATUS', n.updated_at, n.transaction_id, n.id, n.customer_id, n.version,
      o.status, n.status, n.status_reason, n.status in ('COMPLETED', 'FAILED', 'EXPIRED')
    from now_is n join was o on o.platform_id = n.platform_id and o.id = n.id;
  end if;
  return null;
end
$$;

-- After every insert or update of transactions: writes the event of each, in the same transaction, in one statement for
-- all of them. It stores of a transaction what may change (transaction_state).
create or replace function announce_transaction() returns trigger
  language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                        status, reason, terminal, snapshot)
    select n.platform_id, uuid_v7(), case n.type when 'OUTGOING' then 'OUTGOING_PAYMENT'::event_type else 'INCOMING_PAYMENT' end,
      n.updated_at, n.id, n.quote_id, n.customer_id, n.version, n.status, n.status_reason, is_terminal(n.status), transaction_state(n)
    from now_is n;
  else
    insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                        previous_status, status, reason, terminal, snapshot)
    select n.platform_id, uuid_v7(), case n.type when 'OUTGOING' then 'OUTGOING_PAYMENT'::event_type else 'INCOMING_PAYMENT' end,
      n.updated_at, n.id, n.quote_id, n.customer_id, n.version, o.status, n.status, n.status_reason, is_terminal(n.status), transaction_state(n)
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
  v_id jsonb;
begin
  -- A row of another platform than its plan's would pass the wall of this database.
  if p_plans @? '$[*] ? (@.plan.insert.*[*].platform_id != @.platform)' then
    raise exception 'a plan inserts a row of another platform' using errcode = 'LG010';
  end if;
  -- An expression checks for what few plans contain, because a statement costs time even when it finds nothing to do.
  if p_plans @? '$[*].plan.insert ? (exists (@.customer) || exists (@.account) || exists (@.account_check) || exists (@.identity_check))' then
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

  -- The journal of an adjustment gets its id here, like all others: the id has the time, and is made while the accounts are locked.
  -- (The version before gives one.)
  if p_plans @? '$[*].plan.adjustments' then
    for v_at in 0 .. jsonb_array_length(p_plans) - 1 loop
      continue when not p_plans -> v_at -> 'plan' ? 'adjustments';
      v_id := coalesce(p_plans #> array[v_at::text, 'plan', 'journals', '0', 'id'], to_jsonb(uuid_v7()));
      p_plans := jsonb_set(p_plans, array[v_at::text, 'plan', 'journals', '0', 'id'], v_id);
      p_plans := jsonb_set(p_plans, array[v_at::text, 'plan', 'adjustments', '0', 'journal_id'], v_id);
    end loop;
  end if;

  -- Money before statuses: the event of a deposit precedes the event of the payment that it starts (specification 6,
  -- rule 3).
  if p_plans @? '$[*].plan.journals[*]' then
    with movement as materialized (
      select p.platform, p.plan_number, j.number, coalesce(j.id, uuid_v7()) as id, j.transaction_id, j.kind, j.legs
      from rows from (jsonb_to_recordset(p_plans) as (platform uuid, plan jsonb)) with ordinality as p(platform, plan, plan_number),
        rows from (
          jsonb_to_recordset(p.plan -> 'journals') as (id uuid, kind text, transaction_id uuid, legs jsonb)
        ) with ordinality as j(id, kind, transaction_id, legs, number)
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

  if p_plans @? '$[*].plan ? (exists (@.adjustments) || exists (@.cases))' then
    update adjustment d set status = 'APPROVED', decided_at = clock_ms(), decided_by = m."by", decided_reason = m.reason,
      journal_id = m.journal_id
    from jsonb_to_recordset(jsonb_path_query_array(p_plans, '$[*].plan.adjustments[*]'))
      as m(id uuid, "by" text, reason text, journal_id uuid)
    where d.platform_id = any (v_platforms) and d.id = m.id;
    update rail_case c set closed_at = clock_ms(), closed_by = m."by", closed_reason = m.reason, moved_out = m.moved_out,
      moved_in = m.moved_in
    from jsonb_to_recordset(jsonb_path_query_array(p_plans, '$[*].plan.cases[*]'))
      as m(order_id uuid, "by" text, reason text, moved_out bigint, moved_in bigint)
    where c.platform_id = any (v_platforms) and c.order_id = m.order_id and c.kind = 'OTHER_AMOUNT';
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
    insert into rail_order (platform_id, id, transaction_id, kind, created_at, due_at, attempts, scenario, rate_lock)
    select r.platform_id, free_order_id(r.platform_id, r.id), r.transaction_id, r.kind, clock_ms(),
      clock_ms() + coalesce(r.due_in_ms, 0) * interval '1 millisecond', 0, r.scenario, r.rate_lock
    from jsonb_to_recordset(v_rows) as r(platform_id uuid, id uuid, transaction_id uuid, kind rail_order_kind, due_in_ms bigint,
      scenario jsonb, rate_lock jsonb);
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
  if p_insert ? 'identity_check' then
    delete from identity_check i using jsonb_to_recordset(p_insert -> 'identity_check') as r(customer_id uuid)
    where i.platform_id = p_platform and i.customer_id = r.customer_id;
    insert into identity_check (platform_id, customer_id, due_at)
    select p_platform, r.customer_id, clock_ms() + r.due_in_ms * interval '1 millisecond'
    from jsonb_to_recordset(p_insert -> 'identity_check') as r(customer_id uuid, due_in_ms bigint)
    where r.due_in_ms is not null;
  end if;
end
$$;

-- The part of check_plan for external accounts that a plan changes. A deleted one does not change, and a
-- frozen one is not deleted. A change with a version
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
    select * from jsonb_to_recordset(p_moves) as m(id uuid, "from" text[], "to" external_account_status, version int, "set" jsonb)
  loop
    select * into v_account from account where platform_id = p_platform and id = v_move.id and kind = 'EXTERNAL';
    if not found or not v_account.status::text = any (v_move."from") or v_account.version <> coalesce(v_move.version, v_account.version) then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'ExternalAccount', 'id', v_move.id, 'status', v_account.status);
    end if;
    if v_account.is_deleted then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_move.id, 'status', 'DELETED');
    end if;
    if v_account.frozen_at is not null and (v_move."set" ->> 'is_deleted')::boolean then
      return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'EXTERNAL', 'id', v_move.id, 'customerId', v_account.customer_id);
    end if;
    -- Its owner may have registered it again while it was INACTIVE.
    select a.id into v_other from account a
    where a.platform_id = p_platform and a.kind = 'EXTERNAL' and a.status <> 'INACTIVE' and v_move."to" <> 'INACTIVE' and a.id <> v_account.id
      and a.customer_id is not distinct from v_account.customer_id and a.currency = v_account.currency
      and a.account_type = v_account.account_type and a.identifier = v_account.identifier
      and a.bank is not distinct from v_account.bank limit 1;
    if found then
      return jsonb_build_object('code', 'ACCOUNT_EXISTS', 'id', v_other);
    end if;
  end loop;
  return null;
end
$$;

-- The part of check_plan for external accounts that take part in a payment: they must be ACTIVE, and not frozen.
create or replace function check_active_accounts(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
  v_customer uuid;
  v_status external_account_status;
  v_frozen_at timestamptz;
begin
  select a.id, a.customer_id, a.status, a.frozen_at into v_id, v_customer, v_status, v_frozen_at from account a
  where a.platform_id = p_platform and a.kind = 'EXTERNAL' and a.id = any (uuids(p_ids)) and (a.status <> 'ACTIVE' or a.frozen_at is not null)
  order by a.id limit 1;
  if found then
    if v_frozen_at is not null then
      return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'EXTERNAL', 'id', v_id, 'customerId', v_customer);
    end if;
    return jsonb_build_object('code', 'INVALID_BANK_ACCOUNT', 'id', v_id, 'customerId', v_customer, 'status', v_status);
  end if;
  return null;
end
$$;

-- The part of check_plan for customers who take part in a payment: they must be allowed to move money, and not be frozen.
create or replace function check_active_customers(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
  v_kyc_status kyc_status;
  v_is_deleted boolean;
  v_frozen_at timestamptz;
begin
  for v_at in 0 .. jsonb_array_length(p_ids) - 1 loop
    v_id := (p_ids ->> v_at)::uuid;
    select kyc_status, is_deleted, frozen_at into v_kyc_status, v_is_deleted, v_frozen_at from customer where platform_id = p_platform and id = v_id;
    if v_is_deleted or v_kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') then
      return jsonb_build_object('code', 'USER_NOT_READY', 'id', v_id, 'kycStatus', v_kyc_status, 'isDeleted', v_is_deleted);
    end if;
    if v_frozen_at is not null then
      return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_id);
    end if;
  end loop;
  return null;
end
$$;

-- The part of check_plan for a correction of a balance (decision 81). It has one journal, whose legs are those of its proposal:
-- one on the account, and the other on ADJUSTMENTS. Refuses one that is decided, has expired, or whose proposer approves it.
-- No other plan has such a journal, or a leg on ADJUSTMENTS. The proposal is locked by lock_plans.
create or replace function check_adjustment(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move jsonb := p_plan #> '{adjustments,0}';
  v_proposed adjustment;
begin
  if not p_plan ? 'adjustments' and not p_plan @? '$.journals[*] ? (@.kind == "adjustment" || @.legs[*].system == "ADJUSTMENTS")' then
    return null;
  end if;
  select * into v_proposed from adjustment where platform_id = p_platform and id = (v_move ->> 'id')::uuid;
  if not found or jsonb_array_length(p_plan -> 'adjustments') <> 1
     -- The version before names the id of the journal, too.
     or jsonb_array_length(p_plan -> 'journals') <> 1 or (p_plan #> '{journals,0}') - 'id' is distinct from jsonb_build_object(
       'kind', 'adjustment', 'legs', jsonb_build_array(
         jsonb_build_object('account', v_proposed.account_id, 'currency', v_proposed.currency, 'amount', v_proposed.amount::text),
         jsonb_build_object('system', 'ADJUSTMENTS', 'currency', v_proposed.currency, 'amount', (-v_proposed.amount)::text))) then
    raise exception 'a plan adjusts a balance otherwise than was proposed' using errcode = 'LG012';
  end if;
  return case
    when v_proposed.status <> 'PROPOSED' then jsonb_build_object('code', 'CONFLICT', 'id', v_proposed.id, 'status', v_proposed.status)
    when v_proposed.expires_at <= clock_timestamp() then jsonb_build_object('code', 'CONFLICT', 'id', v_proposed.id, 'status', 'EXPIRED')
    when same_person(v_proposed.proposed_by, v_move ->> 'by') then
      jsonb_build_object('code', 'CONFLICT', 'id', v_proposed.id, 'status', 'SAME_PERSON') end;
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
-- (src/payments/settlement/refused-credit.ts), no balance comes near 2^63, and no retry goes on for ever.
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
-- (check_balance). The balance of a frozen account, or of a frozen customer, does not fall. Whoever freezes one locks the account
-- first, so the lock decides whether a payment was before. What is credited and sent on in one plan is no fall.
-- The balance of a deleted customer does not rise, whatever the money is (decision 36). The deletion locks the account, too.
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
    select a.id, a.posted, a.currency, a.customer_id, a.frozen_at, c.frozen_at as owner_frozen_at, c.is_deleted as owner_is_deleted
    from account a left join customer c on c.platform_id = a.platform_id and c.id = a.customer_id
    where a.platform_id = p_platform and a.id = any (v_accounts) order by a.id
  loop
    v_change := 0;
    v_gain := 0;
    for v_at in 1 .. cardinality(v_changes) loop
      if v_accounts[v_at] = v_account.id then
        v_change := v_change + v_changes[v_at];
        v_gain := v_gain + greatest(v_changes[v_at], 0);
      end if;
    end loop;
    if v_change < 0 then
      if v_account.frozen_at is not null then
        return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'INTERNAL', 'id', v_account.id, 'customerId', v_account.customer_id);
      end if;
      if v_account.owner_frozen_at is not null then
        return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_account.customer_id);
      end if;
    end if;
    if v_change > 0 and v_account.owner_is_deleted then
      return jsonb_build_object('code', 'CUSTOMER_DELETED', 'id', v_account.customer_id);
    end if;
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

-- The part of check_plan for customers that a plan changes. A deleted customer cannot change, one with money or payments
-- under way, or that is frozen, cannot be deleted, and only one customer that is not deleted has a UMA address.
create or replace function check_customers(p_platform uuid, p_changes jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_change record;
  v_deleted boolean;
  v_frozen_at timestamptz;
  v_holder customer;
  v_refusal jsonb;
begin
  for v_change in
    select m.id, m."set" ->> 'uma_address' as uma_address, (m."set" ->> 'is_deleted')::boolean as is_deleted
    from jsonb_to_recordset(p_changes) as m(id uuid, "set" jsonb)
  loop
    select is_deleted, frozen_at into v_deleted, v_frozen_at from customer where platform_id = p_platform and id = v_change.id;
    if v_deleted then
      return jsonb_build_object('code', 'CUSTOMER_DELETED', 'id', v_change.id);
    end if;
    if v_change.is_deleted then
      if v_frozen_at is not null then
        return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_change.id);
      end if;
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

-- The part of check_plan for a payment that a person settles although its provider has moved another amount (decision 95). The
-- plan concludes one order, closes its open case, and has the journal of the difference, with the legs of difference_legs and no
-- others; none where both amounts on the platform's account there are as promised. Refuses a case that is closed. No other plan has
-- such a journal, or a leg on DIFFERENCES. The case is locked by lock_plans.
create or replace function check_difference(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_case jsonb := p_plan #> '{cases,0}';
  v_order uuid := v_case ->> 'order_id';
  v_booked jsonb := jsonb_path_query_array(p_plan, '$.journals[*] ? (@.kind == "difference" || @.legs[*].system == "DIFFERENCES")');
  v_stored rail_case;
  v_legs jsonb;
begin
  if not p_plan ? 'cases' and v_booked = '[]' then
    return null;
  end if;
  select * into v_stored from rail_case where platform_id = p_platform and order_id = v_order and kind = 'OTHER_AMOUNT';
  v_legs := difference_legs(p_platform, v_order, (v_case ->> 'moved_out')::bigint, (v_case ->> 'moved_in')::bigint);
  if v_stored.id is null or jsonb_array_length(p_plan -> 'cases') <> 1
     or not jsonb_path_query_array(p_plan, '$.orders[*].id') ? v_order::text
     or v_booked is distinct from (case when v_legs = '[]' then v_legs else jsonb_build_array(jsonb_build_object(
       'kind', 'difference', 'transaction_id', v_stored.transaction_id, 'legs', v_legs)) end) then
    raise exception 'a plan books another difference than that of a case' using errcode = 'LG014';
  end if;
  return case when v_stored.closed_at is not null then
    jsonb_build_object('code', 'CONFLICT', 'id', v_stored.transaction_id, 'status', 'CLOSED') end;
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

-- Deferred, once per new journal, at commit: checks that it has at least two legs and that every currency sums to zero. It has the
-- rights of its owner: before Postgres 18 a deferred trigger runs as the role of the session, which sees the legs of one platform.
create or replace function check_journal() returns trigger
  language plpgsql
  security definer set search_path = public, pg_temp
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
-- committed journal is sealed), whose payment is of its platform, and is in a known currency. A journal without legs never commits
-- (check_journal). Journals, payments and currencies are never deleted, so foreign keys are not needed. They would check the same
-- again for each row.
create or replace function check_legs() returns trigger
  language plpgsql
as $$
begin
  -- An age of 0 means that this transaction wrote the row.
  if exists (
    select from leg l
    where (select age(j.xmin) = 0 and (j.transaction_id is null or exists (
             select from transaction t where t.platform_id = j.platform_id and t.id = j.transaction_id))
           from journal j where j.platform_id = l.platform_id and j.id = l.journal_id) is not true
      or (select c.code from currency c where c.code = l.currency) is null
  ) then
    if exists (select from leg l where not exists (select from currency c where c.code = l.currency)) then
      raise exception 'a leg is in an unknown currency' using errcode = 'foreign_key_violation';
    end if;
    if exists (select from leg l join journal j on j.platform_id = l.platform_id and j.id = l.journal_id and age(j.xmin) = 0
               where j.transaction_id is not null and not exists (
                 select from transaction t where t.platform_id = j.platform_id and t.id = j.transaction_id)) then
      raise exception 'a journal is for a payment that its platform does not have' using errcode = 'foreign_key_violation';
    end if;
    raise exception 'a leg was added to a journal that is sealed' using errcode = 'LG005';
  end if;
  return null;
end
$$;

-- The part of check_plan for lookups that a quote is made from: they must not have expired. They never change, so none is locked;
-- the clock is read once all locks of the plan are held.
create or replace function check_lookups(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
begin
  select l.id into v_id from lookup l
  where l.platform_id = p_platform and l.id = any (uuids(p_ids)) and l.expires_at <= clock_timestamp() limit 1;
  if found then
    return jsonb_build_object('code', 'LOOKUP_REQUEST_NOT_FOUND', 'id', v_id);
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
    case when p_plan -> 'require_active' ? 'lookups' then check_lookups(p_platform, p_plan #> '{require_active,lookups}') end,
    case when p_plan ? 'quotes' then check_quotes(p_platform, p_plan -> 'quotes') end,
    case when p_plan ? 'expired' then check_expired(p_platform, p_plan -> 'expired') end,
    case when p_plan ? 'transactions' then check_transactions(p_platform, p_plan -> 'transactions') end,
    case when p_plan ?| '{adjustments,cases}' or p_plan @? '$.journals[*] ? (@.kind == "adjustment" || @.kind == "difference"
        || @.legs[*].system == "ADJUSTMENTS" || @.legs[*].system == "DIFFERENCES")'
      then coalesce(check_difference(p_platform, p_plan), check_adjustment(p_platform, p_plan)) end,
    case when p_plan ? 'orders' then check_orders(p_platform, p_plan -> 'orders') end,
    case when p_plan ? 'customers' then check_customers(p_platform, p_plan -> 'customers') end,
    case when p_plan ? 'accounts' then check_accounts(p_platform, p_plan -> 'accounts') end,
    case when p_plan -> 'require_active' ? 'customers' then check_active_customers(p_platform, p_plan #> '{require_active,customers}') end,
    case when p_plan -> 'require_active' ? 'unfrozen' then check_unfrozen(p_platform, p_plan #> '{require_active,unfrozen}') end,
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

-- The part of check_plan for customers and external accounts that a plan inserts. Only one customer that is not deleted
-- has a UMA address, and an owner has only one account with an identifier at a bank that is not INACTIVE. A frozen customer registers no new account outside, and
-- a frozen account is not registered again, also while it is INACTIVE.
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
  join account a on a.platform_id = p_platform and a.kind = 'EXTERNAL' and n.kind = 'EXTERNAL'
    and (a.status <> 'INACTIVE' or a.frozen_at is not null)
    and a.customer_id is not distinct from n.customer_id and a.currency = n.currency
    and a.account_type = n.account_type and a.identifier = n.identifier and a.bank is not distinct from n.bank limit 1;
  if found then
    return jsonb_build_object('code', 'ACCOUNT_EXISTS', 'id', v_id);
  end if;
  select c.id into v_id from jsonb_populate_recordset(null::account, p_insert -> 'account') n
  join customer c on c.platform_id = p_platform and c.id = n.customer_id and c.frozen_at is not null
  where n.kind = 'EXTERNAL' limit 1;
  if found then
    return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_id);
  end if;
  return null;
end
$$;

-- The part of check_plan for transactions whose status a plan changes. A refund that waits in suspense is paid once. The clock is
-- read while the lock is held: a decision that waited until its deadline comes too late.
create or replace function check_transactions(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move jsonb;
  v_id uuid;
  v_status transaction_status;
  v_refund_waits boolean;
  v_approval_due_at timestamptz;
begin
  for v_at in 0 .. jsonb_array_length(p_moves) - 1 loop
    v_move := p_moves -> v_at;
    continue when (v_move ->> 'is_new')::boolean;
    v_id := (v_move ->> 'id')::uuid;
    select status, refund_reference is not null and refund_settled_at is null, approval_due_at
    into v_status, v_refund_waits, v_approval_due_at
    from transaction where platform_id = p_platform and id = v_id;
    if not found then
      return jsonb_build_object('code', 'TRANSACTION_NOT_FOUND', 'id', v_id);
    end if;
    if v_move ->> 'approval' = 'before' and clock_timestamp() >= v_approval_due_at then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'Transaction', 'id', v_id, 'status', v_status, 'dueAt', v_approval_due_at);
    end if;
    if not v_move -> 'from' ? v_status::text or ((v_move ->> 'pays_refund')::boolean and not v_refund_waits) then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'Transaction', 'id', v_id, 'status', v_status);
    end if;
  end loop;
  return null;
end
$$;

-- The part of check_plan for accounts on either side of a new payment: they must not be frozen. No lock is taken: a
-- debit is refused under the lock of its account (check_balances), and a credit to a frozen account harms nobody.
create or replace function check_unfrozen(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  v_id uuid;
  v_customer uuid;
  v_kind account_kind;
begin
  select a.id, a.customer_id, a.kind into v_id, v_customer, v_kind from account a
  where a.platform_id = p_platform and a.id = any (uuids(p_ids)) and a.frozen_at is not null order by a.id limit 1;
  if found then
    return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', v_kind, 'id', v_id, 'customerId', v_customer);
  end if;
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
     and (p_refusal is null or p_refusal ->> 'code' not in ('USER_NOT_READY', 'CUSTOMER_FROZEN', 'ACCOUNT_FROZEN', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND', 'LOOKUP_REQUEST_NOT_FOUND')) then
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
    and r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED') and r.frozen_at is null;
end
$$;

-- Returns what the tokens of a list, of any platforms, may do now; nothing for those that are revoked or expired. For the open
-- connections of an instance. Runs with the rights of the owner, since the serving role sees one platform at a time.
create or replace function find_token_rights(p_platforms uuid[], p_ids uuid[]) returns table (
  id uuid, permissions text[], grants text[], trusted_documents_only boolean
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select t.id, t.permissions::text[], '{}'::text[], p.trusted_documents = 'ALL'
  from unnest(p_platforms, p_ids) as s (platform_id, id)
  join api_token t on t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null
  join platform p on p.id = t.platform_id
  union all
  select t.id, t.permissions::text[], t.grants::text[], t.trusted_documents_only or p.trusted_documents <> 'OPTIONAL'
  from unnest(p_platforms, p_ids) as s (platform_id, id)
  join client_token t on t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null
    and t.expires_at > clock_timestamp()
  join platform p on p.id = t.platform_id;
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
-- A due time more than half of the step ahead, or more than ten seconds, counts as set by the old clock. In fact nearly all
-- were: this is called every second. One that the new clock has set so far ahead since then is moved wrongly. That is
-- harmless, because it only happens early: a rail is asked again, or a receiver gets an event early. Ten seconds find also
-- what a clock in between has set, when there were two steps since the last call. A step forward and back again since then
-- is not seen.
create or replace function follow_clock() returns double precision
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_seen timestamptz;
  v_now timestamptz;
  v_step interval;
  v_ahead timestamptz;
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
  v_ahead := v_now + least(v_step / 2, interval '10 seconds');
  -- The age of an order counts from its creation.
  update rail_order set due_at = due_at - v_step, created_at = created_at - v_step where due_at > v_ahead;
  update account_check set due_at = due_at - v_step where due_at > v_ahead;
  update identity_check set due_at = due_at - v_step where due_at > v_ahead;
  update rail_webhook set due_at = due_at - v_step where due_at > v_ahead;
  update rail_deposit set due_at = due_at - v_step where due_at > v_ahead;
  update rail_connection set deposits_due_at = deposits_due_at - v_step where deposits_due_at > v_ahead;
  update webhook_delivery set
    next_attempt_at = case when next_attempt_at > v_ahead then next_attempt_at - v_step else next_attempt_at end,
    leased_until = case when leased_until > v_ahead then leased_until - v_step else leased_until end
  where status = 'PENDING' and greatest(next_attempt_at, leased_until) > v_ahead;
  update clock_reading set seen_at = v_now;
  return date_part('epoch', v_step) * 1000;
end
$$;

-- Begins an epoch of the feed where the database is not the one that it was: the cursors of events that a restore or a failover
-- has undone name another epoch than the events that got their numbers (decision 77). Each sequencer calls it on each new
-- connection before it numbers anything. Returns whether an operator has yet to see to the restore.
create or replace function follow_server() returns boolean
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_server text := server_name();
  v_last feed_epoch;
begin
  -- Of several sequencers one begins the epoch. The number is "epoc" in ASCII.
  perform pg_advisory_xact_lock(1701867363);
  select * into v_last from feed_epoch order by id desc limit 1;
  if not found then
    insert into feed_epoch (server, marked_at) values (v_server, clock_ms());
    return false;
  end if;
  if v_last.server <> v_server then
    insert into feed_epoch (epoch, server) values (1 + floor(random() * 2147483646)::int, v_server);
    return true;
  end if;
  return v_last.marked_at is null;
end
$$;

-- Returns the id of a new order: the one that derives from its idempotency key, or the next in its line where an earlier
-- order has it. A key can be used anew 30 days after its first use; an order stays.
create or replace function free_order_id(p_platform uuid, p_id uuid) returns uuid
  language plpgsql
as $$
begin
  while exists (select from rail_order o where o.platform_id = p_platform and o.id = p_id) loop
    p_id := md5(p_id::text)::uuid;
  end loop;
  return p_id;
end
$$;

-- Before update on account: the balance changes only through postings (apply_posting), owner, currency and details never
-- change, and the status of an external account changes only along external_account_move. An event stores
-- what may change: a column that is not refused here is in account_state and account_as_of.
create or replace function guard_account() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.kind, new.customer_id, new.currency, new.funding_instructions,
      new.account_type, new.account_info, new.identifier, new.bank, new.beneficiary)
     is distinct from (old.platform_id, old.id, old.created_at, old.kind, old.customer_id, old.currency, old.funding_instructions,
      old.account_type, old.account_info, old.identifier, old.bank, old.beneficiary) then
    raise exception 'account %: its owner, currency and details cannot change', old.id using errcode = 'LG002';
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

-- Before update on adjustment: it is decided once, and what was proposed never changes (decision 81).
create or replace function guard_adjustment() returns trigger
  language plpgsql
as $$
begin
  if old.status <> 'PROPOSED' or new.status = 'PROPOSED' then
    raise exception 'adjustment % goes from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  if (new.platform_id, new.id, new.account_id, new.amount, new.currency, new.reason, new.proposed_by, new.proposed_at, new.expires_at)
     is distinct from
     (old.platform_id, old.id, old.account_id, old.amount, old.currency, old.reason, old.proposed_by, old.proposed_at, old.expires_at) then
    raise exception 'adjustment %: what was proposed never changes', old.id using errcode = 'LG001';
  end if;
  return new;
end
$$;

-- Before insert on stored_event: only sequence_outbox writes the feed, from the outbox. The rows that the outbox names belong
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

-- Before update on quote: only the status changes, and only along quote_move. Nothing else ever does: an event
-- stores of a quote only its status (quote_as_of).
create or replace function guard_quote() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.expires_at, new.transaction_id, new.customer_id,
      new.source_kind, new.source_account_id, new.destination_kind, new.destination_account_id, new.destination_uma_address,
      new.sending_currency, new.receiving_currency, new.total_sending_amount, new.total_receiving_amount,
      new.exchange_rate, new.fees_included, new.platform_fee, new.locked_currency_side, new.pricing, new.metadata, new.rate_lock,
      new.lookup_id, new.description, new.payment_instructions, new.sender_information, new.scenario)
     is distinct from
     (old.platform_id, old.id, old.created_at, old.expires_at, old.transaction_id, old.customer_id,
      old.source_kind, old.source_account_id, old.destination_kind, old.destination_account_id, old.destination_uma_address,
      old.sending_currency, old.receiving_currency, old.total_sending_amount, old.total_receiving_amount,
      old.exchange_rate, old.fees_included, old.platform_fee, old.locked_currency_side, old.pricing, old.metadata, old.rate_lock,
      old.lookup_id, old.description, old.payment_instructions, old.sender_information, old.scenario) then
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

-- Before update on transaction: the status changes along transaction_move, the parties and amounts never change (but for the
-- account that an incoming payment goes to), and the times of settlement and refund come from the clock of the database. An
-- event stores what may change: a column that is not refused here is in transaction_state and transaction_as_of.
create or replace function guard_transaction() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.type, new.customer_id, new.quote_id, new.sent_amount, new.sent_currency,
      new.received_currency, new.source_account_id, new.reference, new.fees, new.exchange_rate,
      new.source_name, new.source_number, new.metadata, new.received_amount, new.source_kind, new.source_uma_address,
      new.destination_kind, new.destination_uma_address, new.rate_details, new.description)
     is distinct from
     (old.platform_id, old.id, old.created_at, old.type, old.customer_id, old.quote_id, old.sent_amount, old.sent_currency,
      old.received_currency, old.source_account_id, old.reference, old.fees, old.exchange_rate,
      old.source_name, old.source_number, old.metadata, old.received_amount, old.source_kind, old.source_uma_address,
      old.destination_kind, old.destination_uma_address, old.rate_details, old.description)
    or (old.type = 'OUTGOING' and (new.destination_account_id, new.approval_due_at, new.requested_information)
        is distinct from (old.destination_account_id, old.approval_due_at, old.requested_information)) then
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
-- do not change what was paid. A customer or account takes part in it, each that does is of its platform (name_party finds the
-- accounts), and its currencies are known. None of these is ever deleted, so one check is enough. Foreign keys would look each up
-- again, and lock its row, which may be one that all transactions share.
create or replace function guard_transaction_start() returns trigger
  language plpgsql
as $$
declare
  v_party record;
begin
  if new.status not in ('CREATED', 'PENDING') then
    raise exception 'transaction %: nothing starts as %', new.id, new.status using errcode = 'LG003';
  end if;
  if num_nonnulls(new.customer_id, new.source_account_id, new.destination_account_id) = 0 then
    raise exception 'transaction %: nobody takes part in it', new.id using errcode = 'foreign_key_violation';
  end if;
  if not exists (select from currency where code = new.received_currency)
     or (new.sent_currency is not null and not exists (select from currency where code = new.sent_currency))
     or (new.customer_id is not null
         and not exists (select from customer c where c.platform_id = new.platform_id and c.id = new.customer_id)) then
    raise exception 'transaction %: in an unknown currency, or of a customer who is not of its platform', new.id
      using errcode = 'foreign_key_violation';
  end if;
  -- Assignments, which cost less than statements.
  v_party := name_party(new.platform_id, new.source_account_id, new.customer_id);
  new.source_name := v_party.name;
  new.source_number := v_party.number;
  v_party := name_party(new.platform_id, new.destination_account_id, new.customer_id);
  new.destination_name := v_party.name;
  new.destination_number := v_party.number;
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

-- Says whether this server is a standby of a history, and has replayed its log up to a position. What the next statement of the
-- session reads is then not older.
create or replace function has_replayed(p_lsn pg_lsn, p_history text) returns boolean
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
begin
  return pg_is_in_recovery() and coalesce(pg_last_wal_replay_lsn() >= p_lsn, false) and exists (
    select from (select * from feed_epoch order by id desc limit 1) e
    where e.id || '/' || coalesce(e.epoch, 0) || '/' || e.server = p_history);
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
            and a.identifier is null and a.bank is null and a.beneficiary is null and not a.default_uma_deposit_account
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
    -- The rail takes all but the platform's part of the fees.
    and (q.rate_lock is null or (
      (q.rate_lock ->> 'sent')::bigint = q.total_sending_amount - q.platform_fee
      and (q.rate_lock ->> 'received')::bigint = q.total_receiving_amount
      and (q.rate_lock ->> 'reference') is not null) is true)
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

-- Leases up to p_limit due orders for p_lease_ms, each with all data that its outcome may need. Nobody else takes them
-- in this time. Planned once per connection, in the written order of joins and by keys alone: an order needs some
-- twenty rows among millions, and the search for the best order of these joins took far longer than the joins.
create or replace function lease_rail_orders(p_limit int, p_lease_ms bigint) returns table (
  platform_id uuid, id uuid, kind rail_order_kind, attempts int, scenario jsonb, environment environment, new_id uuid,
  leased_until text, age_ms float8, transaction json, platform_fee bigint, sender_information jsonb,
  sender_uma_address text, source json, destination json, funding_account_id uuid, platform_account_id uuid,
  can_return_fee boolean, receiver_platform_id uuid, receiver_customer_id uuid, receiver_is_active boolean,
  deposit_account_id uuid, incoming json, incoming_destination json, approval_left_ms float8,
  approval_deferred boolean, rate_lock jsonb
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
    r.platform_id, r.id, not r.is_deleted and r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED') and r.frozen_at is null
      and case when rd.id is null then ri.frozen_at else rd.frozen_at end is null,
    coalesce(rd.id, ri.id),
    case when i.id is not null then to_json(i) end,
    case when ia.id is not null then account_party(ia) end,
    date_part('epoch', coalesce(i.approval_due_at, t.approval_due_at) - clock_timestamp()) * 1000,
    o.approval_deferred, o.rate_lock
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
--   2. quotes  3. transactions  4. orders for the rail  5. adjustments  6. cases of orders  7. customers  8. internal accounts
--   9. external accounts, each by platform and id
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
  if p_plans @? '$[*].plan ? (exists (@.adjustments) || exists (@.cases))' then
    perform from adjustment where platform_id = any (v_platforms)
      and id = any (uuids(jsonb_path_query_array(p_plans, '$[*].plan.adjustments[*].id')))
    order by platform_id, id for no key update;
    perform from rail_case where platform_id = any (v_platforms)
      and order_id = any (uuids(jsonb_path_query_array(p_plans, '$[*].plan.cases[*].order_id')))
    order by platform_id, order_id for no key update;
  end if;

  v_changed := uuids(jsonb_path_query_array(p_plans, '$[*].plan.customers[*].id'));
  v_active := uuids(jsonb_path_query_array(p_plans, '$[*].plan.require_active.customers[*]'));
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

-- Notes that an operator has restored the database, or has seen to what the server did by itself, and begins an epoch of the
-- feed: a restore of the disks alone shows in nothing else. One too many does no harm, since events stay in theirs.
create or replace function mark_restore() returns int
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_epoch int := 1 + floor(random() * 2147483646)::int;
begin
  perform follow_server();
  insert into feed_epoch (epoch, server) values (v_epoch, server_name());
  update feed_epoch set marked_at = clock_ms() where marked_at is null;
  return v_epoch;
end
$$;

-- Returns the name and the number that a payment stores of an account at one of its ends: of an internal account that is
-- not its customer's own, the name is that of the owner. An account is never deleted, so finding it here replaces a foreign key of
-- the payment, which would look it up again and lock it.
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
  if not found then
    raise exception 'no account % of its platform', p_account using errcode = 'foreign_key_violation';
  end if;
  number := account_number(v_account.kind, v_account.id, v_account.identifier);
  if v_account.kind = 'INTERNAL' and v_account.customer_id is distinct from p_customer then
    name := case when v_account.customer_id is null
      then (select p.name from platform p where p.id = p_platform)
      else (select c.name from customer c where c.platform_id = p_platform and c.id = v_account.customer_id) end;
  end if;
  name := coalesce(name, account_name(v_account.beneficiary, v_account.account_type, v_account.currency));
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

-- Returns where the primary is: the end of the log that holds every commit that has been answered, and the history that it
-- belongs to. A session that acknowledges commits before they are flushed asks for the end of what is written. The history
-- is null where the server is another than the epoch of the feed says (follow_server): then no standby can be compared.
-- Fails on a standby.
create or replace function read_position(out lsn pg_lsn, out history text)
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_server text := server_name();
begin
  lsn := case current_setting('synchronous_commit')
    when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end;
  select e.id || '/' || coalesce(e.epoch, 0) || '/' || e.server into history
  from (select * from feed_epoch order by id desc limit 1) e where e.server = v_server;
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
-- A row that was moved stays in the index while an old snapshot may still see it, such as that of a dump. So each session
-- remembers an id up to which nothing can come any more, and reads only behind it: half a million such rows cost 80 ms a step.
-- An id is given before its transaction commits. So an id that was moved counts as such a limit only when no transaction is open
-- that was open 15 seconds later (a statement gets its transaction id within that time after the id of its row, or is cancelled),
-- and no row up to it is left.
create or replace function sequence_outbox(p_limit int) returns int
  language plpgsql
  security definer set search_path = public, pg_temp
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
as $$
declare
  v_heads text[];
  v_count int;
  v_epoch int;
  -- The limit; an id that may become the next, since when in milliseconds, and the transaction id before which all must have ended.
  v_past bigint[] := coalesce(nullif(current_setting('gateway.outbox_past', true), ''), '{0,0,0,0}');
  v_now bigint := extract(epoch from clock_timestamp()) * 1000;
  v_last bigint;
begin
  select epoch into v_epoch from feed_epoch order by id desc limit 1;
  with taken as (
    delete from outbox where ctid = any (array(select ctid from outbox where id > v_past[1] order by id limit p_limit)) returning *
  ), counted as (
    select platform_id, count(*) as events from taken group by platform_id
  ), heads as (
    insert into feed_head as h (platform_id, sequence, epoch)
    select platform_id, events, v_epoch from counted
    on conflict (platform_id) do update set sequence = h.sequence + excluded.sequence, epoch = excluded.epoch
    returning h.platform_id, h.sequence
  ), placed as (
    insert into stored_event (platform_id, sequence, id, type, occurred_at, transaction_id, quote_id, account_id, customer_id,
                              version, previous_status, status, reason, terminal, old_balance, new_balance, snapshot, epoch)
    select t.platform_id, h.sequence - c.events + row_number() over (partition by t.platform_id order by t.id),
           t.event_id, t.type, t.occurred_at, t.transaction_id, t.quote_id, t.account_id, t.customer_id,
           t.version, t.previous_status, t.status, t.reason, t.terminal, t.old_balance, t.new_balance, t.snapshot, v_epoch
    from taken t join counted c using (platform_id) join heads h using (platform_id)
  )
  select array_agg(h.platform_id::text || ':' || h.sequence), coalesce(sum(c.events), 0)::int, (select max(t.id) from taken t)
  into v_heads, v_count, v_last
  from heads h join counted c using (platform_id);

  if v_past[2] = 0 then
    if v_last > v_past[1] then
      v_past := array[v_past[1], v_last, v_now, 0];
    end if;
  elsif v_past[4] = 0 then
    if v_now < v_past[3] then
      v_past[3] := v_now;
    elsif v_now - v_past[3] > 15000 then
      v_past[4] := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    end if;
  elsif pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= v_past[4] then
    -- This statement sees what those transactions have committed.
    if not exists (select from outbox where id > v_past[1] and id <= v_past[2]) then
      v_past := array[v_past[2], 0, 0, 0];
    end if;
  end if;
  perform set_config('gateway.outbox_past', v_past::text, false);

  -- A notification has less than 8,000 bytes: about 57 bytes for each platform.
  for v_from in 1 .. coalesce(array_length(v_heads, 1), 0) by 100 loop
    perform pg_notify('feed', array_to_string(v_heads[v_from : v_from + 99], ','));
  end loop;
  return v_count;
end
$$;

-- Returns what tells this database from its own past: the server, its timeline and the database. A timeline begins where a backup
-- is restored to a moment, and where a standby is promoted. Null where the server does not say.
create or replace function server_name() returns text
  language plpgsql
as $$
begin
  return (select s.system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || d.oid
    from pg_control_system() s, pg_database d where d.datname = current_database());
exception when insufficient_privilege or undefined_function or feature_not_supported then
  return null;
end
$$;

-- Freezes a customer or an account, or thaws it, and writes the act of the operator (decision 78). Returns null for an unknown
-- id, else the platform, the time since which it was frozen before, and whether it has changed. Locks in the order of
-- lock_plans: of a customer its internal accounts, too, since a payment from one may lock nothing else.
create or replace function set_frozen(p_noun text, p_id uuid, p_frozen boolean, p_by text, p_reason text) returns jsonb
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_platform uuid;
  v_customer customer;
  v_account account;
  v_before timestamptz;
  v_after timestamptz;
  v_type text;
begin
  if p_noun = 'CUSTOMER' then
    select c.platform_id into v_platform from platform p join customer c on c.platform_id = p.id and c.id = p_id;
    select * into v_customer from customer where platform_id = v_platform and id = p_id for no key update;
    if not found then
      return null;
    end if;
    perform from account where platform_id = v_platform and customer_id = p_id and kind = 'INTERNAL'
    order by platform_id, id for no key update;
    v_before := v_customer.frozen_at;
    v_type := 'Customer';
  else
    select a.platform_id into v_platform from platform p join account a on a.platform_id = p.id and a.id = p_id
      and a.kind::text = p_noun;
    select * into v_account from account where platform_id = v_platform and id = p_id for no key update;
    if not found then
      return null;
    end if;
    v_before := v_account.frozen_at;
    v_type := case p_noun when 'INTERNAL' then 'InternalAccount' else 'ExternalAccount' end;
  end if;
  if (v_before is not null) = p_frozen then
    return jsonb_build_object('platform', v_platform, 'since', v_before, 'changed', false);
  end if;
  v_after := case when p_frozen then clock_ms() end;
  if p_noun = 'CUSTOMER' then
    update customer set frozen_at = v_after where platform_id = v_platform and id = p_id;
  else
    update account set frozen_at = v_after where platform_id = v_platform and id = p_id;
  end if;
  insert into operator_act (platform_id, operator, act, subject, reason, before, after)
  values (v_platform, p_by, lower(case p_noun when 'CUSTOMER' then p_noun else 'ACCOUNT' end) || case when p_frozen then ' freeze' else ' thaw' end,
          v_type || ':' || p_id, p_reason, jsonb_build_object('frozenAt', v_before), jsonb_build_object('frozenAt', v_after));
  return jsonb_build_object('platform', v_platform, 'since', coalesce(v_after, v_before), 'changed', true);
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

-- Check constraints. On the busiest tables they are functions of the row (is_sound_account says why).
-- Free space in the pages of accounts, for heap-only updates: of quotes and transactions none is heap-only (bench/LOG.md).
alter table account add constraint account_sound check (is_sound_account(account)), set (fillfactor = 75);
alter table quote add constraint quote_sound check (is_sound_quote(quote));
alter table transaction add constraint transaction_sound check (is_sound_transaction(transaction));
alter table posting
  add constraint posting_amount check (amount <> 0),
  add constraint posting_side check ((account_id is null) <> (system is null)),
  add constraint posting_chain check ((account_id is null) = (balance_after is null) and (account_id is null) = (account_version is null));
-- A limit of rate has both its numbers or neither.
alter table platform
  add constraint platform_rate check (num_nulls(rate_limit, rate_burst) <> 1 and least(rate_limit, rate_burst) > 0),
  add constraint platform_api_token_rate check (num_nulls(api_token_rate_limit, api_token_rate_burst) <> 1 and least(api_token_rate_limit, api_token_rate_burst) > 0),
  add constraint platform_client_token_rate check (num_nulls(client_token_rate_limit, client_token_rate_burst) <> 1 and least(client_token_rate_limit, client_token_rate_burst) > 0);
-- Frequent updates of columns without an index: they stay in their page, and vacuum has little to do
alter table resume_point set (fillfactor = 50);
alter table platform_fee add constraint platform_fee_range check (fixed_fee >= 0 and variable_fee_rate >= 0 and variable_fee_rate < 1);
-- 1 to 255 printable characters of ASCII. A count up to 255 in the regular expression took most of the time to write a record.
alter table idempotency_record add constraint idempotency_key_form check (length(key) between 1 and 255 and key !~ '[^\x21-\x7e]');
-- A client token is bound to exactly one record, and never has a permission that is only for a platform's server. That of a
-- customer ends with this customer.
alter table client_token
  add constraint client_token_bound_to_one check (num_nonnulls(customer_id, quote_id, transaction_id) = 1),
  add constraint client_token_owner check (customer_id is null or customer_id is not distinct from owner_id),
  add constraint client_token_permissions check (permissions <@ array['VIEW', 'TRANSACT']::permission[]);
alter table webhook_endpoint
  add constraint webhook_endpoint_types check (event_types is not null and cardinality(event_types) > 0),
  add constraint webhook_endpoint_previous_secret check ((previous_secret is null) = (previous_secret_until is null)),
  add constraint webhook_endpoint_disabled check ((status = 'DISABLED') = (disabled_at is not null));
-- A pending delivery has a next attempt, and no other has one.
alter table webhook_delivery add constraint webhook_delivery_next check ((status = 'PENDING') = (next_attempt_at is not null));
-- Exactly one row.
alter table clock_reading add constraint clock_reading_one check (id);
alter table audit_checkpoint add constraint audit_checkpoint_single check (id);
alter table key_in_use add constraint key_in_use_setting check (setting in ('SECRET_KEY', 'CLIENT_TOKEN_KEY'));
-- One state of an adjustment or the other, decided by another person than its proposer.
alter table adjustment add constraint adjustment_sound check (
  amount between -9000000000000000 and 9000000000000000 and amount <> 0
  and length(proposed_by) between 1 and 200 and length(reason) between 1 and 1000
  and length(decided_by) between 1 and 200 and length(decided_reason) between 1 and 1000
  and expires_at > proposed_at
  and (status = 'PROPOSED') = (decided_by is null) and (status = 'PROPOSED') = (decided_at is null)
  and (status = 'APPROVED') = (journal_id is not null)
  and (status <> 'APPROVED' or not same_person(proposed_by, decided_by)));
alter table operator_act add constraint operator_act_sound check (
  length(operator) between 1 and 200 and length(act) between 1 and 100 and length(reason) between 1 and 1000);
alter table audit_run add constraint audit_run_sound check (rules > 0 and broken is not null);
alter table audit_mark add constraint audit_mark_sound check (sequence >= 0);
alter table audit_balance add constraint audit_balance_sound check (posted >= 0 and version > 0);
alter table reconciliation add constraint reconciliation_sound check (period_from < period_to and length(started_by) between 1 and 200);
alter table reconciliation_difference add constraint reconciliation_difference_sound check (
  (closed_at is null) = (closed_by is null) and (closed_at is null) = (closed_reason is null)
  and length(closed_by) between 1 and 200 and length(closed_reason) between 1 and 1000);
-- A payment whose provider has moved another amount is settled by a person, who closes its case.
alter table rail_case add constraint rail_case_settled check (
  moved_out is null and moved_in is null
  or kind = 'OTHER_AMOUNT' and closed_at is not null and closed_by is not null and closed_reason is not null);
alter table rail_webhook add constraint rail_webhook_sound check (length(webhook_id) between 1 and 200 and length(body) <= 102400);
alter table rail_deposit add constraint rail_deposit_sound check (
  amount between 1 and 9000000000000000 and length(reference) between 1 and 200 and length(held_at) between 1 and 200
  and (status = 'RECEIVED') = (due_at is not null) and (status = 'CREDITED') = (transaction_id is not null)
  and (status not in ('RECEIVED', 'CREDITED') or account_id is not null)
  and (status not in ('UNATTRIBUTED', 'CLOSED') or length(reason) between 1 and 1000));
-- Events are a view for Prisma, which knows no foreign key to their table.
alter table webhook_delivery add constraint webhook_delivery_event foreign key (platform_id, event_sequence) references stored_event (platform_id, sequence);
insert into clock_reading default values;

-- One internal account per owner and currency; one external account that is not INACTIVE per owner, currency, bank and
-- identifier;
-- one default for incoming UMA payments per customer; one customer that is not deleted per UMA address; at most one endpoint
-- that the settings of a platform name.
create unique index account_internal_owner on account (platform_id, customer_id, currency) nulls not distinct where kind = 'INTERNAL';
create unique index account_external_identifier on account (platform_id, customer_id, currency, account_type, bank, identifier) nulls not distinct where kind = 'EXTERNAL' and status <> 'INACTIVE';
create unique index account_default_uma_deposit on account (platform_id, customer_id) where default_uma_deposit_account;
create unique index customer_uma_address on customer (lower(uma_address)) where not is_deleted;
create unique index webhook_endpoint_of_config on webhook_endpoint (platform_id) where of_config;
-- One posting per account and version, among the legs that have an account: most have none.
create unique index posting_chain_of_account on posting (platform_id, account_id, account_version) where account_id is not null;

-- The events of a customer itself, among those of all its payments
create index event_of_customer_itself on stored_event (platform_id, customer_id, sequence) where type in ('KYC_STATUS', 'CUSTOMER_CHANGE');

-- An event of a transaction or a quote has no account, and that of an account no transaction: no entry for what it has not
create index event_of_transaction on stored_event (platform_id, transaction_id, sequence) where transaction_id is not null;
create index event_of_account on stored_event (platform_id, account_id, sequence) where account_id is not null;

-- Pending work
create index quote_expiry on quote (expires_at) where status = 'PENDING';
create index rail_order_due on rail_order (due_at) where due_at is not null;
create index webhook_delivery_due on webhook_delivery (platform_id, endpoint_id, next_attempt_at) where status = 'PENDING';
create index webhook_delivery_leased on webhook_delivery (platform_id, endpoint_id) where leased_until is not null;
create index webhook_delivery_questions on webhook_delivery (next_attempt_at) where status = 'PENDING' and question;
create index rail_webhook_due on rail_webhook (due_at) where due_at is not null;
create index rail_webhook_done on rail_webhook (received_at) where due_at is null;
create index rail_deposit_due on rail_deposit (due_at) where status = 'RECEIVED';
create index rail_deposit_open on rail_deposit (found_at) where status = 'UNATTRIBUTED';
create index rail_connection_deposits_due on rail_connection (deposits_due_at);
create index reconciliation_difference_open on reconciliation_difference (platform_id, period_from) where closed_at is null and gone_at is null;
-- Refunds that wait in suspense, for the operator
create index transaction_refund_waits on transaction (refund_initiated_at) where refund_reference is not null and refund_settled_at is null;
-- Lookups that no quote names are deleted when they are old; those of a token that have not expired are counted
create index lookup_expiry on lookup (expires_at);
create index lookup_of_token on lookup (platform_id, token_id, expires_at);
create index quote_lookup on quote (platform_id, lookup_id) where lookup_id is not null;
-- Filters of lists (docs/lists.md): of the rows that few have, so that the others cost nothing
create index customer_name on customer (platform_id, (lower(name)) collate "C");
create index account_status on account (platform_id, status, id) where status is not null;
create index account_account_type on account (platform_id, account_type, id) where account_type is not null;
create index account_verification on account (platform_id, beneficiary_verification_status, id) where beneficiary_verification_status is not null;
create index transaction_failure_reason on transaction (platform_id, failure_reason, id) where failure_reason is not null;
create index transaction_source_uma_address on transaction (platform_id, source_uma_address, id) where source_uma_address is not null;
create index transaction_destination_uma_address on transaction (platform_id, destination_uma_address, id) where destination_uma_address is not null;
create index quote_destination_uma_address on quote (platform_id, destination_uma_address, id) where destination_uma_address is not null;
create index transaction_begun on transaction (platform_id, id) where quote_id is null or (status <> 'PENDING' and status <> 'EXPIRED');
create index webhook_delivery_undelivered on webhook_delivery (platform_id, endpoint_id, id) where status <> 'DELIVERED';

-- The allowed moves of statuses
insert into quote_move ("from", "to") values
  ('PENDING', 'PROCESSING'), ('PENDING', 'EXPIRED'), ('PENDING', 'FAILED'), ('PROCESSING', 'COMPLETED'), ('PROCESSING', 'FAILED');
insert into transaction_move ("from", "to") values
  ('CREATED', 'PENDING'), ('CREATED', 'EXPIRED'), ('CREATED', 'FAILED'),
  ('PENDING', 'PROCESSING'), ('PENDING', 'COMPLETED'), ('PENDING', 'REJECTED'), ('PENDING', 'FAILED'), ('PENDING', 'EXPIRED'),
  ('PROCESSING', 'COMPLETED'), ('PROCESSING', 'REJECTED'), ('PROCESSING', 'FAILED'),
  ('COMPLETED', 'REFUNDED');
insert into external_account_move ("from", "to") values
  ('PENDING', 'ACTIVE'), ('PENDING', 'UNDER_REVIEW'), ('PENDING', 'INACTIVE'),
  ('ACTIVE', 'UNDER_REVIEW'), ('ACTIVE', 'INACTIVE'),
  ('UNDER_REVIEW', 'ACTIVE'), ('UNDER_REVIEW', 'INACTIVE'),
  ('INACTIVE', 'ACTIVE');

insert into currency (code, name, symbol, decimals) values
  ('USD', 'US Dollar', '$', 2), ('EUR', 'Euro', '€', 2), ('GBP', 'British Pound', '£', 2), ('MXN', 'Mexican Peso', 'MX$', 2),
  ('BRL', 'Brazilian Real', 'R$', 2), ('INR', 'Indian Rupee', '₹', 2), ('NGN', 'Nigerian Naira', '₦', 2), ('CAD', 'Canadian Dollar', 'CA$', 2),
  ('PHP', 'Philippine Peso', '₱', 2), ('SGD', 'Singapore Dollar', 'S$', 2), ('JPY', 'Japanese Yen', '¥', 0), ('BTC', 'Bitcoin', '₿', 8),
  ('USDC', 'USD Coin', 'USDC', 6), ('USDT', 'Tether', 'USDT', 6);

-- New rows get their version and times, and start with an allowed status
create trigger stamp before insert on customer for each row execute function stamp_new_row();
create trigger stamp before insert on account for each row execute function stamp_new_row();
create trigger start before insert on account for each row execute function guard_account_start();
create trigger start before insert on quote for each row execute function guard_quote_start();
create trigger start before insert on transaction for each row execute function guard_transaction_start();
create trigger stamp before insert on lookup for each row execute function stamp_lookup();

-- Changes are checked before, and announced after
create trigger guard before update on customer for each row execute function stamp_change();
create trigger guard before update on account for each row execute function guard_account();
create trigger guard before update on quote for each row execute function guard_quote();
create trigger guard before update on transaction for each row execute function guard_transaction();
create trigger guard before update on adjustment for each row execute function guard_adjustment();
create trigger address before insert or update of uma_address on customer for each row execute function guard_uma_address();
create trigger reserve after insert or update of uma_domain on platform for each row execute function reserve_uma_domain();
create trigger announce after insert or update on customer for each row execute function announce_customer();
create trigger announce after insert or update on account for each row execute function announce_account();
create trigger announce after update on webhook_delivery for each row
  when (old.status = 'PENDING' and new.status <> 'PENDING') execute function announce_delivery();
create trigger announce after insert on quote referencing new table as now_is for each statement execute function announce_quote();
create trigger announce_moved after update on quote referencing old table as was new table as now_is for each statement execute function announce_quote();
create trigger announce after insert on transaction referencing new table as now_is for each statement execute function announce_transaction();
create trigger announce_moved after update on transaction referencing old table as was new table as now_is for each statement execute function announce_transaction();

-- A leg on an account changes its balance; each statement checks its legs once; a journal must balance when it commits
create trigger apply before insert on posting for each row when (new.account_id is not null) execute function apply_posting();
create trigger legs after insert on posting referencing new table as leg for each statement execute function check_legs();
create constraint trigger balance after insert on journal deferrable initially deferred for each row execute function check_journal();

-- Only sequence_outbox writes the feed; triggers write the outbox, and other rows of it are checked
create trigger guard before insert on outbox for each row when (pg_trigger_depth() = 0) execute function guard_outbox();
create trigger guard before insert on stored_event for each statement execute function guard_feed();

-- Records that are written once, and rows that others name, are never deleted
create trigger append_only before update or delete on journal for each row execute function refuse_change();
create trigger append_only before update or delete on posting for each row execute function refuse_change();
create trigger append_only before update or delete on stored_event for each row execute function refuse_change();
create trigger append_only before update or delete on arrival for each row execute function refuse_change();
create trigger append_only before update or delete on uma_domain for each row execute function refuse_change();
create trigger append_only before update or delete on operator_act for each row execute function refuse_change();
create trigger append_only before update or delete on audit_run for each row execute function refuse_change();
create trigger append_only before update of code or delete on currency for each row execute function refuse_change();
create trigger no_delete before delete on customer for each row execute function refuse_change();
create trigger no_delete before delete on account for each row execute function refuse_change();
create trigger no_delete before delete on quote for each row execute function refuse_change();
create trigger no_delete before delete on transaction for each row execute function refuse_change();
create trigger no_delete before delete on adjustment for each row execute function refuse_change();
create trigger no_truncate before truncate on journal for each statement execute function refuse_change();
create trigger no_truncate before truncate on posting for each statement execute function refuse_change();
create trigger no_truncate before truncate on uma_domain for each statement execute function refuse_change();
create trigger no_truncate before truncate on stored_event for each statement execute function refuse_change();
create trigger no_truncate before truncate on currency for each statement execute function refuse_change();
create trigger no_truncate before truncate on account for each statement execute function refuse_change();
create trigger no_truncate before truncate on quote for each statement execute function refuse_change();
create trigger no_truncate before truncate on transaction for each statement execute function refuse_change();
create trigger no_truncate before truncate on adjustment for each statement execute function refuse_change();
create trigger no_truncate before truncate on operator_act for each statement execute function refuse_change();
create trigger no_truncate before truncate on audit_run for each statement execute function refuse_change();

-- What reads events reads this view: the row after a change is made of what the event stores and of the row of now (decision 88).
-- A column that is not asked for is not computed. The rights and the row-level security of the caller hold for the tables in it.
create view event with (security_invoker = true) as
  select e.platform_id, e.sequence, e.id, e.type, e.occurred_at, e.transaction_id, e.quote_id, e.account_id, e.customer_id,
    e.version, e.previous_status, e.status, e.reason, e.terminal, e.old_balance, e.new_balance,
    case
      when e.snapshot ? 'id' then e.snapshot
      when e.type in ('OUTGOING_PAYMENT', 'INCOMING_PAYMENT') then (
        select transaction_as_of(t, e) from public.transaction t where t.platform_id = e.platform_id and t.id = e.transaction_id)
      when e.type = 'QUOTE_STATUS' then (
        select quote_as_of(q, e) from public.quote q where q.platform_id = e.platform_id and q.id = e.quote_id)
      when e.type in ('ACCOUNT_STATUS', 'EXTERNAL_ACCOUNT_STATUS', 'ACCOUNT_CHANGE') then (
        select account_as_of(a, e) from public.account a where a.platform_id = e.platform_id and a.id = e.account_id)
      else e.snapshot
    end as snapshot,
    e.epoch
  from stored_event e;

-- The wall of the database (docs/database-roles.md). Two roles serve: gateway_serving answers requests and sees one platform
-- at a time, gateway_work does background work for all platforms. Neither owns a table. A login is a member of them.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['gateway_serving', 'gateway_work'] loop
    if not exists (select from pg_roles where rolname = v_role) then
      begin
        execute format('CREATE ROLE %I NOLOGIN', v_role);
      exception when duplicate_object or unique_violation then
        -- The migration of another database of this server has just made it.
        null;
      end;
    end if;
  end loop;
end
$$;
grant usage on schema public to gateway_serving, gateway_work;

-- What both read: all that a platform may see of itself, and which migrations were applied
grant select on platform, uma_domain, platform_fee, api_token, client_token, currency, customer, account, quote, transaction,
  journal, posting, idempotency_record, rail_order, lookup, stored_event, event, feed_head, webhook_endpoint, webhook_delivery,
  webhook_attempt, resume_point, trusted_document to gateway_serving;
grant select on all tables in schema public to gateway_work;
do $$
begin
  if to_regclass('public._prisma_migrations') is not null then
    revoke all on _prisma_migrations from public;
    grant select on _prisma_migrations to gateway_serving, gateway_work;
  end if;
  -- Only its owner may: where that is somebody else, prisma/roles.sql does it.
  if pg_has_role((select nspowner from pg_namespace where nspname = 'public'), 'USAGE') then
    revoke all on schema public from public;
  end if;
end
$$;

-- Plain records of a platform. Money, statuses and events change only in commit_batches and sequence_outbox. A row may be
-- locked by who may update one of its columns: the version of a customer, which a trigger sets anyway
grant insert on api_token, client_token, idempotency_record, lookup, webhook_endpoint, webhook_delivery, outbox
  to gateway_serving, gateway_work;
grant select (event_id) on outbox to gateway_serving;
grant usage on sequence outbox_id_seq to gateway_serving, gateway_work;
grant update (uma_domain, currencies, trusted_documents, updated_at) on platform to gateway_serving, gateway_work;
grant update (last_used_at, revoked_at) on api_token to gateway_serving, gateway_work;
grant update (revoked_at) on client_token to gateway_serving, gateway_work;
grant update (result) on idempotency_record to gateway_serving, gateway_work;
grant update (version) on customer to gateway_work;
grant update, delete on webhook_endpoint to gateway_serving, gateway_work;
grant select, insert on key_in_use to gateway_serving, gateway_work;
grant update on webhook_delivery to gateway_serving, gateway_work;
grant insert, update, delete on resume_point to gateway_serving, gateway_work;
grant insert, delete on trusted_document to gateway_serving, gateway_work;

-- Requests store what a rail has found to be its provider's; only background work reads, works on and deletes it
grant insert (platform_id, webhook_id, body) on rail_webhook to gateway_serving;

-- Background work and the operator's commands. An approval of an adjustment moves money: only commit_batches makes one
grant insert on platform, webhook_attempt, rail_case, rail_connection, rail_deposit, operator_act, audit_run to gateway_work;
grant insert, update on reconciliation, reconciliation_difference, audit_checkpoint, audit_mark, audit_balance to gateway_work;
grant insert (platform_id, id, account_id, amount, currency, reason, proposed_by, expires_at, status),
  update (status, decided_by, decided_reason, decided_at) on adjustment to gateway_work;
grant insert (platform_id, customer_id, due_at), update (due_at, attempts) on identity_check to gateway_work;
grant update (due_at, attempts) on rail_webhook to gateway_work;
grant update (account_id, status, reason, transaction_id, due_at, attempts) on rail_deposit to gateway_work;
grant update (times, closed_at, closed_by, closed_reason) on rail_case to gateway_work;
grant update (sealed, updated_at, deposits_due_at, deposits_from) on rail_connection to gateway_work;
grant update (rate_limit, rate_burst, api_token_rate_limit, api_token_rate_burst, client_token_rate_limit,
  client_token_rate_burst) on platform to gateway_work;
grant insert, update, delete on platform_fee to gateway_work;
grant update (due_at, attempts, approval_deferred) on rail_order to gateway_work;
grant update (due_at, attempts) on account_check to gateway_work;
grant update (expires_at) on lookup to gateway_work;
grant delete on idempotency_record, client_token, lookup, webhook_delivery, key_in_use, rail_connection, rail_webhook, identity_check to gateway_work;

-- Closed to PUBLIC: a role that is none of the service's calls nothing (docs/database-roles.md). Functions with the rights of their
-- callers are open to the two roles of the service, triggers to nobody.
do $$
declare
  v_function record;
begin
  for v_function in
    select p.oid::regprocedure as name, p.prosecdef or p.prorettype = 'trigger'::regtype as is_closed from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.prokind = 'f' and pg_has_role(p.proowner, 'USAGE')
      and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  loop
    if not v_function.is_closed then
      execute format('grant execute on function %s to gateway_serving, gateway_work', v_function.name);
    end if;
    execute format('revoke execute on function %s from public', v_function.name);
  end loop;
end
$$;
-- What later migrations of the same owner make
alter default privileges revoke execute on functions from public;
alter default privileges in schema public grant execute on functions to gateway_serving, gateway_work;

-- These functions run with the rights of the owner
grant execute on function commit_batches(jsonb), find_api_token(text), find_token_rights(uuid[], uuid[]),
  find_receiver(text, environment), wake_orders(uuid, uuid), oldest_waiting(), read_position(), has_replayed(pg_lsn, text)
  to gateway_serving, gateway_work;
grant execute on function sequence_outbox(int), follow_clock(), follow_server(), mark_restore(),
  set_frozen(text, uuid, boolean, text, text) to gateway_work;

-- Row-level security: every table with a platform, and the platforms. Without a platform no row is seen. The owner sees all
do $$
declare
  v_table regclass;
  v_column text;
  v_platform text := 'current_setting(''gateway.platform'', true)::uuid';
begin
  for v_table, v_column in
    select attrelid::regclass, attname from pg_attribute
    where attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p'))
      and attname = case attrelid when 'platform'::regclass then 'id' else 'platform_id' end and not attisdropped
  loop
    execute format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', v_table);
    execute format('CREATE POLICY "all_platforms" ON %s TO "gateway_work" USING (true)', v_table);
    execute format('CREATE POLICY "one_platform" ON %s TO "gateway_serving" USING (%I = %s)%s', v_table, v_column, v_platform,
      -- Only triggers announce what happened to money; an event without one is a test.
      case v_table when 'outbox'::regclass then format(' WITH CHECK (%I = %s AND "type" = ''TEST'')', v_column, v_platform) end);
  end loop;
end
$$;

-- The serving role reads these four through views of the same name, which its search path finds first (docs/database-roles.md,
-- "What does it cost?"): below row-level security no index serves a condition on an enum or on lower(), which are not leakproof
create schema serving;
grant usage on schema serving to gateway_serving;
create view serving.transaction as
  select * from public.transaction where platform_id = current_setting('gateway.platform', true)::uuid;
create view serving.quote as
  select * from public.quote where platform_id = current_setting('gateway.platform', true)::uuid;
create view serving.customer as
  select * from public.customer where platform_id = current_setting('gateway.platform', true)::uuid;
create view serving.account as
  select * from public.account where platform_id = current_setting('gateway.platform', true)::uuid;
grant select on serving.transaction, serving.quote, serving.customer, serving.account to gateway_serving;
grant update (version) on serving.customer to gateway_serving;
