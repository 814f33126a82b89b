-- Applies plans that check_group has accepted, given as a list of {platform, plan}: inserts rows, moves money, changes
-- statuses and places orders for the rail. Each kind of change takes one statement for all plans. Triggers write the
-- events and update the balances. A plan's events are written in the order of this function's statements. The order of
-- the plans matters only for accounts whose balances several of them change.
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
