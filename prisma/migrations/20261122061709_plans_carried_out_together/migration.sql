-- commit_groups takes the place of these: its plans are checked one by one and carried out together.
DROP FUNCTION commit_plans(jsonb);
DROP FUNCTION commit_groups(jsonb);
DROP FUNCTION commit_group(jsonb);
DROP FUNCTION commit_plan(uuid, jsonb);
DROP FUNCTION apply_plan(uuid, jsonb);
-- It answers with JSON text now.
DROP FUNCTION lease_orders(int, bigint);

-- before tables
-- The advisory lock of an idempotency key. Two keys that share one by chance only wait for each other.
create or replace function claim_lock(p_platform uuid, p_claim jsonb) returns bigint
  language sql immutable parallel safe
as $$
  select hashtextextended(p_platform::text || (p_claim ->> 'operation') || ' ' || (p_claim ->> 'key'), 0)
$$;

-- before tables
-- A JSON list of ids as an array. An expression, which PL/pgSQL evaluates without a statement: unnested and gathered again it
-- would cost several times as much. Ids have no character that means something in an array's text.
create or replace function uuids(p_list jsonb) returns uuid[]
  language sql stable parallel safe
as $$
  select translate(p_list::text, '[]"', '{}')::uuid[]
$$;

-- What the outcome of a rail's order may need of an account that takes part in it, as JSON text: the whole row costs several
-- times as much to write and to read. Stable, as to_json is: only then is it built into the statement that calls it.
create or replace function account_party(a account) returns json
  language sql stable parallel safe
as $$
  select json_build_object('id', a.id, 'kind', a.kind, 'customerId', a.customer_id, 'currency', a.currency,
                           'accountType', a.account_type, 'identifier', a.identifier)
$$;

-- After every insert or update of quotes: the event of each, as announce_transaction does it.
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

-- After every insert or update of transactions: the event of each, in the same transaction, in one statement for all of them.
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

-- The part of apply_plans for a plan that changes customers or accounts outside, or when the rail is asked about one again.
create or replace function apply_owner_changes(p_platform uuid, p_plan jsonb) returns void
  language plpgsql
as $$
declare
  v_item jsonb;
  v_customer customer;
  v_account account;
begin
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
end
$$;

-- Carries out plans that check_plan has found possible, a list of {platform, plan}: new rows, money, status moves, and the rail's
-- orders, each kind of it in one statement for all plans. Triggers write the events and move the balances. Within a plan, what
-- comes first here is told first; of plans that have nothing in common it does not matter.
create or replace function apply_plans(p_plans jsonb) returns void
  language plpgsql
as $$
declare
  v_platforms uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].platform'));
  v_rows jsonb;
