-- Nothing makes a hold.

DROP TRIGGER "apply" ON "posting";
CREATE TRIGGER "apply" BEFORE INSERT ON "posting" FOR EACH ROW WHEN (new."account_id" IS NOT NULL) EXECUTE FUNCTION apply_posting();

-- AlterTable
ALTER TABLE "account" DROP COLUMN "held";

-- AlterTable
ALTER TABLE "posting" DROP COLUMN "hold_id";

-- DropTable
DROP TABLE "hold";

-- DropEnum
DROP TYPE "hold_state";

DROP FUNCTION apply_hold();

-- An account as the feed and stored answers keep it. Its balance is text: it may pass what a JSON number holds exactly.
-- Stable, as to_jsonb is: only then is it built into the statement that calls it.
create or replace function account_snapshot(a account) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(a) || jsonb_build_object('posted', a.posted::text)
$$;

-- After a change of an internal account's balance, or of an external account's status or
-- verification: its event.
create or replace function announce_account() returns trigger
  language plpgsql
as $$
begin
  if new.kind = 'INTERNAL' then
    if tg_op = 'UPDATE' and new.posted <> old.posted then
      insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, old_balance, new_balance, snapshot)
      values (new.platform_id, uuid_v7(), 'ACCOUNT_STATUS', new.updated_at, new.id, new.customer_id, new.version,
              old.posted, new.posted, account_snapshot(new));
    end if;
  elsif tg_op = 'INSERT' or (new.status, new.beneficiary_verification_status)
                            is distinct from (old.status, old.beneficiary_verification_status) then
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, previous_status, status, reason, snapshot)
    values (new.platform_id, uuid_v7(), 'EXTERNAL_ACCOUNT_STATUS', new.updated_at, new.id, new.customer_id, new.version,
            case tg_op when 'UPDATE' then old.status end, new.status, new.status_reason, account_snapshot(new));
  end if;
  return null;
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
  if p_plans @? '$[*].plan.insert ? (exists (@.lookup) || exists (@.arrival))' then
    v_rows := jsonb_path_query_array(p_plans, '$[*].plan.insert.lookup[*]');
    insert into lookup select r.* from jsonb_populate_recordset(null::lookup, v_rows) r;
    v_rows := jsonb_path_query_array(p_plans, '$[*].plan.insert.arrival[*]');
    insert into arrival select r.* from jsonb_populate_recordset(null::arrival, v_rows) r;
  end if;

  -- Money before statuses: a deposit's change of balance is told before the payment that it starts (specification 6, rule 3).
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
    insert into posting (platform_id, journal_id, leg, account_id, system, currency, amount)
    select m.platform, m.id, l.leg, l.account, l.system, l.currency, l.amount
    from movement m, rows from (
      jsonb_to_recordset(m.legs) as (account uuid, system system_account, currency text, amount bigint)
    ) with ordinality as l(account, system, currency, amount, leg)
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

