-- The part of check_plan for an account whose balance a plan may bring beyond its bound: tells why it may not, or null. Asked
-- under the account's lock, and only where all that comes in would be too much, which is rare.
--
-- A balance is at most 9,000,000,000,000,000 smallest units, as an amount is: a JSON number carries it exactly. The bound is
-- for new money, and holds right after it has come in, also where the same plan sends it on: its refund would leave it here.
-- What is owed to the account (a leg marked so: a refund, or the platform's fee of a payment that has been delivered) may go
-- beyond, since refusing it would undo nothing. Only what was sent away and made up for with new money meanwhile can do that,
-- so each time by one payment at most; yet a thousand payments can be under way at once. So what is owed stops at
-- 9,000,000,000,000,000,000, a thousand times the bound: then a refund waits in SUSPENSE (src/payments/no-room.ts), no
-- balance comes near 2^63, and nothing is tried for ever.
create or replace function check_balance(p_account uuid, p_posted bigint, p_plan jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  v_new numeric;
  v_all numeric;
  v_limit numeric;
  v_coming numeric;
begin
  select coalesce(sum(l.amount) filter (where l.owed is not true), 0), coalesce(sum(l.amount), 0) into v_new, v_all
  from jsonb_array_elements(p_plan -> 'journals') j,
    jsonb_to_recordset(j -> 'legs') as l(account uuid, amount numeric, owed boolean)
  where l.account = p_account and l.amount > 0;
  -- Where the new money fits, what is owed besides stays far below its own bound.
  v_limit := case when v_new > 0 then 9000000000000000 else 9000000000000000000 end;
  v_coming := case when v_new > 0 then v_new else v_all end;
  if v_coming > 0 and p_posted + v_coming > v_limit then
    return jsonb_build_object('code', 'AMOUNT_OUT_OF_RANGE', 'id', p_account, 'limit', v_limit::text,
                              'balance', p_posted::text, 'coming', v_coming::text);
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
        and h.id = any (array(select jsonb_array_elements_text(p_plan -> 'release')::uuid))
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
        and a.id = any (array(select jsonb_array_elements_text(v_items)::uuid))
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

-- The part of check_plan for accounts that a plan's payment will credit only later: tells the first whose balance would pass
-- its bound then (check_balance), or null, so that a payment that cannot end well does not begin. What is already on its way
-- is counted where amount and balance are within reach of the bound. No lock is taken: the bound itself is kept when the
-- money is credited, and a payment that does not fit then fails.
create or replace function check_room(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  v_room record;
  v_posted bigint;
  v_coming numeric;
begin
  for v_room in select * from jsonb_to_recordset(p_plan -> 'room') as r(account uuid, amount bigint) loop
    select posted into v_posted from account where platform_id = p_platform and id = v_room.account;
    v_coming := v_room.amount;
    if v_posted + v_coming > 900000000000000 then
      -- By the orders that are open: few, whatever the account's history.
      v_coming := v_coming + (
        select coalesce(sum(t.received_amount), 0)
        from rail_order o join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
        where o.due_at is not null and o.platform_id = p_platform and t.destination_account_id = v_room.account
          and t.status in ('PENDING', 'PROCESSING'));
    end if;
    if v_posted + v_coming > 9000000000000000 then
      return jsonb_build_object('code', 'AMOUNT_OUT_OF_RANGE', 'id', v_room.account, 'limit', '9000000000000000',
                                'balance', v_posted::text, 'coming', v_coming::text);
    end if;
  end loop;
  return null;
end
$$;

-- Groups of plans of background work that share a transaction: each group is done or refused as a whole, on its own, in
-- this order. Answers as commit_group does, once for each.
create or replace function commit_groups(p_groups jsonb) returns setof jsonb
  language plpgsql
as $$
begin
  perform lock_plans(jsonb_path_query_array(p_groups, '$[*][*]'));
  for v_at in 0 .. jsonb_array_length(p_groups) - 1 loop
    return next commit_group(p_groups -> v_at);
  end loop;
end
$$;

-- Commands that share a transaction, a list of {platform, plan}: each is done or refused on its own, in this order. Answers
-- as commit_plan does, once for each.
create or replace function commit_plans(p_plans jsonb) returns setof jsonb
  language plpgsql
as $$
begin
  perform lock_plans(p_plans);
  for v_at in 0 .. jsonb_array_length(p_plans) - 1 loop
    return next commit_plan((p_plans -> v_at ->> 'platform')::uuid, p_plans -> v_at -> 'plan');
  end loop;
end
$$;

-- Locks what several plans of one transaction will change, a list of {platform, plan}, in the order in which check_plan
-- locks what one plan changes, over all of them: each plan for itself would take its accounts after the quotes of the one
-- before, and two such transactions could wait for each other.
create or replace function lock_plans(p_plans jsonb) returns void
  language plpgsql
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
as $$
declare
  v_row record;
begin
  for v_row in
    select distinct (p ->> 'platform')::uuid as platform_id, (m ->> 'id')::uuid as id
    from jsonb_array_elements(p_plans) p, jsonb_path_query(p, '$.plan.quotes[*]') m
    where not coalesce((m ->> 'fresh')::boolean, false) order by id
  loop
    perform from quote where platform_id = v_row.platform_id and id = v_row.id for no key update;
  end loop;
  for v_row in
    select distinct (p ->> 'platform')::uuid as platform_id, (m ->> 'id')::uuid as id
    from jsonb_array_elements(p_plans) p, jsonb_path_query(p, '$.plan.transactions[*]') m
    where not coalesce((m ->> 'fresh')::boolean, false) order by id
  loop
    perform from transaction where platform_id = v_row.platform_id and id = v_row.id for no key update;
  end loop;
  for v_row in
    select distinct (p ->> 'platform')::uuid as platform_id, coalesce(h.account_id, (i #>> '{}')::uuid) as id
    from jsonb_array_elements(p_plans) p
    cross join lateral (
      select a as i, null::uuid as hold_id from jsonb_path_query(p, '$.plan.journals[*].legs[*].account') a
      union all select a, null from jsonb_path_query(p, '$.plan.insert.hold[*].account_id') a
      union all select null, (r #>> '{}')::uuid from jsonb_path_query(p, '$.plan.release[*]') r
    ) named
    left join hold h on h.platform_id = (p ->> 'platform')::uuid and h.id = named.hold_id
    order by id
  loop
    perform from account where platform_id = v_row.platform_id and id = v_row.id for no key update;
  end loop;
end
$$;