begin
  -- What few plans have is asked for by an expression: a statement costs, also where it finds nothing to do.
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
  if p_plans @? '$[*].plan.insert ? (exists (@.lookup) || exists (@.arrival) || exists (@.hold))' then
    v_rows := jsonb_path_query_array(p_plans, '$[*].plan.insert.lookup[*]');
    insert into lookup select r.* from jsonb_populate_recordset(null::lookup, v_rows) r;
    v_rows := jsonb_path_query_array(p_plans, '$[*].plan.insert.arrival[*]');
    insert into arrival select r.* from jsonb_populate_recordset(null::arrival, v_rows) r;
    v_rows := jsonb_path_query_array(p_plans, '$[*].plan.insert.hold[*]');
    insert into hold (platform_id, id, account_id, transaction_id, amount, created_at)
    select r.platform_id, r.id, r.account_id, r.transaction_id, r.amount, uuid_v7_time(r.id)
    from jsonb_populate_recordset(null::hold, v_rows) r order by r.account_id, r.id;
  end if;

  -- Money before statuses: a deposit's change of balance is told before the payment that it starts (specification 6, rule 3).
  v_rows := jsonb_path_query_array(p_plans, '$[*].plan.release[*]');
  if v_rows <> '[]' then
    update hold set state = 'RELEASED' where platform_id = any (v_platforms) and id = any (uuids(v_rows));
  end if;
  if p_plans @? '$[*].plan.journals[*]' then
    with movement as materialized (
      select p.platform, p.place, j.number, uuid_v7() as id, j.transaction_id, j.kind, j.legs
      from rows from (jsonb_to_recordset(p_plans) as (platform uuid, plan jsonb)) with ordinality as p(platform, plan, place),
        rows from (
          jsonb_to_recordset(p.plan -> 'journals') as (kind text, "transactionId" uuid, legs jsonb)
        ) with ordinality as j(kind, transaction_id, legs, number)
    ), journal as (
      insert into journal (platform_id, id, transaction_id, kind, created_at)
      select m.platform, m.id, m.transaction_id, m.kind, uuid_v7_time(m.id) from movement m
    )
    insert into posting (platform_id, journal_id, leg, account_id, system, currency, amount, hold_id)
    select m.platform, m.id, l.leg, l.account, l.system, l.currency, l.amount, l.hold
    from movement m, rows from (
      jsonb_to_recordset(m.legs) as (account uuid, system system_account, currency text, amount bigint, hold uuid)
    ) with ordinality as l(account, system, currency, amount, hold, leg)
    -- A leg moves its account's balance as it is written, which must never be below zero on the way.
    order by m.place, m.number, l.leg;
  end if;

  -- Rows are found by their keys as a list: only joined to what moves them, they would be found by reading all of a table that
  -- was small when this was planned.
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
      -- A refund that waits has been started and has not arrived.
      refund_settled_at = case when coalesce(m."set" ->> 'refund_reference', t.refund_reference) is not null
                                    and m."refundWaits" is not true
                               then coalesce(t.refund_settled_at, clock_ms()) end,
      received_amount = case when m."set" ? 'received_amount' then (m."set" ->> 'received_amount')::bigint else t.received_amount end,
      counterparty_information = coalesce(nullif(m."set" -> 'counterparty_information', 'null'), t.counterparty_information),
      destination_account_id = case when m."set" ? 'destination_account_id' then (m."set" ->> 'destination_account_id')::uuid else t.destination_account_id end,
      requested_information = case when m."set" ? 'requested_information' then nullif(m."set" -> 'requested_information', 'null') else t.requested_information end,
      approval_due_at = coalesce(clock_ms() + m."approvalInMs" * interval '1 millisecond', t.approval_due_at),
      expected_settlement_at = coalesce(clock_ms() + m."expectedInMs" * interval '1 millisecond', t.expected_settlement_at)
    from jsonb_to_recordset(v_rows) as m(id uuid, "to" transaction_status, reason text, "set" jsonb, "refundWaits" boolean,
      "approvalInMs" bigint, "expectedInMs" bigint)
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
    update rail_order o set due_at = clock_ms() + m."dueInMs" * interval '1 millisecond'
    from jsonb_to_recordset(v_rows) as m(id uuid, "dueInMs" bigint)
    where o.platform_id = any (v_platforms) and o.id = any (uuids(jsonb_path_query_array(v_rows, '$[*].id'))) and o.id = m.id;
  end if;
end
$$;

-- The part of apply_plans for a plan that registers customers or accounts, which few do.
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
    -- One default deposit account per customer: a new default takes the place of the old one.
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
        and o.id = any (uuids(jsonb_path_query_array(p_plan, '$.orders[*].id')))
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

-- Locks what a plan will change, in one order for all plans (quotes, transactions, orders, customers, accounts here,
-- accounts outside), and tells the first reason why it may not happen, or null. Nothing is written before the whole plan has
-- been found possible.
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
  v_gain numeric;
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
        and h.id = any (uuids(p_plan -> 'release'))
    loop
      v_accounts := v_accounts || v_row.account_id;
      v_changes := v_changes || v_row.amount;
    end loop;
  end if;
  if cardinality(v_accounts) > 0 then
    -- By their keys: joined, the planner would rather read every account of the platform.
    for v_row in
      select a.id, a.posted, a.posted - a.held as spendable from account a
      where a.platform_id = p_platform and a.id = any (v_accounts)
      order by a.id for no key update
    loop
      v_change := 0;
      v_gain := 0;
      for v_at in 1 .. cardinality(v_changes) loop
        if v_accounts[v_at] = v_row.id then
          v_change := v_change + v_changes[v_at];
          if v_changes[v_at] > 0 then
            v_gain := v_gain + v_changes[v_at];
          end if;
        end if;
      end loop;
      if v_change < 0 and v_row.spendable + v_change < 0 then
        return jsonb_build_object('code', 'INSUFFICIENT_BALANCE', 'id', v_row.id,
                                  'spendable', v_row.spendable::text, 'needed', (-v_change)::text);
      end if;
      if v_gain > 0 and v_row.posted + v_gain > 9000000000000000 then
        v_refusal := check_balance(v_row.id, v_row.posted, p_plan);
        if v_refusal is not null then
          return v_refusal;
        end if;
      end if;
    end loop;
  end if;

  -- Accounts outside have no balance: that they are ACTIVE must only stay so, which any number may ask at once.
  v_items := p_plan -> 'ready' -> 'accounts';
  if jsonb_array_length(v_items) > 0 then
    for v_row in
      select a.id, a.status from account a
      where a.platform_id = p_platform and a.kind = 'EXTERNAL'
        and a.id = any (uuids(v_items))
      order by a.id for share
    loop
      if v_row.status <> 'ACTIVE' then
        return jsonb_build_object('code', 'INVALID_BANK_ACCOUNT', 'id', v_row.id, 'status', v_row.status);
      end if;
    end loop;
  end if;

  if p_plan ? 'room' then
    return check_room(p_platform, p_plan);
  end if;
  return null;
