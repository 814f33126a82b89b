-- Creates the database: some functions, including those that column defaults call; then types, tables with their
-- indexes, foreign keys, the other functions, and what Prisma cannot express. prisma/functions describes each function.
--
-- A primary key that begins with the platform is created after the other indexes that do. While a table is empty, all of
-- them cost the same, and Postgres plans with the newest; sessions keep such a plan until the table is analyzed.

create or replace function check_version(p_platform uuid, p_expected jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid := p_expected ->> 'id';
  v_version int;
begin
  case p_expected ->> 'type'
    when 'Customer' then select version into v_version from customer where platform_id = p_platform and id = v_id;
    when 'Account' then select version into v_version from account where platform_id = p_platform and id = v_id;
    when 'Quote' then select version into v_version from quote where platform_id = p_platform and id = v_id;
    when 'Transaction' then select version into v_version from transaction where platform_id = p_platform and id = v_id;
  end case;
  return case when v_version <> (p_expected ->> 'version')::bigint then
    jsonb_build_object('code', 'OTHER_VERSION', 'type', p_expected ->> 'type', 'id', v_id, 'version', v_version) end;
end
$$;

create or replace function claim_lock(p_platform uuid, p_claim jsonb) returns bigint
  language sql immutable parallel safe
as $$
  select hashtextextended(p_platform::text || (p_claim ->> 'operation') || ' ' || (p_claim ->> 'key'), 0)
$$;

create or replace function clock_ms() returns timestamptz
  language sql volatile parallel safe
as $$
  select date_trunc('milliseconds', clock_timestamp())
$$;

create or replace function uuid_v7() returns uuid
  language sql volatile parallel safe
as $$
  select (overlay(
    lpad(to_hex((date_part('epoch', clock_timestamp()) * 1000000)::bigint * 512 / 125), 15, '0') placing '7' from 13 for 0
  ) || right(gen_random_uuid()::text, 17))::uuid
$$;

create or replace function uuid_v7_time(id uuid) returns timestamptz
  language sql immutable strict parallel safe
as $$
  select to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;

create or replace function uuids(p_list jsonb) returns uuid[]
  language sql stable parallel safe
as $$
  select translate(p_list::text, '[]"', '{}')::uuid[]
$$;

create type environment as enum ('SANDBOX', 'PRODUCTION');
create type permission as enum ('VIEW', 'TRANSACT', 'APPROVE', 'MANAGE');
create type client_grant as enum ('LOOK_UP_RECEIVERS', 'ADD_BENEFICIARIES');
create type trusted_document_policy as enum ('OPTIONAL', 'APPS', 'ALL');
create type payment_kind as enum ('TRANSFER_OUT', 'TRANSFER_IN', 'TRANSFER_INTERNAL', 'QUOTE');
create type policy_release as enum ('FAILED', 'REFUNDED');
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
create type event_type as enum ('OUTGOING_PAYMENT', 'INCOMING_PAYMENT', 'ACCOUNT_STATUS', 'KYC_STATUS', 'TEST', 'QUOTE_STATUS', 'EXTERNAL_ACCOUNT_STATUS', 'CUSTOMER_CHANGE', 'ACCOUNT_CHANGE', 'WEBHOOK_DELIVERY', 'API_TOKEN_EXPIRY');
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
  version integer not null default 1,
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
  expires_at timestamptz(3),
  addresses text[] default array[]::text[],
  documents text[] default array[]::text[],
  replaces_id uuid,
  warned_at timestamptz(3)
);
create unique index api_token_client_id_key on api_token (client_id);
create unique index api_token_platform_id_replaces_id_key on api_token (platform_id, replaces_id);
create index api_token_platform_id_created_by_id_idx on api_token (platform_id, created_by_id);
alter table api_token add primary key (platform_id, id);

create table client_token (
  platform_id uuid not null,
  id uuid not null default uuid_v7(),
  customer_id uuid,
  quote_id uuid,
  transaction_id uuid,
  permissions permission[],
  grants client_grant[] default array[]::client_grant[],
  trusted_documents_only boolean not null default false,
  documents text[] default array[]::text[],
  created_at timestamptz(3) not null default clock_ms(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  created_by_id uuid,
  owner_id uuid
);
create index client_token_platform_id_created_by_id_expires_at_idx on client_token (platform_id, created_by_id, expires_at);
create index client_token_platform_id_owner_id_expires_at_idx on client_token (platform_id, owner_id, expires_at);
create index client_token_expires_at_idx on client_token (expires_at);
alter table client_token add primary key (platform_id, id);

create table trusted_document (
  platform_id uuid not null,
  hash text not null,
  text text not null,
  digest bytea not null,
  created_at timestamptz(3) not null default clock_ms()
);
create index trusted_document_platform_id_digest_idx on trusted_document (platform_id, digest);
alter table trusted_document add primary key (platform_id, hash);

create table policy (
  platform_id uuid not null,
  id uuid not null default uuid_v7(),
  subject_type text not null,
  subject_id uuid not null,
  limit_periods text[],
  limit_currencies text[],
  limit_maxima bigint[],
  kinds payment_kind[],
  receiver_account_ids text[],
  receiver_countries text[],
  receiver_uma_addresses text[],
  hours_from text,
  hours_to text,
  time_zone text not null,
  release_on policy_release[],
  approval jsonb,
  used bigint[],
  summed_at timestamptz(3)[],
  version integer not null default 1,
  created_at timestamptz(3) not null default clock_ms(),
  updated_at timestamptz(3) not null default clock_ms()
);
create unique index policy_platform_id_subject_id_key on policy (platform_id, subject_id);
alter table policy add primary key (platform_id, id);

create table policy_use (
  platform_id uuid not null,
  transaction_id uuid not null,
  policy_id uuid not null,
  used_at timestamptz(3) not null,
  amount bigint not null,
  currency text not null,
  released_at timestamptz(3)
);
create index policy_use_platform_id_policy_id_used_at_idx on policy_use (platform_id, policy_id, used_at);
alter table policy_use add primary key (platform_id, transaction_id, policy_id);

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
  search_name text collate "C",
  birth_date date,
  nationality text,
  registration_number text,
  tax_id text,
  address jsonb,
  beneficial_owners jsonb not null default '[]',
  metadata jsonb,
  frozen_at timestamptz(3)
);
create index customer_platform_id_platform_customer_id_id_idx on customer (platform_id, platform_customer_id, id);
create index customer_platform_id_uma_address_idx on customer (platform_id, uma_address);
create index customer_platform_id_updated_at_id_idx on customer (platform_id, updated_at, id);
create index customer_platform_id_kyc_status_id_idx on customer (platform_id, kyc_status, id);
create index customer_platform_id_search_name_idx on customer (platform_id, search_name);
alter table customer add primary key (platform_id, id);

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
  frozen_at timestamptz(3)
);
create index account_platform_id_currency_id_idx on account (platform_id, currency, id);
create index account_platform_id_customer_id_id_idx on account (platform_id, customer_id, id);
alter table account add primary key (platform_id, id);

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
  rate_lock jsonb
);
create index quote_platform_id_customer_id_id_idx on quote (platform_id, customer_id, id);
create index quote_platform_id_status_id_idx on quote (platform_id, status, id);
create index quote_platform_id_source_account_id_id_idx on quote (platform_id, source_account_id, id);
create index quote_platform_id_destination_account_id_id_idx on quote (platform_id, destination_account_id, id);
create unique index quote_platform_id_transaction_id_key on quote (platform_id, transaction_id);
alter table quote add primary key (platform_id, id);

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
  created_by text,
  decided_by_id uuid
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
alter table transaction add primary key (platform_id, id);

create table journal (
  platform_id uuid not null,
  id uuid not null default uuid_v7(),
  transaction_id uuid,
  kind text not null,
  created_at timestamptz(3) not null
);
create index journal_platform_id_transaction_id_idx on journal (platform_id, transaction_id);
alter table journal add primary key (platform_id, id);

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
  rate_lock jsonb
);
create index rail_order_platform_id_transaction_id_idx on rail_order (platform_id, transaction_id);
alter table rail_order add primary key (platform_id, id);

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
  moved_in bigint
);
create unique index rail_case_platform_id_order_id_kind_key on rail_case (platform_id, order_id, kind);
alter table rail_case add primary key (platform_id, id);

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
  attempts integer not null default 0
);
create unique index rail_deposit_transaction_id_key on rail_deposit (transaction_id);
create unique index rail_deposit_platform_id_reference_key on rail_deposit (platform_id, reference);
alter table rail_deposit add primary key (platform_id, id);

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
  expires_at timestamptz(3) not null
);
create index lookup_expiry on lookup (expires_at);
create index lookup_of_token on lookup (platform_id, token_id, expires_at);
alter table lookup add primary key (platform_id, id);

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
  epoch integer
);
create index stored_event_platform_id_customer_id_sequence_idx on stored_event (platform_id, customer_id, sequence);
alter table stored_event add primary key (platform_id, sequence);

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
  seen_at timestamptz(3) not null default clock_ms(),
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
  version integer not null default 1,
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
  leased_until timestamptz(3)
);
create index webhook_delivery_platform_id_endpoint_id_id_idx on webhook_delivery (platform_id, endpoint_id, id);
create unique index webhook_delivery_platform_id_event_sequence_endpoint_id_key on webhook_delivery (platform_id, event_sequence, endpoint_id);
alter table webhook_delivery add primary key (platform_id, id);

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
  journal_id uuid
);
create unique index adjustment_platform_id_journal_id_key on adjustment (platform_id, journal_id);
alter table adjustment add primary key (platform_id, id);

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
  totals jsonb not null default '[]'
);
create unique index reconciliation_platform_id_period_from_period_to_key on reconciliation (platform_id, period_from, period_to);
alter table reconciliation add primary key (platform_id, id);

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
  same_as text not null
);
create unique index reconciliation_difference_platform_id_same_as_key on reconciliation_difference (platform_id, same_as);
alter table reconciliation_difference add primary key (platform_id, id);