-- Before insert on posting, of legs on an account: the leg moves its account's balance as it is written, so that books and
-- balances cannot differ. The account stays for ever, so it is found here once, and no foreign key looks again. (Legs on system
-- accounts move nothing; what holds for all legs is in check_legs.)
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

  if p_plan ? 'expired' then
    v_refusal := check_expired(p_platform, p_plan);
    if v_refusal is not null then
      return v_refusal;
    end if;
  end if;

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

  -- What each account here gains or loses, in one pass over the legs.
  for v_journal in 0 .. coalesce(jsonb_array_length(p_plan -> 'journals'), 0) - 1 loop
    v_items := p_plan -> 'journals' -> v_journal -> 'legs';
    for v_at in 0 .. jsonb_array_length(v_items) - 1 loop
      v_item := v_items -> v_at;
      v_id := (v_item ->> 'account')::uuid;
      continue when v_id is null;
      v_accounts := v_accounts || v_id;
      v_changes := v_changes || (v_item ->> 'amount')::bigint;
    end loop;
  end loop;
  if cardinality(v_accounts) > 0 then
    -- By their keys: joined, the planner would rather read every account of the platform.
    for v_row in
      select a.id, a.posted from account a
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
      if v_change < 0 and v_row.posted + v_change < 0 then
        return jsonb_build_object('code', 'INSUFFICIENT_BALANCE', 'id', v_row.id,
                                  'spendable', v_row.posted::text, 'needed', (-v_change)::text);
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
-- A plan may have an alternative, under `otherwise`: what happens instead where the plan is refused because a quote has expired.
-- The clock is read once, under the quote's lock, so that a deposit at the moment of expiry either executes its quote or is
-- credited, and is never refused for its timing.
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
  -- Whether an alternative was taken somewhere: then not all plans are carried out as they came.
  v_is_otherwise boolean := false;
  v_planned jsonb;
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
    -- The end of a payment makes room on its account, which it need not name.
    if v_at = v_count or v_is_seen or v_names && v_named
       or (v_ends and v_group @? '$[*].plan.room') then
      if cardinality(v_possible) > 0 then
        perform apply_plans(
          case when cardinality(v_possible) = v_count and not v_is_otherwise then v_plans
            else jsonb_path_query_array(to_jsonb(v_possible), '$[*][*]') end);
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
        while v_refusal ->> 'code' = 'QUOTE_EXPIRED' and v_item -> 'plan' ? 'otherwise' loop
          v_planned := jsonb_build_array(v_item);
          v_item := jsonb_set(v_item, '{plan}', v_item #> '{plan,otherwise}');
          -- What is locked, and what shares a transaction, was decided by what the plan names.
          if not array_remove(names_in(jsonb_build_array(v_item)), null) <@ names_in(v_planned) then
            raise exception 'an alternative changes what its plan does not name' using errcode = 'LG010';
          end if;
          v_group := jsonb_set(v_group, array[v_place::text], v_item);
          v_is_otherwise := true;
          v_refusal := check_plan((v_item ->> 'platform')::uuid, v_item -> 'plan');
        end loop;
        exit when v_refusal is not null;
      end loop;
      if v_refusal is null then
        v_possible := v_possible || v_group;
        v_ends := v_ends or v_group @? '$[*].plan.transactions';
        -- Customers and accounts outside are looked at by plans that do not name them.
        v_is_seen := v_group @? '$[*].plan ? (exists (@.customers) || exists (@.accounts)
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

-- Before update on account: a balance moves only through postings (apply_posting), owner and currency never, and an
-- external account's status along external_account_move.
create or replace function guard_account() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.kind, new.customer_id, new.currency)
     is distinct from (old.platform_id, old.id, old.created_at, old.kind, old.customer_id, old.currency) then
    raise exception 'account %: its owner and currency cannot change', old.id using errcode = 'LG002';
  end if;
  if new.posted <> old.posted and pg_trigger_depth() < 2 then
    raise exception 'account %: a balance changes only by a posting', old.id using errcode = 'LG004';
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

-- Whether an account's columns fit together, and no more is gone than it had: the check on its rows. Written as a function of
-- the row, because Postgres reads the text of a plain check anew in every statement, which took a quarter of the time of writing
-- a transaction; a function's it keeps.
create or replace function is_sound_account(a account) returns boolean
  language plpgsql immutable parallel safe
as $$
begin
  return a.posted >= 0
    and case a.kind
          when 'INTERNAL' then a.status is null and a.account_type is null and a.account_info is null
            and a.identifier is null and a.beneficiary is null and not a.default_uma_deposit_account
          else a.status is not null and a.account_type is not null and a.account_info is not null
            and a.identifier is not null and a.posted = 0
        end;
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
    pa.id, pa.posted >= q.platform_fee,
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
  v_accounts uuid[] := uuids(jsonb_path_query_array(p_plans, '$[*].plan.journals[*].legs[*].account'));
begin
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

-- What a group of plans changes or is judged by: the ids of quotes, transactions, orders, and accounts whose balances
-- move or will, also by new payments to them; and its idempotency key. Two groups that have none of it in common can both be found possible before either
-- happens. Not what many plans may only look at: the customers and the accounts outside that must be fit to take part.
create or replace function names_in(p_group jsonb) returns text[]
  language sql stable parallel safe
as $$
  select (
    uuids(jsonb_path_query_array(p_group, '$[*].plan.*[*].id'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.journals[*].legs[*].account'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.room[*].account'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.insert.transaction[*].destination_account_id'))
    || uuids(jsonb_path_query_array(p_group, '$[*].plan.transactions[*].set.destination_account_id'))
  )::text[] || (p_group #>> '{0,plan,claim,operation}' || ' ' || (p_group #>> '{0,plan,claim,key}'))
$$;
