-- CreateTable
CREATE TABLE "clock_reading" (
    "id" BOOLEAN NOT NULL DEFAULT true,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),

    CONSTRAINT "clock_reading_pkey" PRIMARY KEY ("id")
);

-- One row, which is always there.
ALTER TABLE "clock_reading" ADD CONSTRAINT "clock_reading_one" CHECK ("id");
INSERT INTO "clock_reading" DEFAULT VALUES;

-- The part of check_plan for quotes that are paid after they were marked EXPIRED: locks each and tells the first reason why it
-- may not be paid, or null. Such a quote stays as it is and is paid once; whether it was paid before is seen by the journals of
-- its payment, under the quote's lock.
create or replace function check_expired(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
  v_status quote_status;
  v_transaction uuid;
begin
  foreach v_id in array uuids(jsonb_path_query_array(p_plan, '$.expired[*].id')) loop
    select status, transaction_id into v_status, v_transaction from quote
    where platform_id = p_platform and id = v_id for no key update;
    if not found then
      return jsonb_build_object('code', 'QUOTE_NOT_FOUND', 'id', v_id);
    end if;
    if v_status <> 'EXPIRED'
       or exists (select from journal j where j.platform_id = p_platform and j.transaction_id = v_transaction) then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_id, 'status', v_status);
    end if;
  end loop;
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
    -- A release names its hold only, and changes an account; so does the end of a payment that an account had to have room for.
    if v_at = v_count or v_is_seen or v_names && v_named or v_group @? '$[*].plan.release'
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

-- Notices when the database's clock has been set back, by more than a second, and moves what waits for a moment of it: what was
-- due soon by the old clock would wait for as long as the clock was set back. Answers by how many milliseconds, or null. Called
-- again and again, by any number of processes: one of them has the row, and the others need not wait for it.
-- What was due soon is told from what has been made since by where it stands: more than half of the step ahead. What is moved
-- wrongly, as it is really due so late, is only looked at early, which is harmless: a rail is asked again, a receiver gets an
-- event early.
create or replace function follow_clock() returns double precision
  language plpgsql
as $$
declare
  v_seen timestamptz;
  v_now timestamptz;
  v_back interval;
begin
  select seen_at into v_seen from clock_reading for update skip locked;
  if not found then
    return null;
  end if;
  v_now := clock_timestamp();
  v_back := v_seen - v_now;
  if v_back < interval '-1 second' then
    update clock_reading set seen_at = v_now;
  end if;
  if v_back <= interval '1 second' then
    return null;
  end if;
  -- An order's age is counted from when it was made.
  update rail_order set due_at = due_at - v_back, created_at = created_at - v_back where due_at > v_now + v_back / 2;
  update account_check set due_at = due_at - v_back where due_at > v_now + v_back / 2;
  update webhook_delivery set
    next_attempt_at = case when next_attempt_at > v_now + v_back / 2 then next_attempt_at - v_back else next_attempt_at end,
    leased_until = case when leased_until > v_now + v_back / 2 then leased_until - v_back else leased_until end
  where status = 'PENDING' and greatest(next_attempt_at, leased_until) > v_now + v_back / 2;
  update clock_reading set seen_at = v_now;
  return date_part('epoch', v_back) * 1000;
end
$$;
