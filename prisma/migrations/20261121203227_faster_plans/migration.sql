-- before tables
-- A UUIDv7 (RFC 9562, method 3): 48 bits of milliseconds, 12 bits of the fraction below, 62 random bits. Ids made on one
-- server sort in the order of their making down to the microsecond. Written out because Postgres has its own only from 18,
-- and as one expression that reads the clock once, because only such a function is built into the statement that calls it:
-- microseconds × 4096 / 1000 are 15 hexadecimal digits, of which the last three are the fraction.
create or replace function uuid_v7() returns uuid
  language sql volatile parallel safe
as $$
  select (overlay(
    lpad(to_hex((extract(epoch from clock_timestamp()) * 1000000)::bigint * 512 / 125), 15, '0') placing '7' from 13 for 0
  ) || right(gen_random_uuid()::text, 17))::uuid
$$;

-- An account as the feed and stored answers keep it. Balances are text: they may pass what a JSON number holds exactly.
-- Stable, as to_jsonb is: only then is it built into the statement that calls it.
create or replace function account_snapshot(a account) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(a) || jsonb_build_object('posted', a.posted::text, 'held', a.held::text)
$$;

-- Carries out a plan that check_plan has found possible: new rows, money, status moves, and the rail's orders. Triggers
-- write the events and move the balances. Returns the row that the plan names as its result, as it is now.
create or replace function apply_plan(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_insert jsonb := coalesce(p_plan -> 'insert', '{}');
  v_item jsonb;
  v_set jsonb;
  v_customer customer;
  v_account account;
  v_journal jsonb;
  v_journal_id uuid;
  v_result jsonb;
begin
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
  if jsonb_array_length(p_plan -> 'release') > 0 then
    update hold set state = 'RELEASED'
    where platform_id = p_platform and id = any (array(select jsonb_array_elements_text(p_plan -> 'release')::uuid));
  end if;

  for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'journals'), 0) - 1 loop
    v_journal := p_plan -> 'journals' -> v_at;
    v_journal_id := uuid_v7();
    insert into journal (platform_id, id, transaction_id, kind, created_at)
    values (p_platform, v_journal_id, (v_journal ->> 'transactionId')::uuid, v_journal ->> 'kind', uuid_v7_time(v_journal_id));
    insert into posting (platform_id, journal_id, leg, account_id, system, currency, amount, hold_id)
    select p_platform, v_journal_id, l.leg, l.account, l.system, l.currency, l.amount, l.hold
    from rows from (
      jsonb_to_recordset(v_journal -> 'legs') as (account uuid, system system_account, currency text, amount bigint, hold uuid)
    ) with ordinality as l(account, system, currency, amount, hold, leg);
  end loop;

  for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'quotes'), 0) - 1 loop
    v_item := p_plan -> 'quotes' -> v_at;
    update quote set status = (v_item ->> 'to')::quote_status, status_reason = v_item ->> 'reason'
    where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
  end loop;

  for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'transactions'), 0) - 1 loop
    v_item := p_plan -> 'transactions' -> v_at;
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

  if v_insert ? 'rail_order' then
    insert into rail_order (platform_id, id, transaction_id, kind, created_at, due_at, attempts, scenario)
    select r.platform_id, r.id, r.transaction_id, r.kind, uuid_v7_time(r.id), clock_ms(), 0, r.scenario
    from jsonb_populate_recordset(null::rail_order, v_insert -> 'rail_order') r;
  end if;
  for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'orders'), 0) - 1 loop
    v_item := p_plan -> 'orders' -> v_at;
    update rail_order set due_at = clock_ms() + (v_item ->> 'dueInMs')::bigint * interval '1 millisecond'
    -- One that was woken while it was looked at stays due.
    where platform_id = p_platform and id = (v_item ->> 'id')::uuid
      and (v_item ->> 'leasedUntil' is null or due_at = (v_item ->> 'leasedUntil')::timestamptz);
  end loop;

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

-- The part of check_plan for external accounts whose status or verification a plan moves: locks them by id, and tells the
-- first reason why they may not move, or null. A move that names a version is of what was read then, and of nothing newer.
create or replace function check_accounts(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move record;
  v_account account;
  v_other uuid;
begin
  if p_plan -> 'accounts' is null then
    return null;
  end if;
  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'accounts') as m(id uuid, "from" text[], "to" external_account_status, version int)
    order by m.id
  loop
    select * into v_account from account
    where platform_id = p_platform and id = v_move.id and kind = 'EXTERNAL' for no key update;
    if not found or not v_account.status::text = any (v_move."from") or v_account.version <> coalesce(v_move.version, v_account.version) then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_move.id, 'status', v_account.status);
    end if;
    -- Its owner may have registered it anew while it was INACTIVE.
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

