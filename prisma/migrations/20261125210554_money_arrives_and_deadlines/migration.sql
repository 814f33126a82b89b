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
    if not found then
      raise exception 'the idempotency key % is claimed already', v_claim ->> 'key' using errcode = 'unique_violation';
    end if;
  end if;
  return jsonb_build_object('outcome', 'now', 'refusal', p_refusal, 'result', v_result);
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

drop function check_undeleted(uuid, jsonb);
