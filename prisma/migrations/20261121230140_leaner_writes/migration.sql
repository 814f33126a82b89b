-- before tables
-- A UUIDv7 (RFC 9562, method 3): 48 bits of milliseconds, 12 bits of the fraction below, 62 random bits. Ids made on one
-- server sort in the order of their making down to the microsecond. Written out because Postgres has its own only from 18,
-- and as one expression that reads the clock once, because only such a function is built into the statement that calls it:
-- microseconds × 4096 / 1000 are 15 hexadecimal digits, of which the last three are the fraction. (date_part, whose float
-- holds the microseconds of our age exactly: extract would count in numeric.)
create or replace function uuid_v7() returns uuid
  language sql volatile parallel safe
as $$
  select (overlay(
    lpad(to_hex((date_part('epoch', clock_timestamp()) * 1000000)::bigint * 512 / 125), 15, '0') placing '7' from 13 for 0
  ) || right(gen_random_uuid()::text, 17))::uuid
$$;

-- DropIndex
DROP INDEX "posting_platform_id_account_id_account_version_key";

-- DropIndex
DROP INDEX "posting_platform_id_hold_id_key";

-- After every change of a quote: its event, in the same transaction.
create or replace function announce_quote() returns trigger
  language plpgsql
as $$
begin
  insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                      previous_status, status, reason, terminal, snapshot)
  values (new.platform_id, uuid_v7(), 'QUOTE_STATUS', new.updated_at, new.transaction_id, new.id, new.customer_id, new.version,
          old.status, new.status, new.status_reason,
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
  values (new.platform_id, uuid_v7(), case new.type when 'OUTGOING' then 'OUTGOING_PAYMENT'::event_type else 'INCOMING_PAYMENT' end, new.updated_at, new.id, new.quote_id, new.customer_id,
          new.version, old.status, new.status, new.status_reason, is_terminal(new.status),
          to_jsonb(new));
  return null;
end
$$;

-- Carries out a plan that check_plan has found possible: new rows, money, status moves, and the rail's orders. Triggers
-- write the events and move the balances. Returns the row that the plan names as its result, as it is now.
create or replace function apply_plan(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_insert jsonb := p_plan -> 'insert';
  v_items jsonb;
  v_item jsonb;
  v_set jsonb;
  v_customer customer;
  v_account account;
  v_id uuid;
  v_result jsonb;
begin
  -- What few plans have is asked for together: each question costs, also where its answer is no.
  if v_insert ?| '{customer,account,account_check}' then
    if v_insert ? 'customer' then
      insert into customer select r.* from jsonb_populate_recordset(null::customer, v_insert -> 'customer') r;
    end if;
    if v_insert ? 'account' then
      -- One default deposit account per customer: a new default takes the place of the old one.
      for v_account in
        select r.* from jsonb_populate_recordset(null::account, v_insert -> 'account') r
        where r.default_uma_deposit_account and r.customer_id is not null
      loop
        update account set default_uma_deposit_account = false
        where platform_id = p_platform and customer_id = v_account.customer_id and default_uma_deposit_account;
      end loop;
      insert into account select r.* from jsonb_populate_recordset(null::account, v_insert -> 'account') r;
    end if;
    if v_insert ? 'account_check' then
      insert into account_check (platform_id, account_id, due_at)
      select p_platform, r.account_id, clock_ms() + r.due_in_ms * interval '1 millisecond'
      from jsonb_to_recordset(v_insert -> 'account_check') as r(account_id uuid, due_in_ms bigint);
    end if;
  end if;
  if v_insert ? 'transaction' then
    insert into transaction select r.* from jsonb_populate_recordset(null::transaction, v_insert -> 'transaction') r;
  end if;
  if v_insert ? 'quote' then
    insert into quote select r.* from jsonb_populate_recordset(null::quote, v_insert -> 'quote') r;
  end if;
  if v_insert ?| '{lookup,arrival,hold}' then
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
  end if;

  -- Money before statuses: a deposit's change of balance is told before the payment that it starts (specification 6, rule 3).
  if jsonb_array_length(p_plan -> 'release') > 0 then
    update hold set state = 'RELEASED'
    where platform_id = p_platform and id = any (array(select jsonb_array_elements_text(p_plan -> 'release')::uuid));
  end if;

  v_items := p_plan -> 'journals';
  for v_at in 0 .. coalesce(jsonb_array_length(v_items), 0) - 1 loop
    v_item := v_items -> v_at;
    v_id := uuid_v7();
    with journal as (
      insert into journal (platform_id, id, transaction_id, kind, created_at)
      values (p_platform, v_id, (v_item ->> 'transactionId')::uuid, v_item ->> 'kind', uuid_v7_time(v_id))
    )
    insert into posting (platform_id, journal_id, leg, account_id, system, currency, amount, hold_id)
    select p_platform, v_id, l.leg, l.account, l.system, l.currency, l.amount, l.hold
    from rows from (
      jsonb_to_recordset(v_item -> 'legs') as (account uuid, system system_account, currency text, amount bigint, hold uuid)
    ) with ordinality as l(account, system, currency, amount, hold, leg);
  end loop;

  v_items := p_plan -> 'quotes';
  for v_at in 0 .. coalesce(jsonb_array_length(v_items), 0) - 1 loop
    v_item := v_items -> v_at;
    update quote set status = (v_item ->> 'to')::quote_status, status_reason = v_item ->> 'reason'
    where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
  end loop;

  v_items := p_plan -> 'transactions';
  for v_at in 0 .. coalesce(jsonb_array_length(v_items), 0) - 1 loop
    v_item := v_items -> v_at;
    v_set := v_item -> 'set';
    update transaction t set
      status = (v_item ->> 'to')::transaction_status,
      status_reason = v_item ->> 'reason',
      failure_reason = case when v_set ? 'failure_reason' then (v_set ->> 'failure_reason')::failure_reason else t.failure_reason end,
      refund_reference = case when v_set ? 'refund_reference' then v_set ->> 'refund_reference' else t.refund_reference end,
      refund_amount = case when v_set ? 'refund_amount' then (v_set ->> 'refund_amount')::bigint else t.refund_amount end,
      -- A refund that waits has been started and has not arrived.
      refund_settled_at = case when coalesce(v_set ->> 'refund_reference', t.refund_reference) is not null
                                    and (v_item ->> 'refundWaits')::boolean is not true
                               then coalesce(t.refund_settled_at, clock_ms()) end,
      received_amount = case when v_set ? 'received_amount' then (v_set ->> 'received_amount')::bigint else t.received_amount end,
      counterparty_information = coalesce(nullif(v_set -> 'counterparty_information', 'null'), t.counterparty_information),
      destination_account_id = case when v_set ? 'destination_account_id' then (v_set ->> 'destination_account_id')::uuid else t.destination_account_id end,
      requested_information = case when v_set ? 'requested_information' then nullif(v_set -> 'requested_information', 'null') else t.requested_information end,
      approval_due_at = coalesce(clock_ms() + (v_item ->> 'approvalInMs')::bigint * interval '1 millisecond', t.approval_due_at),
      expected_settlement_at = coalesce(clock_ms() + (v_item ->> 'expectedInMs')::bigint * interval '1 millisecond', t.expected_settlement_at)
    where t.platform_id = p_platform and t.id = (v_item ->> 'id')::uuid;
  end loop;

  if p_plan ?| '{customers,accounts,checks}' then
    for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'customers'), 0) - 1 loop
      v_item := p_plan -> 'customers' -> v_at;
      select * into v_customer from customer where platform_id = p_platform and id = (v_item ->> 'id')::uuid for no key update;
      v_customer := jsonb_populate_record(v_customer, v_item -> 'set');
      update customer set
        uma_address = v_customer.uma_address, kyc_status = v_customer.kyc_status, is_deleted = v_customer.is_deleted,
        name = v_customer.name, birth_date = v_customer.birth_date, nationality = v_customer.nationality,
        registration_number = v_customer.registration_number, tax_id = v_customer.tax_id,
        address = v_customer.address, beneficial_owners = v_customer.beneficial_owners
      where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
    end loop;

    for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'accounts'), 0) - 1 loop
      v_item := p_plan -> 'accounts' -> v_at;
      select * into v_account from account where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
      v_account := jsonb_populate_record(v_account, coalesce(v_item -> 'set', '{}'));
      update account set
        status = (v_item ->> 'to')::external_account_status,
        status_reason = v_item ->> 'reason',
        beneficiary_verification_status = v_account.beneficiary_verification_status,
        beneficiary_verified_name = v_account.beneficiary_verified_name
      where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
    end loop;
    -- The rail is asked about an account again, or has said its last word.
    for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'checks'), 0) - 1 loop
      v_item := p_plan -> 'checks' -> v_at;
      if v_item ->> 'dueInMs' is null then
        delete from account_check where platform_id = p_platform and account_id = (v_item ->> 'accountId')::uuid;
      else
        update account_check set due_at = clock_ms() + (v_item ->> 'dueInMs')::bigint * interval '1 millisecond'
        where platform_id = p_platform and account_id = (v_item ->> 'accountId')::uuid;
      end if;
    end loop;
  end if;

  if v_insert ? 'rail_order' then
    insert into rail_order (platform_id, id, transaction_id, kind, created_at, due_at, attempts, scenario)
    select p_platform, r.id, r.transaction_id, r.kind, uuid_v7_time(r.id), clock_ms(), 0, r.scenario
    from jsonb_to_recordset(v_insert -> 'rail_order') as r(id uuid, transaction_id uuid, kind rail_order_kind, scenario jsonb);
  end if;
  v_items := p_plan -> 'orders';
  for v_at in 0 .. coalesce(jsonb_array_length(v_items), 0) - 1 loop
    v_item := v_items -> v_at;
    update rail_order set due_at = clock_ms() + (v_item ->> 'dueInMs')::bigint * interval '1 millisecond'
    where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
  end loop;

  v_item := p_plan -> 'result';
  v_id := (v_item ->> 'id')::uuid;
  case v_item ->> 'type'
    when 'Quote' then
      select to_jsonb(q) into v_result from quote q where q.platform_id = p_platform and q.id = v_id;
    when 'Transaction' then
      select to_jsonb(t) into v_result from transaction t where t.platform_id = p_platform and t.id = v_id;
    when 'Customer' then
      select to_jsonb(c) into v_result from customer c where c.platform_id = p_platform and c.id = v_id;
    when 'Lookup' then
      select to_jsonb(l) into v_result from lookup l where l.platform_id = p_platform and l.id = v_id;
    when 'Account' then
      select account_snapshot(a) into v_result from account a where a.platform_id = p_platform and a.id = v_id;
    else
      return null;
  end case;
  return jsonb_build_object('type', v_item -> 'type', 'row', v_result);