create table audit_run (
  id uuid not null default uuid_v7(),
  finished_at timestamptz(3) not null default clock_ms(),
  rules integer not null,
  broken text[],
  covers_from timestamptz(3),
  covers_until timestamptz(3),
  on_replica boolean not null default false,
  rules_digest bytea,
  epoch_id integer,
  primary key (id)
);

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
alter table api_token add constraint api_token_platform_id_replaces_id_fkey foreign key (platform_id, replaces_id) references api_token(platform_id, id) on delete restrict on update restrict;
alter table client_token add constraint client_token_platform_id_created_by_id_fkey foreign key (platform_id, created_by_id) references api_token(platform_id, id) on delete restrict on update restrict;
alter table client_token add constraint client_token_platform_id_owner_id_fkey foreign key (platform_id, owner_id) references customer(platform_id, id) on delete restrict on update restrict;
alter table trusted_document add constraint trusted_document_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table policy add constraint policy_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table customer add constraint customer_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table account add constraint account_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table account add constraint account_platform_id_customer_id_fkey foreign key (platform_id, customer_id) references customer(platform_id, id) on delete restrict on update restrict;
alter table account add constraint account_currency_fkey foreign key (currency) references currency(code) on delete restrict on update restrict;
alter table account_check add constraint account_check_platform_id_account_id_fkey foreign key (platform_id, account_id) references account(platform_id, id) on delete restrict on update restrict;
alter table identity_check add constraint identity_check_platform_id_customer_id_fkey foreign key (platform_id, customer_id) references customer(platform_id, id) on delete restrict on update restrict;
alter table quote add constraint quote_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table quote add constraint quote_platform_id_customer_id_fkey foreign key (platform_id, customer_id) references customer(platform_id, id) on delete restrict on update restrict;
alter table quote add constraint quote_platform_id_source_account_id_fkey foreign key (platform_id, source_account_id) references account(platform_id, id) on delete restrict on update restrict;
alter table quote add constraint quote_platform_id_destination_account_id_fkey foreign key (platform_id, destination_account_id) references account(platform_id, id) on delete restrict on update restrict;
alter table quote add constraint quote_platform_id_transaction_id_fkey foreign key (platform_id, transaction_id) references transaction(platform_id, id) on delete restrict on update restrict;
alter table quote add constraint quote_sending_currency_fkey foreign key (sending_currency) references currency(code) on delete restrict on update restrict;
alter table quote add constraint quote_receiving_currency_fkey foreign key (receiving_currency) references currency(code) on delete restrict on update restrict;
alter table transaction add constraint transaction_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;
alter table transaction add constraint transaction_platform_id_customer_id_fkey foreign key (platform_id, customer_id) references customer(platform_id, id) on delete restrict on update restrict;
alter table transaction add constraint transaction_platform_id_source_account_id_fkey foreign key (platform_id, source_account_id) references account(platform_id, id) on delete restrict on update restrict;
alter table transaction add constraint transaction_platform_id_destination_account_id_fkey foreign key (platform_id, destination_account_id) references account(platform_id, id) on delete restrict on update restrict;
alter table transaction add constraint transaction_sent_currency_fkey foreign key (sent_currency) references currency(code) on delete restrict on update restrict;
alter table transaction add constraint transaction_received_currency_fkey foreign key (received_currency) references currency(code) on delete restrict on update restrict;
alter table journal add constraint journal_platform_id_transaction_id_fkey foreign key (platform_id, transaction_id) references transaction(platform_id, id) on delete restrict on update restrict;
alter table posting add constraint posting_platform_id_account_id_fkey foreign key (platform_id, account_id) references account(platform_id, id) on delete restrict on update restrict;
alter table posting add constraint posting_currency_fkey foreign key (currency) references currency(code) on delete restrict on update restrict;
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
alter table audit_mark add constraint audit_mark_platform_id_fkey foreign key (platform_id) references platform(id) on delete restrict on update restrict;

create or replace function status_moves(p_noun text) returns text[]
  language sql immutable
as $$
  select case p_noun
    when 'quote' then array[
      'PENDING > PROCESSING', 'PENDING > EXPIRED', 'PENDING > FAILED', 'PROCESSING > COMPLETED', 'PROCESSING > FAILED',
      'PROCESSING > EXPIRED']
    when 'transaction' then array[
      'CREATED > PENDING', 'CREATED > PROCESSING', 'CREATED > COMPLETED', 'CREATED > REJECTED', 'CREATED > EXPIRED',
      'CREATED > FAILED', 'PENDING > CREATED', 'PENDING > PROCESSING', 'PENDING > COMPLETED', 'PENDING > REJECTED', 'PENDING > FAILED', 'PENDING > EXPIRED',
      'PROCESSING > COMPLETED', 'PROCESSING > REJECTED', 'PROCESSING > FAILED',
      'COMPLETED > REFUNDED']
    when 'external_account' then array[
      'PENDING > ACTIVE', 'PENDING > UNDER_REVIEW', 'PENDING > INACTIVE', 'ACTIVE > UNDER_REVIEW', 'ACTIVE > INACTIVE',
      'UNDER_REVIEW > ACTIVE', 'UNDER_REVIEW > INACTIVE', 'INACTIVE > ACTIVE']
  end
$$;

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

create or replace function account_number(kind account_kind, id uuid, identifier text) returns text
  language sql immutable parallel safe
as $$
  select case
    when kind = 'INTERNAL' then '•••• ' || upper(right(id::text, 4))
    when identifier like '%@%' then left(identifier, least(4, (position('@' in identifier) - 1) / 2)) || '••••'
                                    || substr(identifier, position('@' in identifier))
    else '•••• ' || right(identifier, least(4, length(identifier) / 2)) end
$$;

create or replace function account_party(a account) returns json
  language sql stable parallel safe
as $$
  select json_build_object('id', a.id, 'kind', a.kind, 'customerId', a.customer_id, 'currency', a.currency,
                           'accountType', a.account_type, 'identifier', a.identifier, 'accountInfo', a.account_info)
$$;

create or replace function account_snapshot(a account) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(a) || jsonb_build_object('posted', a.posted::text)
$$;

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
    -- Keeps nulls inside the metadata.
    || case when a.metadata is null then '{}' else jsonb_build_object('metadata', a.metadata) end,
    '{}')
$$;

create or replace function difference_legs(p_platform uuid, p_order uuid, p_out bigint, p_in bigint) returns jsonb
  language sql stable
as $$
  select coalesce(jsonb_agg(jsonb_build_object('system', l.system, 'currency', l.currency, 'amount', l.amount::text) order by d.side, l.leg), '[]')
  from rail_order o
  join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
  left join account a on a.platform_id = t.platform_id and a.id = t.destination_account_id,
  lateral (select o.kind = 'COLLECTION' and t.type = 'OUTGOING' as is_pull) p,
  lateral (
    -- Money taken for a payout, in the currency from which it is paid.
    select 1 as side, case when o.rate_lock is null then t.received_currency else t.sent_currency end as currency,
      p_out - coalesce((o.rate_lock ->> 'sent')::bigint, t.received_amount) as more
    where o.kind = 'PAYOUT'
    union all
    -- Money received from a collection, or from a conversion by the rail into an internal account.
    select 2, case when p.is_pull then t.sent_currency else t.received_currency end,
      case when p.is_pull then t.sent_amount else t.received_amount end - p_in
    where o.kind = 'COLLECTION' or o.rate_lock is not null and a.kind = 'INTERNAL'
  ) d,
  lateral (values (1, 'OUTSIDE', d.currency, d.more), (2, 'DIFFERENCES', d.currency, -d.more)) as l(leg, system, currency, amount)
  where o.platform_id = p_platform and o.id = p_order and d.more is distinct from 0
$$;

create or replace function is_terminal(status transaction_status) returns boolean
  language sql immutable parallel safe
as $$
  select status in ('COMPLETED', 'REJECTED', 'FAILED', 'REFUNDED', 'EXPIRED')
$$;

create or replace function is_final(p_platform uuid, p_id uuid, p_status transaction_status, p_version integer)
  returns boolean
  language sql stable parallel safe
as $$
  select is_terminal(p_status) and exists (
    select from transaction t
    where t.platform_id = p_platform and t.id = p_id and t.version = p_version
      and (t.refund_reference is null or t.refund_settled_at is not null))
    and not exists (
      select from rail_order o
      where o.platform_id = p_platform and o.transaction_id = p_id and o.due_at is not null)
$$;

create or replace function quote_as_of(q quote, e stored_event) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(q)
    || jsonb_build_object('status', e.status, 'status_reason', e.reason, 'version', e.version, 'updated_at', e.occurred_at)
$$;

create or replace function same_person(p_one text, p_other text) returns boolean
  language sql immutable
as $$
  select lower(regexp_replace(p_one, '\s', '', 'g')) = lower(regexp_replace(p_other, '\s', '', 'g'))
$$;

create or replace function token_makers(p_platform uuid, p_token uuid) returns uuid[]
  language sql stable
as $$
  with recursive maker as (
    select t.id, t.created_by_id, t.replaces_id from api_token t where t.platform_id = p_platform and t.id = p_token
    union select t.id, t.created_by_id, t.replaces_id
    from maker m join api_token t on t.platform_id = p_platform and t.id in (m.created_by_id, m.replaces_id))
  select array(select id from maker)
$$;

create or replace function may_approve(t transaction, p_token uuid, p_makers uuid[]) returns boolean
  language plpgsql stable
as $$
begin
  return split_part(t.created_by, ':', 2)::uuid <> all (p_makers) and p_token <> all (makers_of(t.platform_id, t.created_by))
    and not exists (
      select from policy_use u join policy p on p.platform_id = u.platform_id and p.id = u.policy_id
      where u.platform_id = t.platform_id and u.transaction_id = t.id and p.approval is not null and p.subject_id = any (p_makers));
end
$$;

create or replace function is_payment_of(p_policy policy, t transaction) returns boolean
  language plpgsql stable
as $$
begin
  return t.status = 'COMPLETED' and t.created_by is not null and case p_policy.subject_type
    when 'Platform' then true
    when 'Customer' then t.customer_id = p_policy.subject_id
    else p_policy.subject_id = any (makers_of(t.platform_id, t.created_by)) end;
end
$$;

create or replace function needs_approval(p_policy policy, p_spend jsonb) returns boolean
  language plpgsql stable
as $$
declare
  v_account uuid := split_part(p_spend ->> 'account_id', ':', 2);
  v_address text := p_spend ->> 'uma_address';
begin
  if (p_policy.approval ->> 'always')::boolean or p_policy.approval -> 'above' <> '[]' and not exists (
      select from jsonb_to_recordset(p_policy.approval -> 'above') as l(currency text, amount bigint)
      where l.currency = p_spend ->> 'currency' and l.amount >= (p_spend ->> 'amount')::bigint) then
    return true;
  elsif not (p_policy.approval ->> 'newReceivers')::boolean then
    return false;
  elsif v_account is not null then
    return not exists (
      select from transaction t
      where t.platform_id = p_policy.platform_id and t.destination_account_id = v_account and is_payment_of(p_policy, t));
  else
    return not exists (
      select from transaction t
      where t.platform_id = p_policy.platform_id and t.destination_uma_address = v_address and is_payment_of(p_policy, t));
  end if;
end
$$;

create or replace function makers_of(p_platform uuid, p_token text) returns uuid[]
  language sql stable
as $$
  select split_part(p_token, ':', 2)::uuid || token_makers(p_platform, case split_part(p_token, ':', 1)
    when 'ApiToken' then split_part(p_token, ':', 2)::uuid
    else (select c.created_by_id from client_token c where c.platform_id = p_platform and c.id = split_part(p_token, ':', 2)::uuid) end)
$$;

create or replace function transaction_as_of(t transaction, e stored_event) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(t) || (
    '{"failure_reason": null, "refund_reference": null, "refund_amount": null, "refund_initiated_at": null, "refund_settled_at": null,
      "counterparty_information": {}, "approval_due_at": null, "decided_by_id": null}'
    -- Until the quote is executed, no token has requested its payment.
    || case when t.source_kind = 'ACCOUNT' and t.quote_id is not null and e.status = 'PENDING' then '{"created_by": null}'::jsonb else '{}' end
    || case when t.type = 'INCOMING' then '{"destination_account_id": null, "destination_name": null, "destination_number": null,
         "requested_information": null}'::jsonb else '{}' end
    || jsonb_build_object(
      'status', e.status, 'status_reason', e.reason, 'version', e.version, 'updated_at', e.occurred_at,
      'settled_at', case when e.status = 'COMPLETED' then e.occurred_at end,
      'expected_settlement_at', e.occurred_at + (e.snapshot ->> 'expected_in_ms')::bigint * interval '1 millisecond')
    || coalesce(e.snapshot - 'expected_in_ms', '{}'))
