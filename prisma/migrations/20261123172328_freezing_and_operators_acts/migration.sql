-- AlterTable
ALTER TABLE "customer" ADD COLUMN     "frozen_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "account" ADD COLUMN     "frozen_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "operator_act" (
    "id" UUID NOT NULL DEFAULT uuid_v7(),
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "platform_id" UUID,
    "operator" TEXT NOT NULL,
    "act" TEXT NOT NULL,
    "subject" TEXT,
    "reason" TEXT,
    "before" JSONB,
    "after" JSONB,

    CONSTRAINT "operator_act_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "operator_act_platform_id_id_idx" ON "operator_act"("platform_id", "id");

-- CreateIndex
CREATE INDEX "operator_act_subject_id_idx" ON "operator_act"("subject", "id");

-- AddForeignKey
ALTER TABLE "operator_act" ADD CONSTRAINT "operator_act_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- The part of check_plan for external accounts that a plan changes. A deleted one does not change, and a
-- frozen one is not deleted. A change with a version
-- is valid only for that version of the account. One without a status leaves it as it is.
create or replace function check_accounts(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move record;
  v_account account;
  v_other uuid;
begin
  for v_move in
    select * from jsonb_to_recordset(p_moves) as m(id uuid, "from" text[], "to" external_account_status, version int, "set" jsonb)
  loop
    select * into v_account from account where platform_id = p_platform and id = v_move.id and kind = 'EXTERNAL';
    if not found or not v_account.status::text = any (v_move."from") or v_account.version <> coalesce(v_move.version, v_account.version) then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'ExternalAccount', 'id', v_move.id, 'status', v_account.status);
    end if;
    if v_account.is_deleted then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_move.id, 'status', 'DELETED');
    end if;
    if v_account.frozen_at is not null and (v_move."set" ->> 'is_deleted')::boolean then
      return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'EXTERNAL', 'id', v_move.id, 'customerId', v_account.customer_id);
    end if;
    -- Its owner may have registered it again while it was INACTIVE.
    select a.id into v_other from account a
    where a.platform_id = p_platform and a.kind = 'EXTERNAL' and a.status <> 'INACTIVE' and v_move."to" <> 'INACTIVE' and a.id <> v_account.id
      and a.customer_id is not distinct from v_account.customer_id and a.currency = v_account.currency
      and a.account_type = v_account.account_type and a.identifier = v_account.identifier limit 1;
    if found then
      return jsonb_build_object('code', 'ACCOUNT_EXISTS', 'id', v_other);
    end if;
  end loop;
  return null;
end
$$;

-- The part of check_plan for external accounts that take part in a payment: they must be ACTIVE, and not frozen.
create or replace function check_active_accounts(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
  v_customer uuid;
  v_status external_account_status;
  v_frozen_at timestamptz;
begin
  select a.id, a.customer_id, a.status, a.frozen_at into v_id, v_customer, v_status, v_frozen_at from account a
  where a.platform_id = p_platform and a.kind = 'EXTERNAL' and a.id = any (uuids(p_ids)) and (a.status <> 'ACTIVE' or a.frozen_at is not null)
  order by a.id limit 1;
  if found then
    if v_frozen_at is not null then
      return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'EXTERNAL', 'id', v_id, 'customerId', v_customer);
    end if;
    return jsonb_build_object('code', 'INVALID_BANK_ACCOUNT', 'id', v_id, 'customerId', v_customer, 'status', v_status);
  end if;
  return null;
end
$$;

-- The part of check_plan for customers who take part in a payment: they must be allowed to move money, and not be frozen.
create or replace function check_active_customers(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
  v_kyc_status kyc_status;
  v_is_deleted boolean;
  v_frozen_at timestamptz;
begin
  for v_at in 0 .. jsonb_array_length(p_ids) - 1 loop
    v_id := (p_ids ->> v_at)::uuid;
    select kyc_status, is_deleted, frozen_at into v_kyc_status, v_is_deleted, v_frozen_at from customer where platform_id = p_platform and id = v_id;
    if v_is_deleted or v_kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') then
      return jsonb_build_object('code', 'USER_NOT_READY', 'id', v_id, 'kycStatus', v_kyc_status, 'isDeleted', v_is_deleted);
    end if;
    if v_frozen_at is not null then
      return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_id);
    end if;
  end loop;
  return null;
end
$$;