end
$$;

-- Before insert on posting, of legs on an account: the leg moves its account's balance as it is written, so that books and
-- balances cannot differ. Both rows that it looks for stay for ever, so they are found here once, and no foreign keys look
-- again. (Legs on system accounts move nothing; what holds for all legs is in check_legs.)
create or replace function apply_posting() returns trigger
  language plpgsql
as $$
declare
  v_captured bigint := 0;
begin
  if new.hold_id is not null then
    update hold set state = 'CAPTURED', resolved_at = clock_ms()
    where platform_id = new.platform_id and id = new.hold_id and account_id = new.account_id
      and state = 'OPEN' and amount >= -new.amount
    returning amount into v_captured;
    if not found then
      raise exception 'hold % cannot be captured by this posting', new.hold_id using errcode = 'LG006';
    end if;
  end if;
  update account set posted = posted + new.amount, held = held - v_captured
  where platform_id = new.platform_id and id = new.account_id and kind = 'INTERNAL' and currency = new.currency
  returning posted, version into new.balance_after, new.account_version;
  if not found then
    raise exception 'no internal account % in %', new.account_id, new.currency using errcode = 'LG007';
  end if;
  return new;
end
$$;

-- After each insert of legs, over all of them at once: each belongs to a journal that this very transaction has written (one
-- that another committed is sealed), and is in a known currency. Both never go away again, so no foreign keys are needed
-- beside it, which would ask the same once more for each leg.
create or replace function check_legs() returns trigger
  language plpgsql