$$;

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
    || case when num_nonnulls(t.approval_due_at, t.decided_by_id) = 0 then '{}' else jsonb_strip_nulls(jsonb_build_object(
         'approval_due_at', t.approval_due_at, 'decided_by_id', t.decided_by_id)) end
    || case when t.counterparty_information = '{}' then '{}'
            else jsonb_build_object('counterparty_information', t.counterparty_information) end
    || case when t.type = 'INCOMING' then
         jsonb_strip_nulls(jsonb_build_object(
           'destination_account_id', t.destination_account_id, 'destination_name', t.destination_name,
           'destination_number', t.destination_number))
         -- Keeps nulls inside the list.
         || case when t.requested_information is null then '{}'
                 else jsonb_build_object('requested_information', t.requested_information) end
       else '{}' end,
    '{}')
$$;

create or replace function window_start(p_period text, p_zone text, p_at timestamptz) returns timestamptz
  language sql stable parallel safe
as $$
  select case
    when p_period in ('DAY', 'MONTH') then
      (date_trunc(p_period, p_at at time zone p_zone) - interval '1 microsecond') at time zone p_zone + interval '1 microsecond'
    when p_period = 'LAST_24_HOURS' then p_at - interval '23:59:59.999'
    when p_period = 'LAST_30_DAYS' then p_at - interval '719:59:59.999' end
$$;

create or replace function account_version_before(p_platform uuid, p_account uuid, p_moment timestamptz) returns int
  language plpgsql stable
as $$
declare
  -- All postings up to version v_low precede p_moment; no posting above v_high does.
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

create or replace function announce_account() returns trigger
  language plpgsql
as $$
declare
  v_type event_type := case
    when new.kind = 'INTERNAL' and new.posted <> old.posted then 'ACCOUNT_STATUS'
    when new.kind = 'EXTERNAL' and (tg_op = 'INSERT' or (new.status, new.beneficiary_verification_status)
      is distinct from (old.status, old.beneficiary_verification_status)) then 'EXTERNAL_ACCOUNT_STATUS'
    else 'ACCOUNT_CHANGE' end;
begin
  insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, previous_status, status, reason,
                      old_balance, new_balance, snapshot)
  values (new.platform_id, uuid_v7(), v_type, new.updated_at, new.id, new.customer_id, new.version, old.status, new.status,
    case v_type when 'EXTERNAL_ACCOUNT_STATUS' then new.status_reason end,
    case v_type when 'ACCOUNT_STATUS' then old.posted end, case v_type when 'ACCOUNT_STATUS' then new.posted end,
    case when v_type <> 'ACCOUNT_STATUS' then account_state(new)
      when num_nonnulls(new.frozen_at, new.metadata, new.platform_account_id, new.status_reason,
                        new.beneficiary_verification_status, new.beneficiary_verified_name) > 0 then account_state(new) - 'posted' end);
  return null;
end
$$;

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
      name = v_customer.name, search_name = v_customer.search_name, birth_date = v_customer.birth_date,
      nationality = v_customer.nationality,
      registration_number = v_customer.registration_number, tax_id = v_customer.tax_id,
      address = v_customer.address, beneficial_owners = v_customer.beneficial_owners, metadata = v_customer.metadata
    where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
    -- Revokes a deleted customer's app tokens, including those for its quotes and transactions. Like every revocation,
    -- this locks the tokens in id order.
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
    -- A new default deposit account replaces the old one, as in apply_registrations.
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
  -- Schedules the rail's next check of an account, or deletes the check after the rail's final answer.
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

create or replace function apply_plans(p_plans jsonb) returns void
  language plpgsql
as $$
declare
  v_platforms uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].platform'));
  v_rows jsonb;
  v_id jsonb;
begin
  -- Row-level security does not apply here, so this check keeps a plan from inserting rows of another platform.
  if p_plans @? '$[*] ? (@.plan.insert.*[*].platform_id != @.platform)' then
    raise exception 'a plan inserts a row of another platform' using errcode = 'LG010';
  end if;
  -- For the rarer changes, an expression first checks whether any plan contains one, because a statement takes time
  -- even if it has nothing to do.
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

  -- Like every journal, an adjustment's journal gets its id while the accounts are locked, because the id contains the
  -- current time.
  if p_plans @? '$[*].plan.adjustments' then
    for v_at in 0 .. jsonb_array_length(p_plans) - 1 loop
      continue when not p_plans -> v_at -> 'plan' ? 'adjustments';
      v_id := to_jsonb(uuid_v7());
      p_plans := jsonb_set(p_plans, array[v_at::text, 'plan', 'journals', '0', 'id'], v_id);
      p_plans := jsonb_set(p_plans, array[v_at::text, 'plan', 'adjustments', '0', 'journal_id'], v_id);
    end loop;
  end if;

  -- Money moves before statuses change, so that a deposit's event precedes the event of the payment that it starts
  -- (specification 6, rule 3).
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
    -- The order matters: each leg changes a balance when it is written, and no balance may be negative even briefly.
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

  -- Rows are found by a list of their keys. With a join alone, a query plan made while the table was small would scan
  -- the whole table.
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
      -- A refund held in suspense has been initiated but not yet settled.
      refund_settled_at = case when coalesce(m."set" ->> 'refund_reference', t.refund_reference) is not null
                                    and m.refund_waits is not true
                               then coalesce(t.refund_settled_at, clock_ms()) end,
      counterparty_information = coalesce(nullif(m."set" -> 'counterparty_information', 'null'), t.counterparty_information),
      destination_account_id = case when m."set" ? 'destination_account_id' then (m."set" ->> 'destination_account_id')::uuid else t.destination_account_id end,
      requested_information = case when m."set" ? 'requested_information' then nullif(m."set" -> 'requested_information', 'null') else t.requested_information end,
      approval_due_at = case when m."set" ? 'approval_due_at' then null
        else coalesce(clock_ms() + m.approval_in_ms * interval '1 millisecond', t.approval_due_at) end,
      created_by = coalesce(m."set" ->> 'created_by', t.created_by),
      decided_by_id = coalesce((m."set" ->> 'decided_by_id')::uuid, t.decided_by_id),
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
    -- The age of an order that waited for approval is measured from the approval, because the age shows how long the
    -- provider may have had the order.
    update rail_order o set due_at = clock_ms() + m.due_in_ms * interval '1 millisecond',
      created_at = case when m.begins then clock_ms() else o.created_at end
    from jsonb_to_recordset(v_rows) as m(id uuid, due_in_ms bigint, begins boolean)
    where o.platform_id = any (v_platforms) and o.id = any (uuids(jsonb_path_query_array(v_rows, '$[*].id'))) and o.id = m.id;
  end if;
end
$$;

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

create or replace function apply_registrations(p_platform uuid, p_insert jsonb) returns void
  language plpgsql
as $$
begin
  if p_insert ? 'customer' then
    insert into customer select r.* from jsonb_populate_recordset(null::customer, p_insert -> 'customer') r;
  end if;
  if p_insert ? 'account' then
    -- A customer has one default deposit account, so a new default replaces the old one.
    update account a set default_uma_deposit_account = false
    from jsonb_populate_recordset(null::account, p_insert -> 'account') r
    where r.default_uma_deposit_account and a.platform_id = p_platform and a.customer_id = r.customer_id and a.default_uma_deposit_account;
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

create or replace function check_accounts(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move record;
  v_account account;
  v_other uuid;
begin
  for v_move in
    select * from jsonb_to_recordset(p_moves) as m(id uuid, "from" text[], "to" external_account_status, "set" jsonb)
  loop
    select * into v_account from account where platform_id = p_platform and id = v_move.id and kind = 'EXTERNAL';
    if not found or not v_account.status::text = any (v_move."from") then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'ExternalAccount', 'id', v_move.id, 'status', v_account.status);
    end if;
    if v_account.is_deleted then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_move.id, 'status', 'DELETED');
    end if;
    if v_account.frozen_at is not null and (v_move."set" ->> 'is_deleted')::boolean then
      return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'EXTERNAL', 'id', v_move.id, 'customerId', v_account.customer_id);
    end if;
    -- The owner may have registered the same account again while this one was INACTIVE.
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

create or replace function check_active_accounts(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select jsonb_build_object('id', a.id, 'customerId', a.customer_id) || case
      when a.frozen_at is not null then jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'EXTERNAL')
      else jsonb_build_object('code', 'INVALID_BANK_ACCOUNT', 'status', a.status) end
    from account a
    where a.platform_id = p_platform and a.kind = 'EXTERNAL' and a.id = any (uuids(p_ids)) and (a.status <> 'ACTIVE' or a.frozen_at is not null)
    order by a.id limit 1);
end
$$;

create or replace function check_active_customers(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select jsonb_build_object('id', c.id) || case
      when c.is_deleted or c.kyc_status not in ('APPROVED', 'MANUALLY_APPROVED')
        then jsonb_build_object('code', 'USER_NOT_READY', 'kycStatus', c.kyc_status, 'isDeleted', c.is_deleted)
      else jsonb_build_object('code', 'CUSTOMER_FROZEN') end
    from customer c
    where c.platform_id = p_platform and c.id = any (uuids(p_ids))
      and (c.is_deleted or c.kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') or c.frozen_at is not null)
    order by array_position(uuids(p_ids), c.id) limit 1);
end
$$;

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
     or jsonb_array_length(p_plan -> 'journals') <> 1 or p_plan #> '{journals,0}' is distinct from jsonb_build_object(
       'kind', 'adjustment', 'legs', jsonb_build_array(
         jsonb_build_object('account', v_proposed.account_id, 'currency', v_proposed.currency, 'amount', v_proposed.amount::text),
         jsonb_build_object('system', 'ADJUSTMENTS', 'currency', v_proposed.currency, 'amount', (-v_proposed.amount)::text))) then
    raise exception 'a plan adjusts a balance without a matching proposal' using errcode = 'LG012';
  end if;
  return case
    when v_proposed.status <> 'PROPOSED' then jsonb_build_object('code', 'CONFLICT', 'id', v_proposed.id, 'status', v_proposed.status)
    when v_proposed.expires_at <= clock_timestamp() then jsonb_build_object('code', 'CONFLICT', 'id', v_proposed.id, 'status', 'EXPIRED')
    when same_person(v_proposed.proposed_by, v_move ->> 'by') then
      jsonb_build_object('code', 'CONFLICT', 'id', v_proposed.id, 'status', 'SAME_PERSON') end;
end
$$;