-- The part of check_plan for accounts whose balances a plan changes: none may go below zero, and none above its bound
-- (check_balance). The balance of a frozen account, or of a frozen customer, does not fall. Whoever freezes one locks the account
-- first, so the lock decides whether a payment was before. What is credited and sent on in one plan is no fall.
create or replace function check_balances(p_platform uuid, p_journals jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_legs jsonb;
  v_accounts uuid[] := '{}';
  v_changes bigint[] := '{}';
  v_account record;
  v_change numeric;
  v_gain numeric;
  v_refusal jsonb;
begin
  -- The change of each account, in one pass over the legs.
  for v_journal in 0 .. jsonb_array_length(p_journals) - 1 loop
    v_legs := p_journals -> v_journal -> 'legs';
    for v_at in 0 .. jsonb_array_length(v_legs) - 1 loop
      continue when not v_legs -> v_at ? 'account';
      v_accounts := v_accounts || (v_legs -> v_at ->> 'account')::uuid;
      v_changes := v_changes || (v_legs -> v_at ->> 'amount')::bigint;
    end loop;
  end loop;
  if cardinality(v_accounts) = 0 then
    return null;
  end if;
  -- By their keys: with a join, the planner would read all accounts of the platform.
  for v_account in
    select a.id, a.posted, a.currency, a.customer_id, a.frozen_at from account a where a.platform_id = p_platform and a.id = any (v_accounts) order by a.id
  loop
    v_change := 0;
    v_gain := 0;
    for v_at in 1 .. cardinality(v_changes) loop
      if v_accounts[v_at] = v_account.id then
        v_change := v_change + v_changes[v_at];
        v_gain := v_gain + greatest(v_changes[v_at], 0);
      end if;
    end loop;
    if v_change < 0 then
      if v_account.frozen_at is not null then
        return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'INTERNAL', 'id', v_account.id, 'customerId', v_account.customer_id);
      end if;
      if exists (select from customer c where c.platform_id = p_platform and c.id = v_account.customer_id and c.frozen_at is not null) then
        return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_account.customer_id);
      end if;
    end if;
    if v_change < 0 and v_account.posted + v_change < 0 then
      return jsonb_build_object('code', 'INSUFFICIENT_BALANCE', 'id', v_account.id,
                                'spendable', v_account.posted::text, 'needed', (-v_change)::text,
                                'currency', v_account.currency);
    end if;
    if v_gain > 0 and v_account.posted + v_gain > 9000000000000000 then
      v_refusal := check_balance(v_account.id, v_account.posted, p_journals);
      if v_refusal is not null then
        return v_refusal || jsonb_build_object('currency', v_account.currency);
      end if;
    end if;
  end loop;
  return null;
end
$$;

-- The part of check_plan for customers that a plan changes. A deleted customer cannot change, one with money or payments
-- under way, or that is frozen, cannot be deleted, and only one customer that is not deleted has a UMA address.
create or replace function check_customers(p_platform uuid, p_changes jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_change record;
  v_deleted boolean;
  v_frozen_at timestamptz;
  v_holder customer;
  v_refusal jsonb;
begin
  for v_change in
    select m.id, m."set" ->> 'uma_address' as uma_address, (m."set" ->> 'is_deleted')::boolean as is_deleted
    from jsonb_to_recordset(p_changes) as m(id uuid, "set" jsonb)
  loop
    select is_deleted, frozen_at into v_deleted, v_frozen_at from customer where platform_id = p_platform and id = v_change.id;
    if v_deleted then
      return jsonb_build_object('code', 'CUSTOMER_DELETED', 'id', v_change.id);
    end if;
    if v_change.is_deleted then
      if v_frozen_at is not null then
        return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_change.id);
      end if;
      v_refusal := check_deletion(p_platform, v_change.id);
      if v_refusal is not null then
        return v_refusal;
      end if;
    end if;
    select * into v_holder from customer c
    where lower(c.uma_address) = lower(v_change.uma_address) and not c.is_deleted
      and (c.platform_id, c.id) <> (p_platform, v_change.id) limit 1;
    if found then
      -- Another platform's customer is not named.
      return jsonb_build_object('code', 'UMA_ADDRESS_EXISTS',
                                'id', case when v_holder.platform_id = p_platform then v_holder.id end);
    end if;
  end loop;
  return null;
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

