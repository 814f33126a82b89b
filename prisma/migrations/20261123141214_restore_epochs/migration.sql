-- AlterTable
ALTER TABLE "event" ADD COLUMN     "epoch" INTEGER;

-- AlterTable
ALTER TABLE "feed_head" ADD COLUMN     "epoch" INTEGER;

-- AlterTable
ALTER TABLE "resume_point" ADD COLUMN     "epoch" INTEGER;

-- CreateTable
CREATE TABLE "feed_epoch" (
    "id" SERIAL NOT NULL,
    "epoch" INTEGER,
    "server" TEXT,
    "begun_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "marked_at" TIMESTAMPTZ(3),

    CONSTRAINT "feed_epoch_pkey" PRIMARY KEY ("id")
);

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
    select r.platform_id, free_order_id(r.platform_id, r.id), r.transaction_id, r.kind, clock_ms(),
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
    insert into event (platform_id, sequence, id, type, occurred_at, transaction_id, quote_id, account_id, customer_id,
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

-- Background work and the operator's commands read the epochs, and change them by functions that run with the rights of the owner
GRANT SELECT ON "feed_epoch" TO "gateway_work";
REVOKE EXECUTE ON FUNCTION follow_server(), mark_restore() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION follow_server(), mark_restore() TO "gateway_work";