create or replace function check_balances(p_platform uuid, p_journals jsonb, p_moved jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_account record;
begin
  if not p_journals @? '$[*].legs[*].account' then
    return null;
  end if;
  for v_account in
    select a.id, a.posted + coalesce((p_moved ->> a.id::text)::bigint, 0) as posted, a.currency, a.customer_id, a.frozen_at, c.frozen_at as owner_frozen_at, c.is_deleted as owner_is_deleted,
      m.change, m.coming, m.bound
    from (
      select l.account, sum(l.amount) as change,
        -- Exempt legs count only if there is no new money. Otherwise, the lower bound applies, and a balance within it
        -- is far below the bound for exempt legs.
        coalesce(sum(l.amount) filter (where l.amount > 0 and l.exempt is not true), sum(l.amount) filter (where l.amount > 0)) as coming,
        case when bool_or(l.amount > 0 and l.exempt is not true) then 9000000000000000 else 9000000000000000000 end as bound
      from jsonb_to_recordset(jsonb_path_query_array(p_journals, '$[*].legs[*] ? (exists (@.account))'))
        as l(account uuid, amount numeric, exempt boolean)
      group by l.account
    ) m
    join account a on a.platform_id = p_platform and a.id = m.account
    left join customer c on c.platform_id = a.platform_id and c.id = a.customer_id
    order by a.id
  loop
    if v_account.change < 0 and v_account.frozen_at is not null then
      return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'INTERNAL', 'id', v_account.id, 'customerId', v_account.customer_id);
    end if;
    if v_account.change < 0 and v_account.owner_frozen_at is not null then
      return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_account.customer_id);
    end if;
    if v_account.change > 0 and v_account.owner_is_deleted then
      return jsonb_build_object('code', 'CUSTOMER_DELETED', 'id', v_account.customer_id);
    end if;
    if v_account.change < 0 and v_account.posted + v_account.change < 0 then
      return jsonb_build_object('code', 'INSUFFICIENT_BALANCE', 'id', v_account.id, 'currency', v_account.currency,
                                'spendable', v_account.posted::text, 'needed', (-v_account.change)::text);
    end if;
    if v_account.posted + v_account.coming > v_account.bound then
      return jsonb_build_object('code', 'AMOUNT_OUT_OF_RANGE', 'id', v_account.id, 'currency', v_account.currency,
                                'limit', v_account.bound::text, 'balance', v_account.posted::text, 'coming', v_account.coming::text);
    end if;
  end loop;
  return null;
end
$$;

create or replace function check_capacity(p_platform uuid, p_capacity jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select jsonb_build_object('code', 'AMOUNT_OUT_OF_RANGE', 'id', a.id, 'limit', '9000000000000000',
                              'balance', a.posted::text, 'coming', c.coming::text, 'currency', a.currency)
    from jsonb_to_recordset(p_capacity) as r(account uuid, amount bigint)
    join account a on a.platform_id = p_platform and a.id = r.account,
    lateral (
      select r.amount + case when a.posted + r.amount <= 900000000000000 then 0 else (
        -- Finds payments in flight through their open orders, which are few even if the account has a long history.
        select coalesce(sum(t.received_amount), 0)
        from rail_order o join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
        where o.due_at is not null and o.platform_id = p_platform and t.destination_account_id = a.id
          and t.status in ('PENDING', 'PROCESSING')) end as coming
    ) c
    where a.posted + c.coming > 9000000000000000 limit 1);
end
$$;

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
      -- The id of another platform's customer is not disclosed.
      return jsonb_build_object('code', 'UMA_ADDRESS_EXISTS',
                                'id', case when v_holder.platform_id = p_platform then v_holder.id end);
    end if;
  end loop;
  return null;
end
$$;

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
    raise exception 'a plan books a difference that does not match its case' using errcode = 'LG014';
  end if;
  return case when v_stored.closed_at is not null then
    jsonb_build_object('code', 'CONFLICT', 'id', v_stored.transaction_id, 'status', 'CLOSED') end;
end
$$;

create or replace function check_expired(p_platform uuid, p_quotes jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select case when q.id is null then jsonb_build_object('code', 'QUOTE_NOT_FOUND', 'id', m.id)
      else jsonb_build_object('code', 'CONFLICT', 'type', 'Quote', 'id', q.id, 'status', q.status) end
    from jsonb_to_recordset(p_quotes) as m(id uuid) left join quote q on q.platform_id = p_platform and q.id = m.id
    where q.id is null or q.status <> 'EXPIRED'
      or exists (select from journal j where j.platform_id = p_platform and j.transaction_id = q.transaction_id)
    limit 1);
end
$$;

create or replace function check_group(p_group jsonb, p_moved jsonb) returns jsonb
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
    v_refusal := check_plan(v_platform, v_plan, p_moved);
    while v_refusal ->> 'code' = 'QUOTE_EXPIRED' and v_plan ? 'otherwise' loop
      v_plan := v_plan -> 'otherwise';
      v_refusal := check_plan(v_platform, v_plan, p_moved);
      p_group := jsonb_set(p_group, array[v_at::text, 'plan'], v_plan);
    end loop;
    if v_refusal is not null then
      return jsonb_build_object('outcome', 'now', 'refusal', v_refusal);
    end if;
  end loop;
  return jsonb_build_object('outcome', 'now', 'plans', p_group);
end
$$;

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

create or replace function check_legs() returns trigger
  language plpgsql
as $$
begin
  -- An age of 0 means that the current transaction wrote the row.
  if exists (select from leg l where not exists (
      select from journal j where j.platform_id = l.platform_id and j.id = l.journal_id and age(j.xmin) = 0)) then
    raise exception 'a leg was added to a sealed journal' using errcode = 'LG005';
  end if;
  return null;
end
$$;

create or replace function check_lookups(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select jsonb_build_object('code', 'LOOKUP_REQUEST_NOT_FOUND', 'id', l.id) from lookup l
    where l.platform_id = p_platform and l.id = any (uuids(p_ids)) and l.expires_at <= clock_timestamp() limit 1);
end
$$;

create or replace function check_orders(p_platform uuid, p_orders jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select jsonb_build_object('code', 'CONFLICT', 'id', o.id, 'status', 'CLOSED') from rail_order o
    where o.platform_id = p_platform and o.id = any (uuids(jsonb_path_query_array(p_orders, '$[*].id'))) and o.due_at is null
    order by o.id limit 1);
end
$$;

create or replace function check_plan(p_platform uuid, p_plan jsonb, p_moved jsonb) returns jsonb
  language plpgsql
