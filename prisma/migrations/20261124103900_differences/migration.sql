-- AlterEnum
ALTER TYPE "system_account" ADD VALUE 'DIFFERENCES';

-- AlterTable
ALTER TABLE "rail_case" ADD COLUMN     "moved_in" BIGINT,
ADD COLUMN     "moved_out" BIGINT;

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
     or p_plan -> 'journals' is distinct from jsonb_build_array(jsonb_build_object(
       'id', v_move -> 'journal_id', 'kind', 'adjustment', 'legs', jsonb_build_array(
         jsonb_build_object('account', v_proposed.account_id, 'currency', v_proposed.currency, 'amount', v_proposed.amount::text),
         jsonb_build_object('system', 'ADJUSTMENTS', 'currency', v_proposed.currency, 'amount', (-v_proposed.amount)::text)))) then
    raise exception 'a plan adjusts a balance otherwise than was proposed' using errcode = 'LG012';
  end if;
  return case
    when v_proposed.status <> 'PROPOSED' then jsonb_build_object('code', 'CONFLICT', 'id', v_proposed.id, 'status', v_proposed.status)
    when v_proposed.expires_at <= clock_timestamp() then jsonb_build_object('code', 'CONFLICT', 'id', v_proposed.id, 'status', 'EXPIRED')
    when same_person(v_proposed.proposed_by, v_move ->> 'by') then
      jsonb_build_object('code', 'CONFLICT', 'id', v_proposed.id, 'status', 'SAME_PERSON') end;
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
    case when p_plan ?| '{adjustments,cases}' or p_plan @? '$.journals[*] ? (@.kind == "adjustment" || @.kind == "difference"
        || @.legs[*].system == "ADJUSTMENTS" || @.legs[*].system == "DIFFERENCES")'
      then coalesce(check_difference(p_platform, p_plan), check_adjustment(p_platform, p_plan)) end,
    case when p_plan ? 'orders' then check_orders(p_platform, p_plan -> 'orders') end,
    case when p_plan ? 'customers' then check_customers(p_platform, p_plan -> 'customers') end,
    case when p_plan ? 'accounts' then check_accounts(p_platform, p_plan -> 'accounts') end,
    case when p_plan -> 'require_active' ? 'customers' then check_active_customers(p_platform, p_plan #> '{require_active,customers}') end,
    case when p_plan -> 'require_active' ? 'undeleted' then check_undeleted(p_platform, p_plan #> '{require_active,undeleted}') end,
    case when p_plan -> 'require_active' ? 'unfrozen' then check_unfrozen(p_platform, p_plan #> '{require_active,unfrozen}') end,
    case when p_plan ? 'journals' then check_balances(p_platform, p_plan -> 'journals') end,
    case when p_plan -> 'require_active' ? 'accounts' then check_active_accounts(p_platform, p_plan #> '{require_active,accounts}') end,
    case when p_plan ? 'capacity' then check_capacity(p_platform, p_plan -> 'capacity') end
  );
end
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

-- A payment whose provider has moved another amount is settled by a person, who closes its case.
ALTER TABLE "rail_case" ADD CONSTRAINT "rail_case_settled" CHECK (
  "moved_out" is null and "moved_in" is null
  or "kind" = 'OTHER_AMOUNT' and "closed_at" is not null and "closed_by" is not null and "closed_reason" is not null);