-- The part of check_plan for customers that a plan changes: locks them by id, and tells the first reason why they may not
-- change, or null. A deleted customer stays as it is, and a UMA address has one live holder.
create or replace function check_customers(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_change record;
  v_deleted boolean;
begin
  if coalesce(jsonb_array_length(p_plan -> 'customers'), 0) = 0 then
    return null;
  end if;
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

-- The part of check_plan for the rail's orders that a plan concludes or puts off: locks them by id, and refuses one that
-- has its outcome already. So two workers that held the same order (the first for longer than its lease) settle it once,
-- even where the payment's status does not tell, as after a pull.
create or replace function check_orders(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_order record;
begin
  if jsonb_array_length(p_plan -> 'orders') > 0 then
    for v_order in
      select o.id, o.due_at from rail_order o
      where o.platform_id = p_platform
        and o.id = any (array(select (m ->> 'id')::uuid from jsonb_array_elements(p_plan -> 'orders') m))
      order by o.id for no key update
    loop
      if v_order.due_at is null then
        return jsonb_build_object('code', 'CONFLICT', 'id', v_order.id, 'status', 'CLOSED');
      end if;
    end loop;
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
  v_move record;
  v_row record;
  v_refusal jsonb;
  v_legs jsonb;
  v_leg jsonb;
  v_accounts uuid[] := '{}';
  v_changes bigint[] := '{}';
  v_change numeric;
begin
  if p_plan -> 'insert' ? 'customer' then
    select c.id into v_row from jsonb_populate_recordset(null::customer, p_plan -> 'insert' -> 'customer') n
    join customer c on lower(c.uma_address) = lower(n.uma_address) and not c.is_deleted limit 1;
    if found then
      return jsonb_build_object('code', 'UMA_ADDRESS_EXISTS');
    end if;
  end if;
  if p_plan -> 'insert' ? 'account' then
    select a.id into v_row from jsonb_populate_recordset(null::account, p_plan -> 'insert' -> 'account') n
    join account a on a.platform_id = p_platform and a.kind = 'EXTERNAL' and n.kind = 'EXTERNAL' and a.status <> 'INACTIVE'
      and a.customer_id is not distinct from n.customer_id and a.currency = n.currency
      and a.account_type = n.account_type and a.identifier = n.identifier limit 1;
    if found then
      return jsonb_build_object('code', 'ACCOUNT_EXISTS', 'id', v_row.id);
    end if;
  end if;

  if jsonb_array_length(p_plan -> 'quotes') > 0 then
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
  end if;

  if jsonb_array_length(p_plan -> 'transactions') > 0 then
    for v_move in
      select * from jsonb_to_recordset(p_plan -> 'transactions') as m(id uuid, "from" text[], fresh boolean, "paysRefund" boolean)
      where m.fresh is not true order by m.id
    loop
      select status, refund_reference is not null and refund_settled_at is null as refund_waits into v_row from transaction
      where platform_id = p_platform and id = v_move.id for no key update;
      if not found then
        return jsonb_build_object('code', 'TRANSACTION_NOT_FOUND', 'id', v_move.id);
      end if;
      -- A refund that waits in suspense is paid once.
      if not v_row.status::text = any (v_move."from") or (v_move."paysRefund" and not v_row.refund_waits) then
        return jsonb_build_object('code', 'CONFLICT', 'id', v_move.id, 'status', v_row.status);
      end if;
    end loop;
  end if;

  v_refusal := coalesce(check_orders(p_platform, p_plan), check_customers(p_platform, p_plan), check_accounts(p_platform, p_plan));
  if v_refusal is not null then
    return v_refusal;
  end if;
  if jsonb_array_length(p_plan -> 'ready' -> 'customers') > 0 then
    for v_row in
      select c.id, c.kyc_status, c.is_deleted from customer c
      where c.platform_id = p_platform
        and c.id = any (array(select jsonb_array_elements_text(p_plan -> 'ready' -> 'customers')::uuid))
      order by c.id for share
    loop
      if v_row.is_deleted or v_row.kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') then
        return jsonb_build_object('code', 'USER_NOT_READY', 'id', v_row.id, 'kycStatus', v_row.kyc_status, 'isDeleted', v_row.is_deleted);
      end if;
    end loop;
  end if;

  -- What each account here gains or loses, in one pass over the legs. What a leg captures was not spendable before it.
  for v_journal in 0 .. coalesce(jsonb_array_length(p_plan -> 'journals'), 0) - 1 loop
    v_legs := p_plan -> 'journals' -> v_journal -> 'legs';
    for v_at in 0 .. jsonb_array_length(v_legs) - 1 loop
      v_leg := v_legs -> v_at;
      if v_leg ->> 'account' is not null then
        v_accounts := v_accounts || (v_leg ->> 'account')::uuid;
        v_changes := v_changes || (v_leg ->> 'amount')::bigint;
        if v_leg ->> 'hold' is not null then
          select account_id, amount into v_row from hold
          where platform_id = p_platform and id = (v_leg ->> 'hold')::uuid and state = 'OPEN';
          if found then
            v_accounts := v_accounts || v_row.account_id;
            v_changes := v_changes || v_row.amount;
          end if;
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
  for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'ready' -> 'accounts'), 0) - 1 loop
    v_accounts := v_accounts || (p_plan -> 'ready' -> 'accounts' ->> v_at)::uuid;
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

