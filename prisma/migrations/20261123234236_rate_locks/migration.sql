-- AlterTable
ALTER TABLE "quote" ADD COLUMN     "rate_lock" JSONB;

-- AlterTable
ALTER TABLE "rail_order" ADD COLUMN     "rate_lock" JSONB;

-- The view has every column of its table (docs/database-roles.md)
CREATE OR REPLACE VIEW "serving"."quote" AS
  SELECT * FROM "public"."quote" WHERE "platform_id" = current_setting('gateway.platform', true)::uuid;

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

-- Before update on quote: only the status changes, and only along quote_move. Prices and parties never change.
create or replace function guard_quote() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.expires_at, new.transaction_id, new.customer_id,
      new.source_kind, new.source_account_id, new.destination_kind, new.destination_account_id, new.destination_uma_address,
      new.sending_currency, new.receiving_currency, new.total_sending_amount, new.total_receiving_amount,
      new.exchange_rate, new.fees_included, new.platform_fee, new.locked_currency_side, new.pricing, new.metadata, new.rate_lock)
     is distinct from
     (old.platform_id, old.id, old.created_at, old.expires_at, old.transaction_id, old.customer_id,
      old.source_kind, old.source_account_id, old.destination_kind, old.destination_account_id, old.destination_uma_address,
      old.sending_currency, old.receiving_currency, old.total_sending_amount, old.total_receiving_amount,
      old.exchange_rate, old.fees_included, old.platform_fee, old.locked_currency_side, old.pricing, old.metadata, old.rate_lock) then
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

-- Leases due orders for the version before, which calls it and knows no rate locks: it must not pay an order that has one.
create or replace function lease_orders(p_limit int, p_lease_ms bigint) returns table (
  platform_id uuid, id uuid, kind rail_order_kind, attempts int, scenario jsonb, environment environment, new_id uuid,
  leased_until text, age_ms float8, transaction json, platform_fee bigint, sender_information jsonb,
  sender_uma_address text, source json, destination json, funding_account_id uuid, platform_account_id uuid,
  can_return_fee boolean, receiver_platform_id uuid, receiver_customer_id uuid, receiver_is_active boolean,
  deposit_account_id uuid, incoming json, incoming_destination json, approval_left_ms float8,
  approval_deferred boolean
)
  language plpgsql
as $$
begin
  return query
  select l.platform_id, l.id, l.kind, l.attempts, l.scenario, l.environment, l.new_id, l.leased_until, l.age_ms,
    l.transaction, l.platform_fee, l.sender_information, l.sender_uma_address, l.source, l.destination,
    l.funding_account_id, l.platform_account_id, l.can_return_fee, l.receiver_platform_id, l.receiver_customer_id,
    l.receiver_is_active, l.deposit_account_id, l.incoming, l.incoming_destination, l.approval_left_ms,
    l.approval_deferred
  from lease_rail_orders(p_limit, p_lease_ms, false) l;
end
$$;

-- Leases up to p_limit due orders for p_lease_ms, each with all data that its outcome may need. Nobody else takes them
-- in this time. Planned once per connection, in the written order of joins and by keys alone: an order needs some
-- twenty rows among millions, and the search for the best order of these joins took far longer than the joins.
-- p_with_locks: also orders with a rate lock.
create or replace function lease_rail_orders(p_limit int, p_lease_ms bigint, p_with_locks boolean) returns table (
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
      select d.ctid from rail_order d where d.due_at <= v_now and (p_with_locks or d.rate_lock is null) order by d.due_at limit p_limit for update skip locked))
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
