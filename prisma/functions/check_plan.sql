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