-- Several plans that happen together or not at all, such as the two sides of a payment between platforms: a list of
-- {platform, plan}, without idempotency claims. All are checked before any is applied. Returns the first refusal, or null.
-- Planned as commit_plan is.
create or replace function commit_group(p_group jsonb) returns jsonb
  language plpgsql
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
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
  v_first idempotency_record;
  v_refusal jsonb;
  v_result jsonb;
begin
  if v_key is not null then
    -- Two keys that share a lock by chance only wait for each other. Asked first without waiting, as an expression costs less.
    v_lock := hashtextextended(p_platform::text || v_operation || ' ' || v_key, 0);
    if not pg_try_advisory_xact_lock(v_lock) then
      perform pg_advisory_xact_lock(v_lock);
    end if;
    select * into v_first from idempotency_record
    where platform_id = p_platform and operation = v_operation and key = v_key;
    if found then
      if v_first.request_hash <> v_hash then
        return jsonb_build_object('outcome', 'mismatch');
      end if;
      return jsonb_build_object('outcome', 'first', 'refusal', v_first.refusal, 'result', v_first.result);
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

-- Takes up to p_limit orders of the rail that are due, each with everything that its outcome may need; nobody else takes
-- them for p_lease_ms. Planned once per connection, join by join as it is written, and by keys alone: an order and what
-- belongs to it are some twenty rows among millions, and finding the best of all orders of these joins took far longer
-- than the joins.
create or replace function lease_orders(p_limit int, p_lease_ms bigint) returns table (
  platform_id uuid, id uuid, kind rail_order_kind, attempts int, scenario jsonb, environment environment, new_id uuid,
  leased_until text, age_ms float8, transaction jsonb, platform_fee bigint, sender_information jsonb,
  sender_uma_address text, source jsonb, destination jsonb, funding_account_id uuid, platform_account_id uuid,
  can_return_fee boolean, receiver_platform_id uuid, receiver_customer_id uuid, receiver_ready boolean,
  deposit_account_id uuid, incoming jsonb, incoming_destination jsonb, approval_left_ms float8
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
    o.due_at::text, (extract(epoch from clock_timestamp() - o.created_at) * 1000)::float8,
    to_jsonb(t), q.platform_fee, q.sender_information, c.uma_address,
    case when s.id is not null then account_snapshot(s) end,
    case when d.id is not null then account_snapshot(d) end,
    -- The owner's account of that currency, where the money comes from outside.
    case when s.kind = 'INTERNAL' then s.id else coalesce(
      (select f.id from account f where f.platform_id = t.platform_id and f.kind = 'INTERNAL' and f.currency = t.sent_currency
         and f.customer_id = case when s.id is null then t.customer_id else s.customer_id end),
      (select f.id from account f where f.platform_id = t.platform_id and f.kind = 'INTERNAL' and f.currency = t.sent_currency
         and f.customer_id is null and case when s.id is null then t.customer_id else s.customer_id end is null),
      t.source_account_id) end,
    pa.id, pa.posted - pa.held >= q.platform_fee,
    r.platform_id, r.id, not r.is_deleted and r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED'),
    coalesce(rd.id, ri.id),
    case when i.id is not null then to_jsonb(i) end,
    case when ia.id is not null then account_snapshot(ia) end,
    (extract(epoch from coalesce(i.approval_due_at, t.approval_due_at) - clock_timestamp()) * 1000)::float8
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

-- The sequencer's step: takes committed changes from the outbox, oldest first, gives each the next number of its
-- platform's feed, and tells all instances once. Rows are consumed, not passed by a moving cursor, so one that commits
-- late is numbered late and never missed. Only one caller at a time (the sequencer's advisory lock), so what it finds
-- first nobody moves before it is taken. Planned once per connection, and by keys: the outbox is empty at times.
create or replace function sequence_outbox(p_limit int) returns int
  language plpgsql
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

  -- A notification carries less than 8,000 bytes: about 57 bytes for each platform.
  for v_from in 1 .. coalesce(array_length(v_heads, 1), 0) by 100 loop
    perform pg_notify('feed', array_to_string(v_heads[v_from : v_from + 99], ','));
  end loop;
  return v_count;
end
$$;