-- The part of check_plan for customers and external accounts that a plan inserts. Only one customer that is not deleted
-- has a UMA address, and an owner has only one account with an identifier that is not INACTIVE. A frozen customer registers no new account outside, and
-- a frozen account is not registered again, also while it is INACTIVE.
create or replace function check_registrations(p_platform uuid, p_insert jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
begin
  -- Another platform's customer is not named.
  select case when c.platform_id = p_platform then c.id end into v_id from jsonb_populate_recordset(null::customer, p_insert -> 'customer') n
  join customer c on lower(c.uma_address) = lower(n.uma_address) and not c.is_deleted limit 1;
  if found then
    return jsonb_build_object('code', 'UMA_ADDRESS_EXISTS', 'id', v_id);
  end if;
  select a.id into v_id from jsonb_populate_recordset(null::account, p_insert -> 'account') n
  join account a on a.platform_id = p_platform and a.kind = 'EXTERNAL' and n.kind = 'EXTERNAL'
    and (a.status <> 'INACTIVE' or a.frozen_at is not null)
    and a.customer_id is not distinct from n.customer_id and a.currency = n.currency
    and a.account_type = n.account_type and a.identifier = n.identifier limit 1;
  if found then
    return jsonb_build_object('code', 'ACCOUNT_EXISTS', 'id', v_id);
  end if;
  select c.id into v_id from jsonb_populate_recordset(null::account, p_insert -> 'account') n
  join customer c on c.platform_id = p_platform and c.id = n.customer_id and c.frozen_at is not null
  where n.kind = 'EXTERNAL' limit 1;
  if found then
    return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_id);
  end if;
  return null;
end
$$;