end
$$;

-- Groups of plans that share a transaction, each a list of {platform, plan} that happen together or not at all: one plan, as
-- most commands and outcomes are, or the two sides of a payment between platforms. Each group is done or refused on its own,
-- as if the groups came one after another in this order. Answers, once for each:
--   {outcome: now, refusal, result}    it happened now; or it did not, and why; and the row that its plan names as its result
--   {outcome: first, refusal, result}  what came of it when its idempotency key was first used
--   {outcome: mismatch}                its idempotency key was used for something else
-- A claim or a result is in groups of one plan only. Groups that have nothing in common are found possible one by one and then
-- carried out together, since what statements cost beside their rows is a good part of a payment.
-- Every statement here and below is planned once per connection and kept, since planning took longer than carrying out; and by
-- keys, row by row, since the tables may have been empty then.
create or replace function commit_groups(p_groups jsonb) returns jsonb[]
  language plpgsql
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  v_count int := jsonb_array_length(p_groups);
  v_plans jsonb := jsonb_path_query_array(p_groups, '$[*][*]');
  v_group jsonb;
  v_item jsonb;
  v_claim jsonb;
  v_refusal jsonb;
  v_answer jsonb;
  v_answers jsonb[] := '{}';
  -- What more than one group names; of that, what this group does, and what those do that have not happened yet.
  v_shared text[] := '{}';
  v_names text[];
  v_named text[] := '{}';
  -- The groups from v_from on have been looked at and have not happened yet; these of them were found possible, and what the
  -- last of them does may be looked at without being named.
  v_from int := 0;
  v_possible jsonb[] := '{}';
  v_is_seen boolean := false;
  v_ends boolean := false;