as $$
begin
  -- An age of 0: the row is of the present transaction.
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

-- Locks what a plan will change, in one order for all plans (quotes, transactions, orders, customers, accounts), and tells
-- the first reason why it may not happen, or null. Nothing is written before the whole plan has been found possible.
-- A move marked fresh is of a row that the same plan inserts: there is nothing to lock or check yet.
create or replace function check_plan(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_items jsonb;
  v_item jsonb;
  v_id uuid;
  v_row record;
  v_quote_status quote_status;
  v_expires_at timestamptz;
  v_transaction_status transaction_status;
  v_refund_waits boolean;
  v_kyc_status kyc_status;
  v_is_deleted boolean;
  v_refusal jsonb;
  v_accounts uuid[] := '{}';
  v_changes bigint[] := '{}';
  v_change numeric;
begin
  if p_plan -> 'insert' ?| '{customer,account}' then
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
  end if;

  v_items := p_plan -> 'quotes';
  if jsonb_array_length(v_items) > 1 then
    v_items := (select jsonb_agg(m order by (m ->> 'id')::uuid) from jsonb_array_elements(v_items) m);
  end if;
  for v_at in 0 .. coalesce(jsonb_array_length(v_items), 0) - 1 loop
    v_item := v_items -> v_at;
    continue when (v_item ->> 'fresh')::boolean;
    v_id := (v_item ->> 'id')::uuid;
    select status, expires_at into v_quote_status, v_expires_at from quote
    where platform_id = p_platform and id = v_id for no key update;
    if not found then
      return jsonb_build_object('code', 'QUOTE_NOT_FOUND', 'id', v_id);
    end if;
    -- The clock is read after the lock is held: a quote that expired while the command waited is expired.
    if v_quote_status = 'EXPIRED'
       or (v_quote_status = 'PENDING' and v_item ->> 'expiry' = 'before' and clock_timestamp() >= v_expires_at) then
      return jsonb_build_object('code', 'QUOTE_EXPIRED', 'id', v_id, 'expiresAt', v_expires_at);
    end if;
    if not v_item -> 'from' ? v_quote_status::text or (v_item ->> 'expiry' = 'after' and clock_timestamp() < v_expires_at) then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_id, 'status', v_quote_status);
    end if;
  end loop;

  v_items := p_plan -> 'transactions';
  if jsonb_array_length(v_items) > 1 then
    v_items := (select jsonb_agg(m order by (m ->> 'id')::uuid) from jsonb_array_elements(v_items) m);
  end if;
  for v_at in 0 .. coalesce(jsonb_array_length(v_items), 0) - 1 loop
    v_item := v_items -> v_at;
    continue when (v_item ->> 'fresh')::boolean;
    v_id := (v_item ->> 'id')::uuid;
    select status, refund_reference is not null and refund_settled_at is null into v_transaction_status, v_refund_waits
    from transaction where platform_id = p_platform and id = v_id for no key update;
    if not found then
      return jsonb_build_object('code', 'TRANSACTION_NOT_FOUND', 'id', v_id);
    end if;
    -- A refund that waits in suspense is paid once.
    if not v_item -> 'from' ? v_transaction_status::text or ((v_item ->> 'paysRefund')::boolean and not v_refund_waits) then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_id, 'status', v_transaction_status);
    end if;
  end loop;

  if p_plan ?| '{orders,customers,accounts}' then
    v_refusal := coalesce(check_orders(p_platform, p_plan), check_customers(p_platform, p_plan), check_accounts(p_platform, p_plan));
    if v_refusal is not null then
      return v_refusal;
    end if;
  end if;

  v_items := p_plan -> 'ready' -> 'customers';
  if jsonb_array_length(v_items) > 1 then
    v_items := (select jsonb_agg(c order by (c #>> '{}')::uuid) from jsonb_array_elements(v_items) c);
  end if;
  for v_at in 0 .. coalesce(jsonb_array_length(v_items), 0) - 1 loop
    v_id := (v_items ->> v_at)::uuid;
    select kyc_status, is_deleted into v_kyc_status, v_is_deleted from customer
    where platform_id = p_platform and id = v_id for share;
    if v_is_deleted or v_kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') then
      return jsonb_build_object('code', 'USER_NOT_READY', 'id', v_id, 'kycStatus', v_kyc_status, 'isDeleted', v_is_deleted);
    end if;
  end loop;

  -- What each account here gains or loses, in one pass over the legs. What a leg captures was not spendable before it.
  for v_journal in 0 .. coalesce(jsonb_array_length(p_plan -> 'journals'), 0) - 1 loop
    v_items := p_plan -> 'journals' -> v_journal -> 'legs';
    for v_at in 0 .. jsonb_array_length(v_items) - 1 loop
      v_item := v_items -> v_at;
      v_id := (v_item ->> 'account')::uuid;
      continue when v_id is null;
      v_accounts := v_accounts || v_id;
      v_changes := v_changes || (v_item ->> 'amount')::bigint;
      if v_item ->> 'hold' is not null then
        select account_id, amount into v_row from hold
        where platform_id = p_platform and id = (v_item ->> 'hold')::uuid and state = 'OPEN';
        if found then
          v_accounts := v_accounts || v_row.account_id;
          v_changes := v_changes || v_row.amount;
        end if;
      end if;
    end loop;
  end loop;
  if p_plan -> 'insert' ? 'hold' then
    for v_row in select h.account_id, h.amount from jsonb_populate_recordset(null::hold, p_plan -> 'insert' -> 'hold') h loop
      v_accounts := v_accounts || v_row.account_id;
      v_changes := v_changes || -v_row.amount;
    end loop;
  end if;
  if jsonb_array_length(p_plan -> 'release') > 0 then
    for v_row in
      select h.account_id, h.amount from hold h
      where h.platform_id = p_platform and h.state = 'OPEN'
        and h.id = any (array(select jsonb_array_elements_text(p_plan -> 'release')::uuid))
    loop
      v_accounts := v_accounts || v_row.account_id;
      v_changes := v_changes || v_row.amount;
    end loop;
  end if;
  v_items := p_plan -> 'ready' -> 'accounts';
  for v_at in 0 .. coalesce(jsonb_array_length(v_items), 0) - 1 loop
    v_accounts := v_accounts || (v_items ->> v_at)::uuid;
  end loop;
  if cardinality(v_accounts) > 0 then
    -- By their keys: joined, the planner would rather read every account of the platform.
    for v_row in
      select a.id, a.kind, a.status, a.posted - a.held as spendable from account a
      where a.platform_id = p_platform and a.id = any (v_accounts)
      order by a.id for no key update
    loop
      if v_row.kind = 'EXTERNAL' and v_row.status <> 'ACTIVE' then
        return jsonb_build_object('code', 'INVALID_BANK_ACCOUNT', 'id', v_row.id, 'status', v_row.status);
      end if;
      v_change := 0;
      for v_at in 1 .. cardinality(v_changes) loop
        if v_accounts[v_at] = v_row.id then
          v_change := v_change + v_changes[v_at];
        end if;
      end loop;
      if v_change < 0 and v_row.spendable + v_change < 0 then
        return jsonb_build_object('code', 'INSUFFICIENT_BALANCE', 'id', v_row.id,
                                  'spendable', v_row.spendable::text, 'needed', (-v_change)::text);
      end if;
    end loop;
  end if;

  return null;
end
$$;

-- One command, whole or not at all: its idempotency claim, the state it changes, the money it moves, the events (by
-- trigger) and the outcome that a repeat of the same key will be told. A second call with the key waits for the first
-- to end (at most lock_timeout), because the key is the first thing locked; its record is written once, with the outcome.
-- Every statement below is planned once per connection and kept, since planning took longer than carrying out; and by
-- keys, since the tables may have been empty then.
create or replace function commit_plan(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
as $$
declare
  v_operation text := p_plan #>> '{claim,operation}';
  v_key text := p_plan #>> '{claim,key}';
  v_hash bytea := decode(p_plan #>> '{claim,hash}', 'hex');
  v_lock bigint;
  v_first_hash bytea;
  v_refusal jsonb;
  v_result jsonb;
begin
  if v_key is not null then
    -- Two keys that share a lock by chance only wait for each other. Asked first without waiting, as an expression costs less.
    v_lock := hashtextextended(p_platform::text || v_operation || ' ' || v_key, 0);
    if not pg_try_advisory_xact_lock(v_lock) then
      perform pg_advisory_xact_lock(v_lock);
    end if;
    select request_hash, refusal, result into v_first_hash, v_refusal, v_result from idempotency_record
    where platform_id = p_platform and operation = v_operation and key = v_key;
    if found then
      if v_first_hash <> v_hash then
        return jsonb_build_object('outcome', 'mismatch');
      end if;
      return jsonb_build_object('outcome', 'first', 'refusal', v_refusal, 'result', v_result);
    end if;
  end if;

  v_refusal := check_plan(p_platform, p_plan);
  if v_refusal is null then
    v_result := apply_plan(p_platform, p_plan);
  end if;

  -- Answers with status 403 or 404 are not kept: a later try with the key may succeed.
  if v_key is not null
     and (v_refusal is null or v_refusal ->> 'code' not in ('USER_NOT_READY', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND')) then
    insert into idempotency_record (platform_id, operation, key, request_hash, refusal, result)
    values (p_platform, v_operation, v_key, v_hash, v_refusal, v_result);
  end if;

  return jsonb_build_object('outcome', 'now', 'refusal', v_refusal, 'result', v_result);
end
$$;

-- Before update on account: balances move only through postings and holds (their triggers), owner and currency never, and an
-- external account's status along external_account_move.
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
  -- One condition inside the other: together with `exists` the first would cost a statement of its own.
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

-- Before insert on event: only the sequencer's step writes the feed, from the outbox. What the outbox names is of its
-- platform (guard_outbox) and never deleted, so no foreign keys are needed here: they took a third of the step's time, and
-- locked rows that payments were waiting to change.
create or replace function guard_feed() returns trigger
  language plpgsql
as $$
declare
  v_callers text;
begin
  get diagnostics v_callers = pg_context;
  -- The words around a function's name are in the server's language.
  if position('sequence_outbox(integer)' in v_callers) = 0 then
    raise exception 'only sequence_outbox writes the feed' using errcode = 'LG009';
  end if;
  return null;
end
$$;

-- Before insert on outbox, of rows that no trigger writes (such as test events): what they name is of their platform. A
-- trigger writes the ids of the row that it was called for, so there is nothing to ask then.
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

-- Before insert on quote: its story starts as PENDING, with its first version, at the moment inside its id; every later
-- status is a move. Its currencies are known, and its transaction ties it to its platform (see guard_transaction_start).
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

-- Before insert on transaction: its story starts as CREATED or PENDING, with its first version, at the moment inside its
-- id; every later status is a move. Somebody of its platform takes part in it, and its currencies are known: neither ever
-- goes away again, so it is enough to look once, where foreign keys would also lock the one row of each that all share.
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
  new.version := 1;
  new.created_at := uuid_v7_time(new.id);
  new.updated_at := new.created_at;
  return new;
end
$$;

-- Whether an account's columns fit together, and no more is held or gone than it has: the check on its rows. Written as a function of the row, because Postgres reads
-- the text of a plain check anew in every statement, which took a quarter of the time of writing a transaction; a function's it keeps.
create or replace function is_sound_account(a account) returns boolean
  language plpgsql immutable parallel safe
as $$
begin
  return a.held >= 0
    and a.posted - a.held >= 0
    and case a.kind
          when 'INTERNAL' then a.status is null and a.account_type is null and a.account_info is null
            and a.identifier is null and a.beneficiary is null and not a.default_uma_deposit_account
          else a.status is not null and a.account_type is not null and a.account_info is not null
            and a.identifier is not null and a.posted = 0 and a.held = 0
        end;
end
$$;

-- Whether a quote's columns fit together: the check on its rows. Written as a function of the row, because Postgres reads
-- the text of a plain check anew in every statement, which took a quarter of the time of writing a transaction; a function's it keeps.
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

-- Whether a transaction's columns fit together: the check on its rows. Written as a function of the row, because Postgres reads
-- the text of a plain check anew in every statement, which took a quarter of the time of writing a transaction; a function's it keeps.
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

-- The checks of rows, as functions (see there). They say what the plain checks said.
ALTER TABLE "account" DROP CONSTRAINT "account_spendable", DROP CONSTRAINT "account_kind_shape",
  ADD CONSTRAINT "account_sound" CHECK (is_sound_account("account"));
ALTER TABLE "quote" DROP CONSTRAINT "quote_amounts", DROP CONSTRAINT "quote_source", DROP CONSTRAINT "quote_destination",
  ADD CONSTRAINT "quote_sound" CHECK (is_sound_quote("quote"));
ALTER TABLE "transaction" DROP CONSTRAINT "transaction_amounts", DROP CONSTRAINT "transaction_sent_currency",
  DROP CONSTRAINT "transaction_failure", DROP CONSTRAINT "transaction_settled", DROP CONSTRAINT "transaction_refund",
  DROP CONSTRAINT "transaction_refunded", DROP CONSTRAINT "transaction_approval",
  ADD CONSTRAINT "transaction_sound" CHECK (is_sound_transaction("transaction"));
-- The same keys as before: counting up to 255 inside the expression took most of the time of writing the record.
ALTER TABLE "idempotency_record" DROP CONSTRAINT "idempotency_key_form",
  ADD CONSTRAINT "idempotency_key_form" CHECK (length("key") BETWEEN 1 AND 255 AND "key" !~ '[^\x21-\x7e]');

-- One trigger looks at a new row, instead of two.
DROP TRIGGER "stamp" ON "quote";
DROP TRIGGER "stamp" ON "transaction";
DROP TRIGGER "start" ON "quote";
DROP TRIGGER "start" ON "transaction";
DROP FUNCTION guard_start();
CREATE TRIGGER "start" BEFORE INSERT ON "quote" FOR EACH ROW EXECUTE FUNCTION guard_quote_start();
CREATE TRIGGER "start" BEFORE INSERT ON "transaction" FOR EACH ROW EXECUTE FUNCTION guard_transaction_start();

-- What all legs must satisfy is looked at once for all legs of a statement; only legs on accounts move something.
DROP TRIGGER "apply" ON "posting";
CREATE TRIGGER "apply" BEFORE INSERT ON "posting" FOR EACH ROW
  WHEN (new."account_id" IS NOT NULL OR new."hold_id" IS NOT NULL) EXECUTE FUNCTION apply_posting();
CREATE TRIGGER "legs" AFTER INSERT ON "posting" REFERENCING NEW TABLE AS "leg" FOR EACH STATEMENT EXECUTE FUNCTION check_legs();

-- The feed is written from the outbox alone, and the outbox by triggers, or with a look at what is named.
CREATE TRIGGER "guard" BEFORE INSERT ON "outbox" FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION guard_outbox();
CREATE TRIGGER "guard" BEFORE INSERT ON "event" FOR EACH STATEMENT EXECUTE FUNCTION guard_feed();

-- What the keys below pointed to stays for ever; accounts, quotes, transactions, journals and holds did before.
CREATE TRIGGER "append_only" BEFORE UPDATE OF "code" OR DELETE ON "currency" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "currency" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_delete" BEFORE DELETE ON "customer" FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Foreign keys that the triggers above imply (src/database/drift.ts names them and says why).
ALTER TABLE "posting" DROP CONSTRAINT "posting_platform_id_journal_id_fkey", DROP CONSTRAINT "posting_platform_id_account_id_fkey",
  DROP CONSTRAINT "posting_platform_id_hold_id_fkey", DROP CONSTRAINT "posting_currency_fkey";
ALTER TABLE "transaction" DROP CONSTRAINT "transaction_platform_id_fkey", DROP CONSTRAINT "transaction_sent_currency_fkey",
  DROP CONSTRAINT "transaction_received_currency_fkey";
ALTER TABLE "quote" DROP CONSTRAINT "quote_platform_id_fkey", DROP CONSTRAINT "quote_sending_currency_fkey",
  DROP CONSTRAINT "quote_receiving_currency_fkey";
ALTER TABLE "event" DROP CONSTRAINT "event_platform_id_transaction_id_fkey", DROP CONSTRAINT "event_platform_id_account_id_fkey",
  DROP CONSTRAINT "event_platform_id_customer_id_fkey";

-- Unique among the legs that have an account, or a hold: most have none, and were in these indexes all the same.
CREATE UNIQUE INDEX "posting_chain_of_account" ON "posting" ("platform_id", "account_id", "account_version") WHERE "account_id" IS NOT NULL;
CREATE UNIQUE INDEX "posting_of_hold" ON "posting" ("platform_id", "hold_id") WHERE "hold_id" IS NOT NULL;