-- The part of check_plan for accounts on either side of a new payment: they must not be frozen. No lock is taken: a
-- debit is refused under the lock of its account (check_balances), and a credit to a frozen account harms nobody.
create or replace function check_unfrozen(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  v_id uuid;
  v_customer uuid;
  v_kind account_kind;
begin
  select a.id, a.customer_id, a.kind into v_id, v_customer, v_kind from account a
  where a.platform_id = p_platform and a.id = any (uuids(p_ids)) and a.frozen_at is not null order by a.id limit 1;
  if found then
    return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', v_kind, 'id', v_id, 'customerId', v_customer);
  end if;
  return null;
end
$$;

-- Returns the answer to a plan that was applied or refused, with the row that it names as its result, in its present
-- state. Stores the answer under the idempotency key of the plan, for repeats.
create or replace function conclude_plan(p_platform uuid, p_plan jsonb, p_refusal jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_claim jsonb := p_plan -> 'claim';
  v_target jsonb := p_plan -> 'result';
  v_id uuid := v_target ->> 'id';
  v_row jsonb;
  v_result jsonb;
begin
  if p_refusal is null and v_target is not null then
    case v_target ->> 'type'
      when 'Transaction' then
        select to_jsonb(t) into v_row from transaction t where t.platform_id = p_platform and t.id = v_id;
      when 'Quote' then
        select to_jsonb(q) into v_row from quote q where q.platform_id = p_platform and q.id = v_id;
      when 'Customer' then
        select to_jsonb(c) into v_row from customer c where c.platform_id = p_platform and c.id = v_id;
      when 'Account' then
        select account_snapshot(a) into v_row from account a where a.platform_id = p_platform and a.id = v_id;
    end case;
    v_result := jsonb_build_object('type', v_target -> 'type', 'row', v_row);
  end if;
  -- Answers with status 403 or 404 are not stored: a later call with the key may succeed.
  if v_claim is not null
     and (p_refusal is null or p_refusal ->> 'code' not in ('USER_NOT_READY', 'CUSTOMER_FROZEN', 'ACCOUNT_FROZEN', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND')) then
    insert into idempotency_record (platform_id, operation, key, request_hash, refusal, result)
    values (p_platform, v_claim ->> 'operation', v_claim ->> 'key', decode(v_claim ->> 'hash', 'hex'), p_refusal, v_result);
  end if;
  return jsonb_build_object('outcome', 'now', 'refusal', p_refusal, 'result', v_result);
end
$$;

-- Freezes a customer or an account, or thaws it, and writes the act of the operator (decision 78). Returns null for an unknown
-- id, else the platform, the time since which it was frozen before, and whether it has changed. Locks in the order of
-- lock_plans: of a customer its internal accounts, too, since a payment from one may lock nothing else.
create or replace function set_frozen(p_noun text, p_id uuid, p_frozen boolean, p_by text, p_reason text) returns jsonb
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_platform uuid;
  v_customer customer;
  v_account account;
  v_before timestamptz;
  v_after timestamptz;
  v_type text;
begin
  if p_noun = 'CUSTOMER' then
    select c.platform_id into v_platform from platform p join customer c on c.platform_id = p.id and c.id = p_id;
    select * into v_customer from customer where platform_id = v_platform and id = p_id for no key update;
    if not found then
      return null;
    end if;
    perform from account where platform_id = v_platform and customer_id = p_id and kind = 'INTERNAL'
    order by platform_id, id for no key update;
    v_before := v_customer.frozen_at;
    v_type := 'Customer';
  else
    select a.platform_id into v_platform from platform p join account a on a.platform_id = p.id and a.id = p_id
      and a.kind::text = p_noun;
    select * into v_account from account where platform_id = v_platform and id = p_id for no key update;
    if not found then
      return null;
    end if;
    v_before := v_account.frozen_at;
    v_type := case p_noun when 'INTERNAL' then 'InternalAccount' else 'ExternalAccount' end;
  end if;
  if (v_before is not null) = p_frozen then
    return jsonb_build_object('platform', v_platform, 'since', v_before, 'changed', false);
  end if;
  v_after := case when p_frozen then clock_ms() end;
  if p_noun = 'CUSTOMER' then
    update customer set frozen_at = v_after where platform_id = v_platform and id = p_id;
  else
    update account set frozen_at = v_after where platform_id = v_platform and id = p_id;
  end if;
  insert into operator_act (platform_id, operator, act, subject, reason, before, after)
  values (v_platform, p_by, lower(case p_noun when 'CUSTOMER' then p_noun else 'ACCOUNT' end) || case when p_frozen then ' freeze' else ' thaw' end,
          v_type || ':' || p_id, p_reason, jsonb_build_object('frozenAt', v_before), jsonb_build_object('frozenAt', v_after));
  return jsonb_build_object('platform', v_platform, 'since', coalesce(v_after, v_before), 'changed', true);
end
$$;

-- Finds the customer of any platform who receives at a UMA address, in lower case, with what a payer may know: the
-- domain and the currencies of its platform, and the currency of its deposit account. Runs with the rights of the owner,
-- since the serving role sees one platform at a time.
create or replace function find_receiver(p_address text, p_environment environment) returns table (
  platform_id uuid, id uuid, uma_domain text, currencies text[], deposit_currency text
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select r.platform_id, r.id, p.uma_domain, p.currencies, d.currency
  from customer r
  join platform p on p.id = r.platform_id
  left join account d on d.platform_id = r.platform_id and d.customer_id = r.id and d.default_uma_deposit_account
    and d.status = 'ACTIVE'
  where lower(r.uma_address) = p_address and not r.is_deleted and p.environment = p_environment
    and r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED') and r.frozen_at is null;
end
$$;

-- Leases up to p_limit due orders for p_lease_ms, each with all data that its outcome may need. Nobody else takes them
-- in this time. Planned once per connection, in the written order of joins and by keys alone: an order needs some
-- twenty rows among millions, and the search for the best order of these joins took far longer than the joins.
create or replace function lease_orders(p_limit int, p_lease_ms bigint) returns table (
  platform_id uuid, id uuid, kind rail_order_kind, attempts int, scenario jsonb, environment environment, new_id uuid,
  leased_until text, age_ms float8, transaction json, platform_fee bigint, sender_information jsonb,
  sender_uma_address text, source json, destination json, funding_account_id uuid, platform_account_id uuid,
  can_return_fee boolean, receiver_platform_id uuid, receiver_customer_id uuid, receiver_is_active boolean,
  deposit_account_id uuid, incoming json, incoming_destination json, approval_left_ms float8,
  approval_deferred boolean
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
    o.approval_deferred
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

-- The views of the serving role have every column of their tables (docs/database-roles.md)
CREATE OR REPLACE VIEW "serving"."customer" AS
  SELECT * FROM "public"."customer" WHERE "platform_id" = current_setting('gateway.platform', true)::uuid;
CREATE OR REPLACE VIEW "serving"."account" AS
  SELECT * FROM "public"."account" WHERE "platform_id" = current_setting('gateway.platform', true)::uuid;

-- Only operators' commands freeze and thaw, and only they write acts. Nobody changes or deletes one
REVOKE EXECUTE ON FUNCTION set_frozen(text, uuid, boolean, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION set_frozen(text, uuid, boolean, text, text) TO "gateway_work";
GRANT SELECT, INSERT ON "operator_act" TO "gateway_work";
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "operator_act" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "operator_act" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE "operator_act" ADD CONSTRAINT "operator_act_sound" CHECK (
  length("operator") BETWEEN 1 AND 200 AND length("act") BETWEEN 1 AND 100 AND length("reason") BETWEEN 1 AND 1000);
ALTER TABLE "operator_act" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "all_platforms" ON "operator_act" TO "gateway_work" USING (true);
CREATE POLICY "one_platform" ON "operator_act" TO "gateway_serving" USING ("platform_id" = current_setting('gateway.platform', true)::uuid);
