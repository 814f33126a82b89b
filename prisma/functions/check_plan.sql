-- Locks what a plan will change, in one order for all plans (quotes, transactions, orders, customers, accounts), and tells
-- the first reason why it may not happen, or null. Nothing is written before the whole plan has been found possible.
-- A move marked fresh is of a row that the same plan inserts: there is nothing to lock or check yet.
create or replace function check_plan(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move record;
  v_row record;
  v_refusal jsonb;
  v_accounts uuid[];
begin
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

  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'quotes') as m(id uuid, "from" text[], expiry text, fresh boolean)
    where m.fresh is not true order by m.id
  loop
    select status, expires_at into v_row from quote
    where platform_id = p_platform and id = v_move.id for no key update;
    if not found then
      return jsonb_build_object('code', 'QUOTE_NOT_FOUND', 'id', v_move.id);
    end if;
    -- The clock is read after the lock is held: a quote that expired while the command waited is expired.
    if v_row.status = 'EXPIRED' or (v_row.status = 'PENDING' and v_move.expiry = 'before' and clock_timestamp() >= v_row.expires_at) then
      return jsonb_build_object('code', 'QUOTE_EXPIRED', 'id', v_move.id, 'expiresAt', v_row.expires_at);
    end if;
    if not v_row.status::text = any (v_move."from") or (v_move.expiry = 'after' and clock_timestamp() < v_row.expires_at) then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_move.id, 'status', v_row.status);
    end if;
  end loop;

  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'transactions') as m(id uuid, "from" text[], fresh boolean, "paysRefund" boolean)
    where m.fresh is not true order by m.id
  loop
    select status, refund_reference is not null and refund_settled_at is null as refund_waits into v_row from transaction
    where platform_id = p_platform and id = v_move.id for no key update;
    if not found then
      return jsonb_build_object('code', 'TRANSACTION_NOT_FOUND', 'id', v_move.id);
    end if;
    -- A refund that waits in suspense is paid once.
    if not v_row.status::text = any (v_move."from") or (v_move."paysRefund" and not v_row.refund_waits) then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_move.id, 'status', v_row.status);
    end if;
  end loop;

  v_refusal := coalesce(check_orders(p_platform, p_plan), check_customers(p_platform, p_plan), check_accounts(p_platform, p_plan));
  if v_refusal is not null then
    return v_refusal;
  end if;
  for v_row in
    select c.id, c.kyc_status, c.is_deleted from customer c
    where c.platform_id = p_platform and c.id in (select jsonb_array_elements_text(p_plan -> 'ready' -> 'customers')::uuid)
    order by c.id for share
  loop
    if v_row.is_deleted or v_row.kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') then
      return jsonb_build_object('code', 'USER_NOT_READY', 'id', v_row.id, 'kycStatus', v_row.kyc_status, 'isDeleted', v_row.is_deleted);
    end if;
  end loop;

  -- As a list, so that each is found by its key: joined, the planner would rather read every account of the platform.
  v_accounts := array(
    select l.account
    from jsonb_array_elements(p_plan -> 'journals') j, jsonb_to_recordset(j -> 'legs') as l(account uuid)
    where l.account is not null
    union
    select h.account_id from jsonb_populate_recordset(null::hold, p_plan -> 'insert' -> 'hold') h
    union
    select h.account_id from hold h
    where h.platform_id = p_platform and h.state = 'OPEN'
      and h.id in (select jsonb_array_elements_text(p_plan -> 'release')::uuid)
    union
    select jsonb_array_elements_text(p_plan -> 'ready' -> 'accounts')::uuid
  );
  for v_row in
    select a.id, a.kind, a.status, a.posted - a.held as spendable, coalesce(c.change, 0) as change
    from account a
    left join (
      select account, sum(change) as change
      from (
        select l.account, l.amount + coalesce(h.amount, 0) as change
        from jsonb_array_elements(p_plan -> 'journals') j,
             jsonb_to_recordset(j -> 'legs') as l(account uuid, amount bigint, hold uuid)
             left join hold h on h.platform_id = p_platform and h.id = l.hold and h.state = 'OPEN'
        where l.account is not null
        union all
        select h.account_id, -h.amount from jsonb_populate_recordset(null::hold, p_plan -> 'insert' -> 'hold') h
        union all
        select h.account_id, h.amount from hold h
        where h.platform_id = p_platform and h.state = 'OPEN'
          and h.id in (select jsonb_array_elements_text(p_plan -> 'release')::uuid)
      ) changes
      group by account
    ) c on c.account = a.id
    where a.platform_id = p_platform and a.id = any (v_accounts)
    order by a.id for no key update of a
  loop
    if v_row.kind = 'EXTERNAL' and v_row.status <> 'ACTIVE' then
      return jsonb_build_object('code', 'INVALID_BANK_ACCOUNT', 'id', v_row.id, 'status', v_row.status);
    end if;
    if v_row.change < 0 and v_row.spendable + v_row.change < 0 then
      return jsonb_build_object('code', 'INSUFFICIENT_BALANCE', 'id', v_row.id,
                                'spendable', v_row.spendable::text, 'needed', (-v_row.change)::text);
    end if;
  end loop;

  return null;
end
$$;