as $$
begin
  return coalesce(
    case when p_plan ? 'expected' then check_version(p_platform, p_plan -> 'expected') end,
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
    case when p_plan ? 'journals' then check_balances(p_platform, p_plan -> 'journals', p_moved) end,
    case when p_plan -> 'require_active' ? 'accounts' then check_active_accounts(p_platform, p_plan #> '{require_active,accounts}') end,
    case when p_plan ? 'capacity' then check_capacity(p_platform, p_plan -> 'capacity') end
  );
end
$$;

create or replace function check_policy(p_policy policy, p_spend jsonb, p_at timestamptz, p_exceeded int) returns jsonb
  language plpgsql stable
as $$
declare
  v_receivers text[] := p_policy.receiver_account_ids || p_policy.receiver_countries || p_policy.receiver_uma_addresses;
  v_currencies text[] := array_remove(p_policy.limit_currencies, '');
  v_maximum bigint := p_policy.limit_maxima[p_exceeded];
  v_more bigint := case p_policy.limit_currencies[p_exceeded] when '' then 1 else (p_spend ->> 'amount')::bigint end;
  v_local timestamp := p_at at time zone p_policy.time_zone;
  v_time text := to_char(v_local, 'HH24:MI');
  v_rule text;
  v_free_at timestamptz;
begin
  if p_policy.kinds <> '{}' and (p_spend ->> 'kind')::payment_kind <> all (p_policy.kinds) then
    v_rule := 'KIND';
  elsif v_receivers <> '{}' and not v_receivers && array[p_spend ->> 'account_id', p_spend ->> 'country', lower(p_spend ->> 'uma_address')] then
    v_rule := 'RECEIVER';
  elsif v_currencies <> '{}' and p_spend ->> 'currency' <> all (v_currencies) then
    v_rule := 'CURRENCY';
  -- If the hours end on the next day, it is enough to meet one of the two conditions.
  elsif (v_time >= p_policy.hours_from)::int + (v_time < p_policy.hours_to)::int <= (p_policy.hours_from < p_policy.hours_to)::int then
    v_rule := 'HOURS';
    v_free_at := (v_local::date + p_policy.hours_from::time + case when v_time < p_policy.hours_from then '0' else '1 day' end::interval)
      at time zone p_policy.time_zone;
  elsif p_exceeded is not null then
    v_rule := 'LIMIT';
    v_free_at := case when v_more <= v_maximum then frees_at(p_policy, p_exceeded, p_at, p_policy.used[p_exceeded] + v_more - v_maximum) end;
  else
    return null;
  end if;
  return jsonb_build_object(
    'code', 'LIMIT_EXCEEDED', 'id', p_policy.id, 'subjectType', p_policy.subject_type, 'subjectId', p_policy.subject_id, 'rule', v_rule,
    'freeAt', v_free_at, 'limit', case when v_rule = 'LIMIT' then limit_state(p_policy, p_exceeded, p_at) end);
end
$$;

create or replace function check_quotes(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select r.refusal
    from jsonb_to_recordset(p_moves) as m(id uuid, "from" text[], expiry text, is_new boolean)
    left join quote q on q.platform_id = p_platform and q.id = m.id,
    lateral (select case
      when q.id is null then jsonb_build_object('code', 'QUOTE_NOT_FOUND', 'id', m.id)
      -- Canceling a quote makes it expire at once, before expires_at.
      when q.status = 'EXPIRED' then
        jsonb_build_object('code', 'QUOTE_EXPIRED', 'id', q.id, 'expiresAt', least(q.expires_at, q.updated_at))
      when q.status = 'PENDING' and m.expiry = 'before' and clock_timestamp() >= q.expires_at then
        jsonb_build_object('code', 'QUOTE_EXPIRED', 'id', q.id, 'expiresAt', q.expires_at)
      when q.status::text <> all (m."from") or m.expiry = 'after' and clock_timestamp() < q.expires_at then
        jsonb_build_object('code', 'CONFLICT', 'type', 'Quote', 'id', q.id, 'status', q.status) end as refusal) r
    where m.is_new is not true and r.refusal is not null limit 1);
end
$$;

create or replace function check_registrations(p_platform uuid, p_insert jsonb) returns jsonb
  language plpgsql
as $$
begin
  return coalesce(
    -- The id of another platform's customer is not disclosed.
    (select jsonb_build_object('code', 'UMA_ADDRESS_EXISTS', 'id', case when c.platform_id = p_platform then c.id end)
     from jsonb_populate_recordset(null::customer, p_insert -> 'customer') n
     join customer c on lower(c.uma_address) = lower(n.uma_address) and not c.is_deleted limit 1),
    (select jsonb_build_object('code', 'ACCOUNT_EXISTS', 'id', a.id)
     from jsonb_populate_recordset(null::account, p_insert -> 'account') n
     join account a on a.platform_id = p_platform and a.kind = 'EXTERNAL' and n.kind = 'EXTERNAL'
       and (a.status <> 'INACTIVE' or a.frozen_at is not null)
       and a.customer_id is not distinct from n.customer_id and a.currency = n.currency
       and a.account_type = n.account_type and a.identifier = n.identifier and a.bank is not distinct from n.bank limit 1),
    (select jsonb_build_object('code', case when c.is_deleted then 'CUSTOMER_DELETED' else 'CUSTOMER_FROZEN' end, 'id', c.id)
     from jsonb_populate_recordset(null::account, p_insert -> 'account') n
     join customer c on c.platform_id = p_platform and c.id = n.customer_id and (c.is_deleted or c.frozen_at is not null)
     where n.kind = 'EXTERNAL' limit 1));
end
$$;

create or replace function check_transactions(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select r.refusal
    from jsonb_to_recordset(p_moves) as m(id uuid, "from" text[], approval text, pays_refund boolean, is_new boolean,
      makers uuid[], "set" jsonb)
    left join transaction t on t.platform_id = p_platform and t.id = m.id,
    lateral (select case
      when t.id is null then jsonb_build_object('code', 'TRANSACTION_NOT_FOUND', 'id', m.id)
      when m.approval = 'before' and clock_timestamp() >= t.approval_due_at then
        jsonb_build_object('code', 'CONFLICT', 'type', 'Transaction', 'id', t.id, 'status', t.status, 'dueAt', t.approval_due_at)
      when t.status::text <> all (m."from") or m.pays_refund and (t.refund_reference is null or t.refund_settled_at is not null) then
        jsonb_build_object('code', 'CONFLICT', 'type', 'Transaction', 'id', t.id, 'status', t.status)
      when m.makers is not null and not may_approve(t, (m."set" ->> 'decided_by_id')::uuid, m.makers) then
        jsonb_build_object('code', 'FORBIDDEN', 'id', t.id) end as refusal) r
    where m.is_new is not true and r.refusal is not null limit 1);
end
$$;

create or replace function check_unfrozen(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', a.kind, 'id', a.id, 'customerId', a.customer_id) from account a
    where a.platform_id = p_platform and a.id = any (uuids(p_ids)) and a.frozen_at is not null order by a.id limit 1);
end
$$;

create or replace function moves_account_twice(p_groups jsonb) returns boolean
  language plpgsql
as $$
declare
  v_accounts uuid[] := uuids(jsonb_path_query_array(p_groups, '$[*][*].plan.journals[*].legs[*].account'));
begin
  return cardinality(v_accounts) > (select count(distinct a) from unnest(v_accounts) a);
end
$$;

create or replace function add_legs(p_sums jsonb, p_legs jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_account text;
begin
  for v_at in 0 .. jsonb_array_length(p_legs) - 1 loop
    v_account := p_legs -> v_at ->> 'account';
    p_sums := p_sums || jsonb_build_object(
      v_account, coalesce((p_sums ->> v_account)::bigint, 0) + (p_legs -> v_at ->> 'amount')::bigint);
  end loop;
  return p_sums;
end
$$;

create or replace function policies_now(p_policies policy[]) returns policy[]
  language sql stable
as $$
  select array(
    select p from unnest(p_policies) l join policy p on p.platform_id = l.platform_id and p.id = l.id order by p.platform_id, p.id)
$$;

create or replace function commit_batch(p_groups jsonb, p_policies policy[]) returns jsonb[]
  language plpgsql
as $$
declare
  v_count int := jsonb_array_length(p_groups);
  v_answers jsonb[] := '{}';
  v_answer jsonb;
  v_item jsonb;
  v_plans jsonb;
  v_moved jsonb := case when v_count > 1 and moves_account_twice(p_groups) then '{}'::jsonb end;
begin
  -- If groups share an account and a policy may still refuse one after its check, each group is checked and applied
  -- separately. Otherwise, later checks would count money that does not move.
  if v_moved is not null and cardinality(p_policies) > 0 then
    for v_at in 0 .. v_count - 1 loop
      v_answers := v_answers || commit_batch(jsonb_build_array(p_groups -> v_at), policies_now(p_policies));
    end loop;
    return v_answers;
  end if;

  for v_at in 0 .. v_count - 1 loop
    v_answer := check_group(p_groups -> v_at, v_moved);
    v_answers := v_answers || v_answer;
    if v_moved is not null then
      v_moved := add_legs(v_moved, jsonb_path_query_array(v_answer, '$.plans[*].plan.journals[*].legs[*] ? (exists (@.account))'));
    end if;
  end loop;
  if cardinality(p_policies) > 0 then
    v_answers := count_payments(v_answers, p_policies);
  end if;

  v_plans := jsonb_path_query_array(to_jsonb(v_answers), '$[*].plans[*]');
  if v_plans <> '[]' then
    perform apply_plans(v_plans);
    if cardinality(p_policies) > 0 and v_plans @? '$[*].plan.transactions[*] ? (@.to == "FAILED" || @.to == "REJECTED" || @.to == "EXPIRED" || @.to == "REFUNDED")' then
      perform release_payments(v_plans);
    end if;
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
  v_policies policy[] := lock_plans(jsonb_path_query_array(p_batches, '$[*][*][*]'));
begin
  for v_at in 0 .. jsonb_array_length(p_batches) - 1 loop
    if v_at > 0 and cardinality(v_policies) > 0 then
      v_policies := policies_now(v_policies);
    end if;
    v_answers := v_answers || commit_batch(p_batches -> v_at, v_policies);
  end loop;
  return v_answers;
end
$$;

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
  -- Refusals with status 403 or 404 are not stored, so that a later call with the same key may succeed.
  if v_claim is not null
     and (p_refusal is null or p_refusal ->> 'code' not in ('USER_NOT_READY', 'CUSTOMER_FROZEN', 'ACCOUNT_FROZEN', 'LIMIT_EXCEEDED', 'APPROVAL_REQUIRED', 'FORBIDDEN', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND', 'LOOKUP_REQUEST_NOT_FOUND')) then
    insert into idempotency_record (platform_id, operation, key, request_hash, refusal, result)
    values (p_platform, v_claim ->> 'operation', v_claim ->> 'key', decode(v_claim ->> 'hash', 'hex'), p_refusal, v_result);
  end if;
  return jsonb_build_object('outcome', 'now', 'refusal', p_refusal, 'result', v_result);
end
$$;

create or replace function count_payments(p_answers jsonb[], p_policies policy[]) returns jsonb[]
  language plpgsql
as $$
declare
  v_now timestamptz := clock_ms();
  v_spend jsonb;
  v_policy policy;
  v_more bigint;
begin
  for v_at in 1 .. cardinality(p_answers) loop
    v_spend := p_answers[v_at] #> '{plans,0,plan,spend}';
    continue when v_spend is null;
    declare
      v_before policy[] := p_policies;
      v_exceeded int;
      v_refusal jsonb;
      v_due timestamptz;
      v_reserves boolean;
    begin
      for v_number in 1 .. cardinality(p_policies) loop
        v_policy := p_policies[v_number];
        continue when not v_spend -> 'subjects' ? v_policy.subject_id::text;
        for v_limit in 1 .. cardinality(v_policy.used) loop
          v_more := case v_policy.limit_currencies[v_limit] when '' then 1 when v_spend ->> 'currency' then (v_spend ->> 'amount')::bigint else 0 end;
          -- Payments that have left the window since it was last summed matter only if the new payment does not fit.
          if v_policy.summed_at[v_limit] not between v_now - interval '1 hour' and v_now
              or v_policy.used[v_limit] + v_more > v_policy.limit_maxima[v_limit] then
            v_policy.used[v_limit] := spent(v_policy, v_limit, v_now);
            v_policy.summed_at[v_limit] := v_now;
            if v_more > 0 and v_policy.used[v_limit] + v_more > v_policy.limit_maxima[v_limit] then
              v_exceeded := v_limit;
              exit;
            end if;
          end if;
          v_policy.used[v_limit] := v_policy.used[v_limit] + case v_policy.limit_periods[v_limit] when 'PAYMENT' then 0 else v_more end;
        end loop;
        if v_exceeded is not null or v_policy.kinds <> '{}' or v_policy.hours_from is not null or v_spend ->> 'currency' <> all (v_policy.limit_currencies)
            or v_policy.receiver_account_ids || v_policy.receiver_countries || v_policy.receiver_uma_addresses <> '{}' then
          v_refusal := check_policy(v_policy, v_spend, v_now, v_exceeded);
          exit when v_refusal is not null;
        end if;
        p_policies[v_number] := v_policy;
        if v_policy.approval is not null and not v_spend ? 'waits' and needs_approval(v_policy, v_spend) then
          v_due := least(v_due, (v_spend ->> 'until')::timestamptz, v_now + (v_policy.approval ->> 'expiresInSeconds')::int * interval '1 second');
          v_reserves := coalesce(v_reserves, false) or (v_policy.approval ->> 'reserves')::boolean;
        end if;
      end loop;
      if v_refusal is not null or v_due is not null then
        p_policies := v_before;
        p_answers[v_at] := jsonb_build_object('outcome', 'now', 'refusal', coalesce(v_refusal, jsonb_build_object(
          'code', 'APPROVAL_REQUIRED', 'dueAt', v_due, 'reserves', v_reserves, 'dueInMs', (extract(epoch from v_due - v_now) * 1000)::bigint)));
      end if;
    end;
  end loop;
  foreach v_policy in array p_policies loop
    insert into policy_use (platform_id, transaction_id, policy_id, used_at, amount, currency)
    select v_policy.platform_id, (s.spend ->> 'transaction_id')::uuid, v_policy.id, v_now, (s.spend ->> 'amount')::bigint, s.spend ->> 'currency'
    from (select a #> '{plans,0,plan,spend}' as spend from unnest(p_answers) a) s where s.spend -> 'subjects' ? v_policy.subject_id::text;
    update policy set used = v_policy.used, summed_at = v_policy.summed_at
    where platform_id = v_policy.platform_id and id = v_policy.id and (used <> v_policy.used or summed_at <> v_policy.summed_at);
  end loop;
  return p_answers;
end
$$;

create or replace function find_api_token(p_client_id text) returns table (
  id uuid, platform_id uuid, secret_hash bytea, permissions text[], environment environment,
  rate_limit int, rate_burst int, api_token_rate_limit int, api_token_rate_burst int, client_token_rate_limit int,
  client_token_rate_burst int, trusted_documents trusted_document_policy, makers uuid[],
  expires_at timestamptz, addresses text[], documents text[], was_used boolean
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select t.id, t.platform_id, t.secret_hash, t.permissions::text[], p.environment, p.rate_limit, p.rate_burst,
    p.api_token_rate_limit, p.api_token_rate_burst, p.client_token_rate_limit, p.client_token_rate_burst,
    p.trusted_documents, token_makers(t.platform_id, t.id), t.expires_at, t.addresses, t.documents,
    coalesce(t.last_used_at > clock_timestamp() - interval '1 minute', false)
  from api_token t join platform p on p.id = t.platform_id
  where t.client_id = p_client_id and t.revoked_at is null and coalesce(t.expires_at > clock_timestamp(), true);
end
$$;

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

create or replace function find_token_rights(p_platforms uuid[], p_ids uuid[]) returns table (
  id uuid, permissions text[], grants text[], trusted_documents_only boolean
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select t.id, t.permissions::text[], '{}'::text[], p.trusted_documents = 'ALL' or t.documents <> '{}'
  from unnest(p_platforms, p_ids) as s (platform_id, id)
  join api_token t on t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null
    and coalesce(t.expires_at > clock_timestamp(), true)
  join platform p on p.id = t.platform_id
  union all
  select t.id, t.permissions::text[], t.grants::text[],
    t.trusted_documents_only or p.trusted_documents <> 'OPTIONAL' or t.documents <> '{}'
  from unnest(p_platforms, p_ids) as s (platform_id, id)
  join client_token t on t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null
    and t.expires_at > clock_timestamp()
  join platform p on p.id = t.platform_id;
end
$$;

create or replace function first_answer(p_platform uuid, p_claim jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select case when r.request_hash <> decode(p_claim ->> 'hash', 'hex') then jsonb_build_object('outcome', 'mismatch')
      else jsonb_build_object('outcome', 'first', 'refusal', r.refusal, 'result', r.result) end
    from idempotency_record r
    where r.platform_id = p_platform and r.operation = p_claim ->> 'operation' and r.key = p_claim ->> 'key');
end
$$;

create or replace function follow_clock() returns double precision
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_epoch int;
  v_seen timestamptz;
  v_now timestamptz;
  v_step interval;
  v_ahead timestamptz;
begin
  select id, seen_at into v_epoch, v_seen from feed_epoch where id = (select max(id) from feed_epoch) for update skip locked;
  if not found then
    return null;
  end if;
  v_now := clock_timestamp();
  v_step := v_seen - v_now;
  if v_step < interval '-1 second' then
    update feed_epoch set seen_at = v_now where id = v_epoch;
  end if;
  if v_step <= interval '1 second' then
    return null;
  end if;
  v_ahead := v_now + least(v_step / 2, interval '10 seconds');
  -- Also moves each order's created_at, because the order's age is computed from it.
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
  update feed_epoch set seen_at = v_now where id = v_epoch;
  return date_part('epoch', v_step) * 1000;
end
$$;

create or replace function follow_server() returns boolean
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_server text := server_name();
  v_last feed_epoch;
begin
  -- If several sequencers connect at once, only one of them starts the epoch. The lock's number is "epoc" in ASCII.
  perform pg_advisory_xact_lock(1701867363);
  select * into v_last from feed_epoch order by id desc limit 1;
  if not found then
    insert into feed_epoch (server, marked_at) values (v_server, clock_ms());
    return false;
  end if;
  if v_last.server <> v_server then
    insert into feed_epoch (epoch, server, seen_at) values (1 + floor(random() * 2147483646)::int, v_server, v_last.seen_at);
    return true;
  end if;
  return v_last.marked_at is null;
end
$$;

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

create or replace function frees_at(p_policy policy, p_limit int, p_at timestamptz, p_much bigint) returns timestamptz
  language plpgsql stable
as $$
declare
  v_period text := p_policy.limit_periods[p_limit];
  v_zone text := p_policy.time_zone;
  v_currency text := p_policy.limit_currencies[p_limit];
begin
  if v_period in ('DAY', 'MONTH') then
    return (date_trunc(v_period, p_at at time zone v_zone) + ('1 ' || v_period)::interval - interval '1 microsecond') at time zone v_zone
      + interval '1 microsecond';
  end if;
  return (
    select r.used_at + case v_period when 'LAST_24_HOURS' then interval '24 hours' else interval '720 hours' end
    from (
      select u.used_at, sum(case v_currency when '' then 1 else u.amount end) over (order by u.used_at, u.transaction_id) as freed
      from policy_use u
      where u.platform_id = p_policy.platform_id and u.policy_id = p_policy.id and u.released_at is null
        and v_currency in ('', u.currency) and u.used_at >= window_start(v_period, v_zone, p_at)) r
    where r.freed >= p_much order by r.used_at limit 1);
end
$$;

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
    raise exception 'account %: a balance changes only through postings', old.id using errcode = 'LG004';
  end if;
  if new.status is distinct from old.status and (old.status || ' > ' || new.status = any (status_moves('external_account'))) is not true then
    raise exception 'external account %: its status cannot change from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;

create or replace function guard_adjustment() returns trigger
  language plpgsql
as $$
begin
  if old.status <> 'PROPOSED' or new.status = 'PROPOSED' then
    raise exception 'adjustment %: its status cannot change from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  if (new.platform_id, new.id, new.account_id, new.amount, new.currency, new.reason, new.proposed_by, new.proposed_at, new.expires_at)
     is distinct from
     (old.platform_id, old.id, old.account_id, old.amount, old.currency, old.reason, old.proposed_by, old.proposed_at, old.expires_at) then
    raise exception 'adjustment %: a proposal cannot change', old.id using errcode = 'LG001';
  end if;
  return new;
end
$$;

create or replace function guard_feed() returns trigger
  language plpgsql
as $$
declare
  v_callers text;
begin
  get diagnostics v_callers = pg_context;
  -- Looks only for the function's name, because the text around it depends on the server's language.
  if position('sequence_outbox(integer)' in v_callers) = 0 then
    raise exception 'only sequence_outbox writes the feed' using errcode = 'LG009';
  end if;
  return null;
end
$$;

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
    raise exception 'event % refers to a row of another platform', new.event_id using errcode = 'foreign_key_violation';
  end if;
  return new;
end
$$;

create or replace function guard_quote() returns trigger
  language plpgsql
as $$
declare
  v_else quote := new;
begin
  v_else.status := old.status;
  v_else.status_reason := old.status_reason;
  if v_else is distinct from old then
    raise exception 'quote %: its terms cannot change', old.id using errcode = 'LG002';
  end if;
  if (old.status || ' > ' || new.status = any (status_moves('quote'))) is not true then
    raise exception 'quote %: its status cannot change from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;

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
    or (old.type = 'OUTGOING' and (new.destination_account_id, new.requested_information)
        is distinct from (old.destination_account_id, old.requested_information))
    -- The approval of an outgoing payment changes only when its status changes to or from CREATED. The token that
    -- requested a payment and the token that decided on it are written only once.
    or (old.type = 'OUTGOING' and 'CREATED' not in (old.status, new.status)
        and (new.approval_due_at, new.decided_by_id) is distinct from (old.approval_due_at, old.decided_by_id))
    or (coalesce(old.created_by, new.created_by), coalesce(old.decided_by_id, new.decided_by_id))
       is distinct from (new.created_by, new.decided_by_id)
    or (new.created_by is distinct from old.created_by and (old.quote_id is null or old.status <> 'PENDING')) then
    raise exception 'transaction %: its parties and amounts cannot change', old.id using errcode = 'LG002';
  end if;
  -- A refund held in suspense is paid after the payment has ended, without a change of status.
  if not (new.status = old.status and old.refund_reference is not null and old.refund_settled_at is null and new.refund_settled_at is not null)
     and (old.status || ' > ' || new.status = any (status_moves('transaction'))) is not true then
    raise exception 'transaction %: its status cannot change from % to %', old.id, old.status, new.status using errcode = 'LG003';
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

create or replace function guard_transaction_start() returns trigger
  language plpgsql
as $$
declare
  v_party record;
begin
  if new.status not in ('CREATED', 'PENDING') then
    raise exception 'transaction % cannot start as %', new.id, new.status using errcode = 'LG003';
  end if;
  -- Assignments cost less than statements.
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

create or replace function guard_uma_address() returns trigger
  language plpgsql
as $$
begin
  if not exists (
    select from uma_domain where domain = split_part(new.uma_address, '@', 2) and platform_id = new.platform_id
  ) then
    raise exception 'customer %: the domain of the UMA address does not belong to the platform', new.id using errcode = 'LG011';
  end if;
  return new;
end
$$;

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

create or replace function is_sound_quote(q quote) returns boolean
  language plpgsql immutable parallel safe
as $$
begin
  return q.total_sending_amount between 1 and 9000000000000000
    and q.total_receiving_amount between 1 and 9000000000000000
    and q.fees_included between 0 and q.total_sending_amount
    and q.platform_fee between 0 and q.fees_included
    and q.exchange_rate > 0
    -- The rail takes the whole amount less the platform's fee.
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
    and (t.decided_by_id is null or t.status = 'REJECTED' or 'ApiToken:' || t.decided_by_id is distinct from t.created_by);
end
$$;

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
    -- The source account if it is internal; otherwise, its owner's internal account in the sent currency.
    case when s.kind = 'INTERNAL' then s.id else coalesce(
      (select f.id from account f where f.platform_id = t.platform_id and f.kind = 'INTERNAL' and f.currency = t.sent_currency
         and f.customer_id = case when s.id is null then t.customer_id else s.customer_id end),
      (select f.id from account f where f.platform_id = t.platform_id and f.kind = 'INTERNAL' and f.currency = t.sent_currency
         and f.customer_id is null and case when s.id is null then t.customer_id else s.customer_id end is null),
      t.source_account_id) end,
    -- A frozen account is not debited unless the same plan credits it with more.
    pa.id, pa.posted >= q.platform_fee and (pa.frozen_at is null or pa.id = s.id),
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

create or replace function limit_state(p_policy policy, p_limit int, p_at timestamptz) returns jsonb
  language plpgsql stable
as $$
declare
  v_period text := p_policy.limit_periods[p_limit];
  v_currency text := nullif(p_policy.limit_currencies[p_limit], '');
  v_maximum bigint := p_policy.limit_maxima[p_limit];
  v_used bigint := spent(p_policy, p_limit, p_at);
  v_left bigint := greatest(v_maximum - v_used, 0);
begin
  return jsonb_build_object(
    'period', v_period, 'currency', v_currency, 'amount', null, 'usedAmount', null, 'leftAmount', null,
    'payments', null, 'usedPayments', null, 'leftPayments', null, 'renewsAt', case when v_used > 0 then
      to_char(frees_at(p_policy, p_limit, p_at, 1) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end)
    || case when v_currency is null
         then jsonb_build_object('payments', v_maximum, 'usedPayments', v_used, 'leftPayments', v_left)
         else jsonb_build_object('amount', v_maximum::text, 'usedAmount', v_used::text, 'leftAmount', v_left::text) end;
end
$$;

create or replace function limits_of(p_platform uuid, p_policy uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select coalesce(jsonb_agg(limit_state(p, n, clock_ms()) order by n), '[]')
    from policy p, generate_subscripts(p.limit_maxima, 1) n where p.platform_id = p_platform and p.id = p_policy);
end
$$;

create or replace function lock_claims(p_plans jsonb) returns void
  language plpgsql
as $$
begin
  if jsonb_array_length(p_plans) = 1 then
    -- First tries to lock the key without waiting, in an expression, because that costs less than a statement.
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

create or replace function lock_plans(p_plans jsonb) returns policy[]
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
  v_active := uuids(jsonb_path_query_array(p_plans, '$[*].plan.require_active.customers[*]'))
    || uuids(jsonb_path_query_array(p_plans, '$[*].plan.insert.account[*].customer_id'));
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
    -- Making an account the default deposit account also changes the previous default.
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

  v_active := uuids(jsonb_path_query_array(p_plans, '$[*].plan.spend.subjects[*]'));
  if p_plans @? '$[*].plan ? (exists (@.otherwise) || exists (@.transactions[*] ? (@.to == "FAILED" || @.to == "REJECTED" || @.to == "EXPIRED" || @.to == "REFUNDED")))' then
    v_active := v_active || array(
      select p.subject_id from policy_use u join policy p on p.platform_id = u.platform_id and p.id = u.policy_id
      where u.platform_id = any (v_platforms) and u.released_at is null
        and u.transaction_id = any (uuids(jsonb_path_query_array(p_plans, '$[*].plan.transactions[*].id'))));
  end if;
  if v_active <> '{}' then
    return array(
      select p from policy p where platform_id = any (v_platforms) and subject_id = any (v_active)
      order by platform_id, id for no key update);
  end if;
  return '{}';
end
$$;

create or replace function mark_restore() returns int
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_epoch int := 1 + floor(random() * 2147483646)::int;
begin
  perform follow_server();
  insert into feed_epoch (epoch, server, seen_at)
  select v_epoch, server_name(), seen_at from feed_epoch order by id desc limit 1;
  update feed_epoch set marked_at = clock_ms() where marked_at is null;
  return v_epoch;
end
$$;

create or replace function name_party(p_platform uuid, p_account uuid, p_customer uuid, out name text, out number text)
  language plpgsql stable
as $$
declare
  v_account account;
begin
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

create or replace function oldest_waiting() returns bigint
  language plpgsql stable
  security definer set search_path = public, pg_temp
  set enable_seqscan = off
as $$
begin
  return (select min(id) from outbox);
end
$$;

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

create or replace function refuse_change() returns trigger
  language plpgsql
as $$
begin
  raise exception '% is append-only: % refused', tg_table_name, lower(tg_op) using errcode = 'LG001';
end
$$;

create or replace function release_payments(p_plans jsonb) returns void
  language plpgsql
as $$
declare
  v_ended jsonb := jsonb_path_query_array(p_plans, '$[*].plan.transactions[*] ? (@.to == "FAILED" || @.to == "REJECTED" || @.to == "EXPIRED" || @.to == "REFUNDED")');
  v_use policy_use;
begin
  for v_use in
    update policy_use u set released_at = clock_ms()
    from jsonb_to_recordset(v_ended) as m(id uuid, "to" text), policy p
    where u.platform_id = any (uuids(jsonb_path_query_array(p_plans, '$[*].platform'))) and u.transaction_id = m.id and u.released_at is null
      and p.platform_id = u.platform_id and p.id = u.policy_id
      and case m."to" when 'REFUNDED' then 'REFUNDED' else 'FAILED' end::policy_release = any (p.release_on)
    returning u.*
  loop
    update policy set used = array(
      select l.used - case when v_use.used_at >= window_start(l.period, time_zone, l.summed_at) and l.currency in ('', v_use.currency)
        then case l.currency when '' then 1 else v_use.amount end else 0 end
      from unnest(limit_periods, limit_currencies, used, summed_at) with ordinality as l(period, currency, used, summed_at, number)
      order by l.number)
    where platform_id = v_use.platform_id and id = v_use.policy_id;
  end loop;
end
$$;

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
  -- The limit, the id that may become the next limit, the time when that id was noted (in milliseconds), and the
  -- transaction id below which all transactions must have ended.
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
    -- The transactions to wait for have ended, and this statement sees everything that they committed.
    if not exists (select from outbox where id > v_past[1] and id <= v_past[2]) then
      v_past := array[v_past[2], 0, 0, 0];
    end if;
  end if;
  perform set_config('gateway.outbox_past', v_past::text, false);

  -- A notification must be shorter than 8,000 bytes; each platform takes about 57 bytes.
  for v_from in 1 .. coalesce(array_length(v_heads, 1), 0) by 100 loop
    perform pg_notify('feed', array_to_string(v_heads[v_from : v_from + 99], ','));
  end loop;
  return v_count;
end
$$;

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

create or replace function spent(p_policy policy, p_limit int, p_at timestamptz) returns bigint
  language plpgsql stable
as $$
declare
  v_currency text := p_policy.limit_currencies[p_limit];
  v_since timestamptz := window_start(p_policy.limit_periods[p_limit], p_policy.time_zone, p_policy.summed_at[p_limit]);
  v_start timestamptz := window_start(p_policy.limit_periods[p_limit], p_policy.time_zone, p_at);
  v_moved boolean := v_since <= v_start and v_since > v_start - interval '1 day';
  v_sum bigint;
begin
  select coalesce(sum(case v_currency when '' then 1 else u.amount end), 0) into v_sum
  from policy_use u
  where u.platform_id = p_policy.platform_id and u.policy_id = p_policy.id and u.released_at is null and v_currency in ('', u.currency)
    and u.used_at >= case when v_moved then v_since else v_start end
    and u.used_at < case when v_moved then v_start else 'infinity' end;
  if v_moved then
    return p_policy.used[p_limit] - v_sum;
  end if;
  -- The usage in p_policy may already include payments in the current batch, which are not stored yet.
  return v_sum + p_policy.used[p_limit]
    - coalesce((select p.used[p_limit] from policy p where p.platform_id = p_policy.platform_id and p.id = p_policy.id), 0);
end
$$;

create or replace function stamp_change() returns trigger
  language plpgsql
as $$
begin
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;

create or replace function stamp_lookup() returns trigger
  language plpgsql
as $$
begin
  new.created_at := uuid_v7_time(new.id);
  new.expires_at := new.created_at + interval '10 minutes';
  return new;
end
$$;

create or replace function stamp_new_row() returns trigger
  language plpgsql
as $$
begin
  if tg_nargs > 0 then
    if new.status::text <> all (tg_argv) then
      raise exception '% % cannot start as %', tg_table_name, new.id, new.status using errcode = 'LG003';
    end if;
  end if;
  new.version := 1;
  new.created_at := uuid_v7_time(new.id);
  new.updated_at := new.created_at;
  return new;
end
$$;

create or replace function stamp_version() returns trigger
  language plpgsql
as $$
begin
  new.version := old.version + 1;
  return new;
end
$$;

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

-- Check constraints. On the busiest tables they are functions of the row (see is_sound_account for the reason).
-- Account pages keep free space for heap-only updates; updates to quotes and transactions never qualify (bench/LOG.md).
alter table account add constraint account_sound check (is_sound_account(account)), set (fillfactor = 75);
alter table quote add constraint quote_sound check (is_sound_quote(quote));
alter table transaction add constraint transaction_sound check (is_sound_transaction(transaction));
alter table posting
  add constraint posting_amount check (amount <> 0),
  add constraint posting_side check ((account_id is null) <> (system is null)),
  add constraint posting_chain check ((account_id is null) = (balance_after is null) and (account_id is null) = (account_version is null));
-- The two numbers of a rate limit are either both set or both null.
alter table platform
  add constraint platform_rate check (num_nulls(rate_limit, rate_burst) <> 1 and least(rate_limit, rate_burst) > 0),
  add constraint platform_api_token_rate check (num_nulls(api_token_rate_limit, api_token_rate_burst) <> 1 and least(api_token_rate_limit, api_token_rate_burst) > 0),
  add constraint platform_client_token_rate check (num_nulls(client_token_rate_limit, client_token_rate_burst) <> 1 and least(client_token_rate_limit, client_token_rate_burst) > 0);
-- Free space keeps the versions of a frequently updated row on one page, which leaves vacuum little to do
alter table resume_point set (fillfactor = 50);
alter table platform_fee add constraint platform_fee_range check (fixed_fee >= 0 and variable_fee_rate >= 0 and variable_fee_rate < 1);
-- 1 to 255 printable ASCII characters. Checking the length by regular expression took most of the time of an insert.
alter table idempotency_record add constraint idempotency_key_form check (length(key) between 1 and 255 and key !~ '[^\x21-\x7e]');
-- A client token is bound to exactly one record, and never has a permission that is only for a platform's server. A
-- token that is bound to a customer is revoked when that customer is deleted.
alter table client_token
  add constraint client_token_bound_to_one check (num_nonnulls(customer_id, quote_id, transaction_id) = 1),
  add constraint client_token_owner check (customer_id is null or customer_id is not distinct from owner_id),
  add constraint client_token_permissions check (permissions <@ array['VIEW', 'TRANSACT']::permission[]);
alter table webhook_endpoint
  add constraint webhook_endpoint_types check (event_types is not null and cardinality(event_types) > 0),
  add constraint webhook_endpoint_previous_secret check ((previous_secret is null) = (previous_secret_until is null)),
  add constraint webhook_endpoint_disabled check ((status = 'DISABLED') = (disabled_at is not null));
-- A delivery has a next attempt only while it is pending.
alter table webhook_delivery add constraint webhook_delivery_next check ((status = 'PENDING') = (next_attempt_at is not null));
alter table key_in_use add constraint key_in_use_setting check (setting in ('SECRET_KEY', 'CLIENT_TOKEN_KEY'));
-- An adjustment is either undecided, or decided by someone other than its proposer.
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
alter table audit_run add constraint audit_run_sound check (rules > 0 and broken is not null
  and (rules_digest is null or broken = '{}' and covers_until is not null));
alter table audit_mark add constraint audit_mark_sound check (sequence >= 0);
alter table audit_balance add constraint audit_balance_sound check (posted >= 0 and version > 0);
alter table reconciliation add constraint reconciliation_sound check (period_from < period_to and length(started_by) between 1 and 200);
alter table reconciliation_difference add constraint reconciliation_difference_sound check (
  (closed_at is null) = (closed_by is null) and (closed_at is null) = (closed_reason is null)
  and length(closed_by) between 1 and 200 and length(closed_reason) between 1 and 1000);
-- A payment whose provider has moved a different amount is settled by an operator, who closes its case.
alter table rail_case add constraint rail_case_settled check (
  moved_out is null and moved_in is null
  or kind = 'OTHER_AMOUNT' and closed_at is not null and closed_by is not null and closed_reason is not null);
alter table rail_webhook add constraint rail_webhook_sound check (length(webhook_id) between 1 and 200 and length(body) <= 102400);
alter table rail_deposit add constraint rail_deposit_sound check (
  amount between 1 and 9000000000000000 and length(reference) between 1 and 200 and length(held_at) between 1 and 200
  and (status = 'RECEIVED') = (due_at is not null) and (status = 'CREDITED') = (transaction_id is not null)
  and (status not in ('RECEIVED', 'CREDITED') or account_id is not null)
  and (status not in ('UNATTRIBUTED', 'CLOSED') or length(reason) between 1 and 1000));
-- Prisma sees events as a view, and cannot declare a foreign key to the table behind it.
alter table webhook_delivery add constraint webhook_delivery_event foreign key (platform_id, event_sequence) references stored_event (platform_id, sequence);

-- At most one internal account per owner and currency; one external account per owner, currency, type, bank and
-- identifier, not counting INACTIVE ones; one default for incoming UMA payments per customer; one customer per UMA
-- address, not counting deleted ones; and one endpoint of REST's settings per platform.
create unique index account_internal_owner on account (platform_id, customer_id, currency) nulls not distinct where kind = 'INTERNAL';
create unique index account_external_identifier on account (platform_id, customer_id, currency, account_type, bank, identifier) nulls not distinct where kind = 'EXTERNAL' and status <> 'INACTIVE';
create unique index account_default_uma_deposit on account (platform_id, customer_id) where default_uma_deposit_account;
create unique index customer_uma_address on customer (lower(uma_address)) where not is_deleted;
create unique index webhook_endpoint_of_config on webhook_endpoint (platform_id) where of_config;
-- One posting per account and version. Most legs have no account, and are left out.
create unique index posting_chain_of_account on posting (platform_id, account_id, account_version) where account_id is not null;

-- A customer's own events, without those of its payments
create index event_of_customer_itself on stored_event (platform_id, customer_id, sequence) where type in ('KYC_STATUS', 'CUSTOMER_CHANGE');

-- Events of transactions and quotes have no account, and events of accounts have no transaction, so nulls are left out
create index event_of_transaction on stored_event (platform_id, transaction_id, sequence) where transaction_id is not null;
create index event_of_account on stored_event (platform_id, account_id, sequence) where account_id is not null;
-- Events are rarely looked up by id. Ids are ordered by time, so page ranges (BRIN) are enough to find one
create index event_by_id on stored_event using brin (id) with (pages_per_range = 32, autosummarize = on);

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
-- Refunds held in suspense, for the operator
create index transaction_refund_waits on transaction (refund_initiated_at) where refund_reference is not null and refund_settled_at is null;
-- For deleting old lookups that no quote refers to
create index quote_lookup on quote (platform_id, lookup_id) where lookup_id is not null;
-- For the filters of lists (docs/lists.md). The indexes are partial, so that rows without a value cost nothing
create index account_status on account (platform_id, status, id) where status is not null;
create index account_account_type on account (platform_id, account_type, id) where account_type is not null;
create index account_verification on account (platform_id, beneficiary_verification_status, id) where beneficiary_verification_status is not null;
create index transaction_failure_reason on transaction (platform_id, failure_reason, id) where failure_reason is not null;
create index transaction_source_uma_address on transaction (platform_id, source_uma_address, id) where source_uma_address is not null;
create index transaction_destination_uma_address on transaction (platform_id, destination_uma_address, id) where destination_uma_address is not null;
create index quote_destination_uma_address on quote (platform_id, destination_uma_address, id) where destination_uma_address is not null;
create index transaction_begun on transaction (platform_id, id) where quote_id is null or (status <> 'PENDING' and status <> 'EXPIRED')
  or failure_reason = 'PAYMENT_APPROVAL_TIMED_OUT';
create index webhook_delivery_undelivered on webhook_delivery (platform_id, endpoint_id, id) where status <> 'DELIVERED';

insert into currency (code, name, symbol, decimals) values
  ('USD', 'US Dollar', '$', 2), ('EUR', 'Euro', '€', 2), ('GBP', 'British Pound', '£', 2), ('MXN', 'Mexican Peso', 'MX$', 2),
  ('BRL', 'Brazilian Real', 'R$', 2), ('INR', 'Indian Rupee', '₹', 2), ('NGN', 'Nigerian Naira', '₦', 2), ('CAD', 'Canadian Dollar', 'CA$', 2),
  ('PHP', 'Philippine Peso', '₱', 2), ('SGD', 'Singapore Dollar', 'S$', 2), ('JPY', 'Japanese Yen', '¥', 0), ('BTC', 'Bitcoin', '₿', 8),
  ('USDC', 'USD Coin', 'USDC', 6), ('USDT', 'Tether', 'USDT', 6);

-- New rows get their version and times, and start with an allowed status
create trigger stamp before insert on customer for each row execute function stamp_new_row();
create trigger stamp before insert on account for each row execute function stamp_new_row('PENDING', 'ACTIVE', 'UNDER_REVIEW');
create trigger stamp before insert on quote for each row execute function stamp_new_row('PENDING');
create trigger start before insert on transaction for each row execute function guard_transaction_start();
create trigger stamp before insert on lookup for each row execute function stamp_lookup();

-- Changes are checked before they are made, and announced afterwards
create trigger guard before update on customer for each row execute function stamp_change();
create trigger stamp before update on platform for each row
  when ((old.uma_domain, old.currencies, old.trusted_documents) is distinct from (new.uma_domain, new.currencies, new.trusted_documents))
  execute function stamp_version();
create trigger stamp before update of limit_maxima on policy for each row execute function stamp_version();
create trigger stamp before update on webhook_endpoint for each row
  when ((old.url, old.event_types, old.description, old.status = 'DISABLED', old.secret, old.token_id)
    is distinct from (new.url, new.event_types, new.description, new.status = 'DISABLED', new.secret, new.token_id))
  execute function stamp_version();
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

-- A leg on an account changes the account's balance. Legs are checked once per statement, and journals at commit
create trigger apply before insert on posting for each row when (new.account_id is not null) execute function apply_posting();
create trigger legs after insert on posting referencing new table as leg for each statement execute function check_legs();
create constraint trigger balance after insert on journal deferrable initially deferred for each row execute function check_journal();

-- Only sequence_outbox writes to the feed. Triggers write to the outbox; rows from any other source are checked
create trigger guard before insert on outbox for each row when (pg_trigger_depth() = 0) execute function guard_outbox();
create trigger guard before insert on stored_event for each statement execute function guard_feed();

-- Records that are written once, and rows that others refer to, are never deleted
create trigger append_only before update of code or delete on currency for each row execute function refuse_change();
do $$
declare
  v_table text;
begin
  foreach v_table in array array['journal', 'posting', 'stored_event', 'arrival', 'uma_domain', 'operator_act', 'audit_run'] loop
    execute format('create trigger append_only before update or delete on %I for each row execute function refuse_change()', v_table);
  end loop;
  foreach v_table in array array['customer', 'account', 'quote', 'transaction', 'adjustment'] loop
    execute format('create trigger no_delete before delete on %I for each row execute function refuse_change()', v_table);
  end loop;
  foreach v_table in array array['journal', 'posting', 'stored_event', 'uma_domain', 'operator_act', 'audit_run', 'currency',
      'account', 'quote', 'transaction', 'adjustment'] loop
    execute format('create trigger no_truncate before truncate on %I for each statement execute function refuse_change()', v_table);
  end loop;
end
$$;

-- Readers of events use this view. It computes the row as it was after a change, from the event's stored values and the
-- current row (decision 88). A column that is not selected is not computed. The caller's privileges and row-level security apply to its tables.
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

-- Roles and privileges (docs/database-roles.md). There are two service roles: gateway_serving answers requests and sees
-- one platform at a time, and gateway_work does background work for all platforms. Neither owns a table. Login roles
-- are members of one or both of them.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['gateway_serving', 'gateway_work'] loop
    if not exists (select from pg_roles where rolname = v_role) then
      begin
        execute format('CREATE ROLE %I NOLOGIN', v_role);
      exception when duplicate_object or unique_violation then
        -- A migration of another database on this server has just created it.
        null;
      end;
    end if;
  end loop;
end
$$;
grant usage on schema public to gateway_serving, gateway_work;

-- Both roles may read everything that a platform may see, and the list of applied migrations
grant select on platform, uma_domain, platform_fee, api_token, client_token, currency, customer, account, quote, transaction,
  journal, posting, idempotency_record, rail_order, lookup, stored_event, event, feed_head, webhook_endpoint, webhook_delivery,
  webhook_attempt, resume_point, trusted_document, policy, policy_use to gateway_serving;
grant select on all tables in schema public to gateway_work;
do $$
begin
  if to_regclass('public._prisma_migrations') is not null then
    revoke all on _prisma_migrations from public;
    grant select on _prisma_migrations to gateway_serving, gateway_work;
  end if;
  -- Only the schema's owner may do this. If that is a different role, prisma/roles.sql does it.
  if pg_has_role((select nspowner from pg_namespace where nspname = 'public'), 'USAGE') then
    revoke all on schema public from public;
  end if;
end
$$;

-- Both roles may write plain records. Money, statuses and events change only in commit_batches and sequence_outbox. To
-- lock a row, a role must be allowed to update one of its columns: for a customer, the version, which a trigger sets
grant insert on api_token, client_token, idempotency_record, lookup, webhook_endpoint, webhook_delivery, outbox
  to gateway_serving, gateway_work;
grant select (event_id) on outbox to gateway_serving;
grant usage on sequence outbox_id_seq to gateway_serving, gateway_work;
grant update (uma_domain, currencies, trusted_documents, updated_at) on platform to gateway_serving, gateway_work;
grant update (last_used_at, revoked_at, expires_at, warned_at) on api_token to gateway_serving, gateway_work;
grant update (revoked_at) on client_token to gateway_serving, gateway_work;
grant update (result) on idempotency_record to gateway_serving, gateway_work;
grant update (version) on customer to gateway_work;
grant update, delete on webhook_endpoint to gateway_serving, gateway_work;
grant select, insert on key_in_use to gateway_serving, gateway_work;
grant update on webhook_delivery to gateway_serving, gateway_work;
grant insert, update, delete on resume_point to gateway_serving, gateway_work;
grant insert, delete on trusted_document to gateway_serving, gateway_work;
-- Only commit_batches counts payments
grant insert, update, delete on policy to gateway_serving, gateway_work;
grant delete on policy_use to gateway_serving, gateway_work;

-- Requests store webhooks whose signatures a rail has verified; only background work reads, processes and deletes them
grant insert (platform_id, webhook_id, body) on rail_webhook to gateway_serving;

-- Background work and the operator's commands. Approving an adjustment moves money, so only commit_batches does it
grant insert on platform, webhook_attempt, rail_case, rail_connection, rail_deposit, operator_act, audit_run to gateway_work;
grant insert, update on reconciliation, reconciliation_difference, audit_mark, audit_balance to gateway_work;
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

-- PUBLIC may not call functions (docs/database-roles.md). The two roles may call all that run with the caller's
-- privileges, and nobody may call trigger functions.
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
-- The two roles, but not PUBLIC, may also call the functions that later migrations of the same owner create
alter default privileges revoke execute on functions from public;
alter default privileges in schema public grant execute on functions to gateway_serving, gateway_work;

-- These run with the owner's privileges
grant execute on function commit_batches(jsonb), find_api_token(text), find_token_rights(uuid[], uuid[]),
  find_receiver(text, environment), wake_orders(uuid, uuid), oldest_waiting(), read_position(), has_replayed(pg_lsn, text)
  to gateway_serving, gateway_work;
grant execute on function sequence_outbox(int), follow_clock(), follow_server(), mark_restore(),
  set_frozen(text, uuid, boolean, text, text) to gateway_work;

-- Row-level security. The owner sees all rows; the serving role sees only those of the platform that is currently set
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
      -- The serving role itself may write only test events. Triggers write all others.
      case v_table when 'outbox'::regclass then format(' WITH CHECK (%I = %s AND "type" = ''TEST'')', v_column, v_platform) end);
  end loop;
end
$$;

-- The serving role reads these tables through views of the same name, which come first in its search path. With RLS, no
-- index can serve a condition on an enum, because the comparison is not leakproof (docs/database-roles.md, "Cost")
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