begin
  if jsonb_array_length(v_plans) > 1 then
    -- Keys before rows, as a command alone takes them, and in one order.
    if v_plans @? '$[*].plan.claim' then
      perform pg_advisory_xact_lock(c.lock) from (
        select distinct claim_lock(p.platform, p.plan -> 'claim') as lock
        from jsonb_to_recordset(v_plans) as p(platform uuid, plan jsonb) where p.plan ? 'claim' order by 1
      ) c;
    end if;
    perform lock_plans(v_plans);
    v_shared := array(
      select n.name from jsonb_array_elements(p_groups) with ordinality as g(plans, place), unnest(names_in(g.plans)) as n(name)
      where n.name is not null group by n.name having min(g.place) < max(g.place));
  end if;

  for v_at in 0 .. v_count loop
    v_group := p_groups -> v_at;
    if cardinality(v_shared) > 0 and v_at < v_count then
      v_names := array(select n.name from unnest(names_in(v_group)) as n(name) where n.name = any (v_shared));
    end if;
    -- A release names its hold only, and changes an account; so does the end of a payment that an account had to have room for.
    if v_at = v_count or v_is_seen or v_names && v_named or v_group @? '$[*].plan.release'
       or (v_ends and v_group @? '$[*].plan.room') then
      if cardinality(v_possible) > 0 then
        perform apply_plans(
          case when cardinality(v_possible) = v_count then v_plans else jsonb_path_query_array(to_jsonb(v_possible), '$[*][*]') end);
      end if;
      for v_done in v_from .. v_at - 1 loop
        v_item := p_groups #> array[v_done::text, '0', 'plan'];
        v_answer := v_answers[v_done + 1];
        if v_item ?| '{claim,result}' and v_answer ->> 'outcome' = 'now' then
          v_answers[v_done + 1] := conclude_plan(
            (p_groups #>> array[v_done::text, '0', 'platform'])::uuid, v_item -> 'claim', v_item -> 'result', v_answer -> 'refusal');
        end if;
      end loop;
      v_from := v_at;
      v_named := '{}';
      v_possible := '{}';
      v_is_seen := false;
      v_ends := false;
    end if;
    exit when v_at = v_count;

    v_claim := v_group #> '{0,plan,claim}';
    v_answer := null;
    v_refusal := null;
    if v_claim is not null then
      v_answer := first_answer((v_group #>> '{0,platform}')::uuid, v_claim);
    end if;
    if v_answer is null then
      for v_place in 0 .. jsonb_array_length(v_group) - 1 loop
        v_item := v_group -> v_place;
        v_refusal := check_plan((v_item ->> 'platform')::uuid, v_item -> 'plan');
        exit when v_refusal is not null;
      end loop;
      if v_refusal is null then
        v_possible := v_possible || v_group;
        v_ends := v_ends or v_group @? '$[*].plan.transactions';
        -- Customers and accounts outside are looked at by plans that do not name them.
        v_is_seen := v_group @? '$[*].plan ? (exists (@.release) || exists (@.customers) || exists (@.accounts)
          || exists (@.insert.customer) || exists (@.insert.account))';
        v_answer := '{"outcome": "now"}';
      else
        v_answer := jsonb_build_object('outcome', 'now', 'refusal', v_refusal);
      end if;
      v_named := v_named || v_names;
    end if;
    v_answers := v_answers || v_answer;
  end loop;
  return v_answers;
end
$$;

-- What is answered to a plan that has happened or was refused: the row that it names as its result, as it is now. It is kept
-- under the plan's idempotency key, for the next call with it.
create or replace function conclude_plan(p_platform uuid, p_claim jsonb, p_named jsonb, p_refusal jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid := p_named ->> 'id';
  v_row jsonb;
  v_result jsonb;
begin
  if p_refusal is null and p_named is not null then
    case p_named ->> 'type'
      when 'Transaction' then
        select to_jsonb(t) into v_row from transaction t where t.platform_id = p_platform and t.id = v_id;
      when 'Quote' then
        select to_jsonb(q) into v_row from quote q where q.platform_id = p_platform and q.id = v_id;
      when 'Customer' then
        select to_jsonb(c) into v_row from customer c where c.platform_id = p_platform and c.id = v_id;
      when 'Lookup' then
        select to_jsonb(l) into v_row from lookup l where l.platform_id = p_platform and l.id = v_id;
      when 'Account' then
        select account_snapshot(a) into v_row from account a where a.platform_id = p_platform and a.id = v_id;
    end case;
    v_result := jsonb_build_object('type', p_named -> 'type', 'row', v_row);
  end if;
  -- Answers with status 403 or 404 are not kept: a later try with the key may succeed.
  if p_claim is not null
     and (p_refusal is null or p_refusal ->> 'code' not in ('USER_NOT_READY', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND')) then
    insert into idempotency_record (platform_id, operation, key, request_hash, refusal, result)
    values (p_platform, p_claim ->> 'operation', p_claim ->> 'key', decode(p_claim ->> 'hash', 'hex'), p_refusal, v_result);
  end if;
  return jsonb_build_object('outcome', 'now', 'refusal', p_refusal, 'result', v_result);
end
$$;

-- What is answered to a command whose idempotency key was used before, or null. A second call with the key waits for the first
-- to end (at most lock_timeout), because keys are the first thing that is locked.
create or replace function first_answer(p_platform uuid, p_claim jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_operation text := p_claim ->> 'operation';
  v_key text := p_claim ->> 'key';
  v_lock bigint := claim_lock(p_platform, p_claim);
  v_hash bytea;
  v_refusal jsonb;
  v_result jsonb;
begin
  -- Asked without waiting at first, since an expression costs less than a statement.
  if not pg_try_advisory_xact_lock(v_lock) then
    perform pg_advisory_xact_lock(v_lock);
  end if;
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

-- Takes up to p_limit orders of the rail that are due, each with everything that its outcome may need; nobody else takes
-- them for p_lease_ms. Planned once per connection, join by join as it is written, and by keys alone: an order and what
-- belongs to it are some twenty rows among millions, and finding the best of all orders of these joins took far longer
-- than the joins.
create or replace function lease_orders(p_limit int, p_lease_ms bigint) returns table (
  platform_id uuid, id uuid, kind rail_order_kind, attempts int, scenario jsonb, environment environment, new_id uuid,
  leased_until text, age_ms float8, transaction json, platform_fee bigint, sender_information jsonb,
  sender_uma_address text, source json, destination json, funding_account_id uuid, platform_account_id uuid,
  can_return_fee boolean, receiver_platform_id uuid, receiver_customer_id uuid, receiver_ready boolean,
  deposit_account_id uuid, incoming json, incoming_destination json, approval_left_ms float8
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
    case when i.id is not null then to_json(i) end,
    case when ia.id is not null then account_party(ia) end,
    date_part('epoch', coalesce(i.approval_due_at, t.approval_due_at) - clock_timestamp()) * 1000
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

-- Locks what several plans of one transaction will change, a list of {platform, plan}, in the order in which check_plan
-- locks what one plan changes, over all of them: each plan for itself would take its accounts after the quotes of the one
-- before, and two such transactions could wait for each other. What is named is collected by expressions, which cost far
-- less than statements; then each table is asked once, by its key.
create or replace function lock_plans(p_plans jsonb) returns void
  language plpgsql
as $$
declare
  v_platforms uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].platform'));
  v_quotes uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].plan.quotes[*] ? (!(@.fresh == true)).id'));
  v_transactions uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].plan.transactions[*] ? (!(@.fresh == true)).id'));
  v_released uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].plan.release[*]'));
  v_accounts uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].plan.journals[*].legs[*].account'))
    || uuids(jsonb_path_query_array(p_plans, '$[*].plan.insert.hold[*].account_id'));
begin
  if cardinality(v_released) > 0 then
    v_accounts := v_accounts || array(select account_id from hold where platform_id = any (v_platforms) and id = any (v_released));
  end if;

  if cardinality(v_quotes) > 0 then
    perform from quote where platform_id = any (v_platforms) and id = any (v_quotes) order by platform_id, id for no key update;
  end if;
  if cardinality(v_transactions) > 0 then
    perform from transaction where platform_id = any (v_platforms) and id = any (v_transactions)
    order by platform_id, id for no key update;
  end if;
  if cardinality(v_accounts) > 0 then
    perform from account where platform_id = any (v_platforms) and id = any (v_accounts) order by platform_id, id for no key update;
  end if;
end
$$;

-- What a group of plans changes or is judged by: the ids of quotes, transactions, orders, holds, and accounts whose balances
-- move or will, also by new payments to them; and its idempotency key. Two groups that have none of it in common can both be found possible before either
-- happens. Not what many plans may only look at: the customers and the accounts outside that must be fit to take part.
create or replace function names_in(p_group jsonb) returns text[]
  language sql stable parallel safe
as $$
  select (
    uuids(jsonb_path_query_array(p_group, '$[*].plan.*[*].id'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.journals[*].legs[*].account'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.journals[*].legs[*].hold'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.insert.hold[*].account_id'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.release[*]'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.room[*].account'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.insert.transaction[*].destination_account_id'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.transactions[*].set.destination_account_id'))
  )::text[] || (p_group #>> '{0,plan,claim,operation}' || ' ' || (p_group #>> '{0,plan,claim,key}'))
$$;

-- Events of transactions and quotes are written once a statement.
DROP TRIGGER "announce" ON "transaction";
CREATE TRIGGER "announce" AFTER INSERT ON "transaction" REFERENCING NEW TABLE AS "now_is" FOR EACH STATEMENT EXECUTE FUNCTION announce_transaction();
CREATE TRIGGER "announce_moved" AFTER UPDATE ON "transaction" REFERENCING OLD TABLE AS "was" NEW TABLE AS "now_is" FOR EACH STATEMENT EXECUTE FUNCTION announce_transaction();
DROP TRIGGER "announce" ON "quote";
CREATE TRIGGER "announce" AFTER INSERT ON "quote" REFERENCING NEW TABLE AS "now_is" FOR EACH STATEMENT EXECUTE FUNCTION announce_quote();
CREATE TRIGGER "announce_moved" AFTER UPDATE ON "quote" REFERENCING OLD TABLE AS "was" NEW TABLE AS "now_is" FOR EACH STATEMENT EXECUTE FUNCTION announce_quote();
