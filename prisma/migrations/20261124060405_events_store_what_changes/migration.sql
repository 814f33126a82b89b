-- An event stores what changed: the row after the change is made of that and of the row of now when it is read (decision 88).
-- Events of before have the whole row, and stay as they are.
ALTER TABLE "outbox" ALTER COLUMN "snapshot" DROP NOT NULL;
ALTER TABLE "event" RENAME TO "stored_event";
ALTER TABLE "stored_event" ALTER COLUMN "snapshot" DROP NOT NULL;
ALTER TABLE "stored_event" RENAME CONSTRAINT "event_pkey" TO "stored_event_pkey";
ALTER INDEX "event_platform_id_id_key" RENAME TO "stored_event_platform_id_id_key";
ALTER INDEX "event_platform_id_customer_id_sequence_idx" RENAME TO "stored_event_platform_id_customer_id_sequence_idx";

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
            old.posted, new.posted, account_state(new) - 'posted');
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

  if p_plans @? '$[*].plan.adjustments' then
    update adjustment d set status = 'APPROVED', decided_at = clock_ms(), decided_by = m."by", decided_reason = m.reason,
      journal_id = m.journal_id
    from jsonb_to_recordset(jsonb_path_query_array(p_plans, '$[*].plan.adjustments[*]'))
      as m(id uuid, "by" text, reason text, journal_id uuid)
    where d.platform_id = any (v_platforms) and d.id = m.id;
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

-- Before update on account: the balance changes only through postings (apply_posting), owner, currency and details never
-- change, and the status of an external account changes only along external_account_move. An event stores
-- what may change: a column that is not refused here is in account_state and account_as_of.
create or replace function guard_account() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.kind, new.customer_id, new.currency, new.funding_instructions,
      new.account_type, new.account_info, new.identifier, new.beneficiary)
     is distinct from (old.platform_id, old.id, old.created_at, old.kind, old.customer_id, old.currency, old.funding_instructions,
      old.account_type, old.account_info, old.identifier, old.beneficiary) then
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

-- Returns a quote as it was after a change of it: of a quote nothing changes but what its event has in columns (guard_quote).
create or replace function quote_as_of(q quote, e stored_event) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(q)
    || jsonb_build_object('status', e.status, 'status_reason', e.reason, 'version', e.version, 'updated_at', e.occurred_at)
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
  v_epoch int;
begin
  select epoch into v_epoch from feed_epoch order by id desc limit 1;
  with taken as (
    delete from outbox where ctid = any (array(select ctid from outbox order by id limit p_limit)) returning *
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
  select array_agg(h.platform_id::text || ':' || h.sequence), coalesce(sum(c.events), 0)::int into v_heads, v_count
  from heads h join counted c using (platform_id);

  -- A notification has less than 8,000 bytes: about 57 bytes for each platform.
  for v_from in 1 .. coalesce(array_length(v_heads, 1), 0) by 100 loop
    perform pg_notify('feed', array_to_string(v_heads[v_from : v_from + 99], ','));
  end loop;
  return v_count;
end
$$;

-- Returns a transaction as it was after a change of it: the row of now, with what may have changed since as the event has it
-- (transaction_state).
create or replace function transaction_as_of(t transaction, e stored_event) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(t) || (
    '{"settled_at": null, "expected_settlement_at": null, "failure_reason": null, "refund_reference": null, "refund_amount": null,
      "refund_initiated_at": null, "refund_settled_at": null, "counterparty_information": {}}'
    || case when t.type = 'INCOMING' then '{"destination_account_id": null, "destination_name": null, "destination_number": null,
         "approval_due_at": null, "requested_information": null}'::jsonb else '{}' end
    || jsonb_build_object('status', e.status, 'status_reason', e.reason, 'version', e.version, 'updated_at', e.occurred_at)
    || coalesce(e.snapshot, '{}'))
$$;

-- Returns what its event stores of a transaction: the columns that may change after it was made (guard_transaction), where they
-- say something. Its status, reason, version and time of change are columns of the event. transaction_as_of reads it.
create or replace function transaction_state(t transaction) returns jsonb
  language sql stable parallel safe
as $$
  select nullif(
    jsonb_strip_nulls(jsonb_build_object(
      'settled_at', t.settled_at, 'expected_settlement_at', t.expected_settlement_at, 'failure_reason', t.failure_reason,
      'refund_reference', t.refund_reference, 'refund_amount', t.refund_amount,
      'refund_initiated_at', t.refund_initiated_at, 'refund_settled_at', t.refund_settled_at))
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

-- What reads events reads this view, also the version before. A column that is not asked for is not computed. The rights and the
-- row-level security of the caller hold for the tables in it.
CREATE VIEW "event" WITH (security_invoker = true) AS
  SELECT e."platform_id", e."sequence", e."id", e."type", e."occurred_at", e."transaction_id", e."quote_id", e."account_id", e."customer_id",
    e."version", e."previous_status", e."status", e."reason", e."terminal", e."old_balance", e."new_balance",
    CASE
      WHEN e."snapshot" ? 'id' THEN e."snapshot"
      WHEN e."type" IN ('OUTGOING_PAYMENT', 'INCOMING_PAYMENT') THEN (
        SELECT transaction_as_of(t, e) FROM "public"."transaction" t WHERE t."platform_id" = e."platform_id" AND t."id" = e."transaction_id")
      WHEN e."type" = 'QUOTE_STATUS' THEN (
        SELECT quote_as_of(q, e) FROM "public"."quote" q WHERE q."platform_id" = e."platform_id" AND q."id" = e."quote_id")
      WHEN e."type" IN ('ACCOUNT_STATUS', 'EXTERNAL_ACCOUNT_STATUS', 'ACCOUNT_CHANGE') THEN (
        SELECT account_as_of(a, e) FROM "public"."account" a WHERE a."platform_id" = e."platform_id" AND a."id" = e."account_id")
      ELSE e."snapshot"
    END AS "snapshot",
    e."epoch"
  FROM "stored_event" e;
GRANT SELECT ON "event" TO "gateway_serving", "gateway_work";
