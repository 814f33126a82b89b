-- AlterTable
ALTER TABLE "account" ADD COLUMN     "status_reason" TEXT;

-- CreateTable
CREATE TABLE "account_check" (
    "platform_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "account_check_pkey" PRIMARY KEY ("platform_id","account_id")
);

-- CreateTable
CREATE TABLE "external_account_move" (
    "from" "external_account_status" NOT NULL,
    "to" "external_account_status" NOT NULL,

    CONSTRAINT "external_account_move_pkey" PRIMARY KEY ("from","to")
);

-- CreateIndex
CREATE INDEX "account_check_due_at_idx" ON "account_check"("due_at");

-- AddForeignKey
ALTER TABLE "account_check" ADD CONSTRAINT "account_check_platform_id_account_id_fkey" FOREIGN KEY ("platform_id", "account_id") REFERENCES "account"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- After a change of an internal account's spendable balance, or of an external account's status or
-- verification: its event.
create or replace function announce_account() returns trigger
  language plpgsql
as $$
begin
  if new.kind = 'INTERNAL' then
    if tg_op = 'UPDATE' and (new.posted, new.held) is distinct from (old.posted, old.held) then
      insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, old_balance, new_balance, snapshot)
      values (new.platform_id, uuid_v7(), 'ACCOUNT_STATUS', new.updated_at, new.id, new.customer_id, new.version,
              old.posted - old.held, new.posted - new.held, account_snapshot(new));
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

-- Carries out a plan that check_plan has found possible: new rows, money, status moves, and the rail's orders. Triggers
-- write the events and move the balances. Returns the row that the plan names as its result, as it is now.
create or replace function apply_plan(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_insert jsonb := coalesce(p_plan -> 'insert', '{}');
  v_move record;
  v_quote quote;
  v_transaction transaction;
  v_customer customer;
  v_account account;
  v_journal jsonb;
  v_journal_id uuid;
  v_result jsonb;
begin
  if v_insert ? 'customer' then
    insert into customer select r.* from jsonb_populate_recordset(null::customer, v_insert -> 'customer') r;
  end if;
  -- One default deposit account per customer: a new default takes the place of the old one.
  for v_account in
    select r.* from jsonb_populate_recordset(null::account, v_insert -> 'account') r
    where r.default_uma_deposit_account and r.customer_id is not null
  loop
    update account set default_uma_deposit_account = false
    where platform_id = p_platform and customer_id = v_account.customer_id and default_uma_deposit_account;
  end loop;
  if v_insert ? 'account' then
    insert into account select r.* from jsonb_populate_recordset(null::account, v_insert -> 'account') r;
  end if;
  if v_insert ? 'account_check' then
    insert into account_check (platform_id, account_id, due_at)
    select p_platform, r.account_id, clock_ms() + r.due_in_ms * interval '1 millisecond'
    from jsonb_to_recordset(v_insert -> 'account_check') as r(account_id uuid, due_in_ms bigint);
  end if;
  if v_insert ? 'transaction' then
    insert into transaction select r.* from jsonb_populate_recordset(null::transaction, v_insert -> 'transaction') r;
  end if;
  if v_insert ? 'quote' then
    insert into quote select r.* from jsonb_populate_recordset(null::quote, v_insert -> 'quote') r;
  end if;
  if v_insert ? 'lookup' then
    insert into lookup select r.* from jsonb_populate_recordset(null::lookup, v_insert -> 'lookup') r;
  end if;
  if v_insert ? 'arrival' then
    insert into arrival select r.* from jsonb_populate_recordset(null::arrival, v_insert -> 'arrival') r;
  end if;
  if v_insert ? 'hold' then
    insert into hold (platform_id, id, account_id, transaction_id, amount, created_at)
    select r.platform_id, r.id, r.account_id, r.transaction_id, r.amount, uuid_v7_time(r.id)
    from jsonb_populate_recordset(null::hold, v_insert -> 'hold') r order by r.account_id, r.id;
  end if;

  -- Money before statuses: a deposit's change of balance is told before the payment that it starts (specification 6, rule 3).
  update hold set state = 'RELEASED'
  where platform_id = p_platform and id in (select jsonb_array_elements_text(p_plan -> 'release')::uuid);

  for v_journal in select * from jsonb_array_elements(p_plan -> 'journals') loop
    v_journal_id := uuid_v7();
    insert into journal (platform_id, id, transaction_id, kind, created_at)
    values (p_platform, v_journal_id, (v_journal ->> 'transactionId')::uuid, v_journal ->> 'kind', uuid_v7_time(v_journal_id));
    insert into posting (platform_id, journal_id, leg, account_id, system, currency, amount, hold_id)
    select p_platform, v_journal_id, row_number() over (order by l.account nulls first), l.account, l.system, l.currency, l.amount, l.hold
    from jsonb_to_recordset(v_journal -> 'legs')
      as l(account uuid, system system_account, currency text, amount bigint, hold uuid)
    order by l.account nulls first;
  end loop;

  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'quotes') as m(id uuid, "to" quote_status, reason text)
  loop
    update quote set status = v_move."to", status_reason = v_move.reason
    where platform_id = p_platform and id = v_move.id;
  end loop;

  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'transactions')
      as m(id uuid, "to" transaction_status, reason text, "set" jsonb, "expectedInMs" bigint, "approvalInMs" bigint, "refundWaits" boolean)
  loop
    select * into v_transaction from transaction where platform_id = p_platform and id = v_move.id;
    v_transaction := jsonb_populate_record(v_transaction, coalesce(v_move."set", '{}'));
    update transaction set
      status = v_move."to",
      status_reason = v_move.reason,
      failure_reason = v_transaction.failure_reason,
      refund_reference = v_transaction.refund_reference,
      refund_amount = v_transaction.refund_amount,
      -- A refund that waits has been started and has not arrived.
      refund_settled_at = case when v_transaction.refund_reference is not null and v_move."refundWaits" is not true
                               then coalesce(refund_settled_at, clock_ms()) end,
      received_amount = v_transaction.received_amount,
      counterparty_information = v_transaction.counterparty_information,
      destination_account_id = v_transaction.destination_account_id,
      requested_information = v_transaction.requested_information,
      approval_due_at = coalesce(clock_ms() + v_move."approvalInMs" * interval '1 millisecond', approval_due_at),
      expected_settlement_at = coalesce(clock_ms() + v_move."expectedInMs" * interval '1 millisecond', expected_settlement_at)
    where platform_id = p_platform and id = v_move.id;
  end loop;

  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'customers') as m(id uuid, "set" jsonb)
  loop
    select * into v_customer from customer where platform_id = p_platform and id = v_move.id for no key update;
    v_customer := jsonb_populate_record(v_customer, v_move."set");
    update customer set
      uma_address = v_customer.uma_address, kyc_status = v_customer.kyc_status, is_deleted = v_customer.is_deleted,
      name = v_customer.name, birth_date = v_customer.birth_date, nationality = v_customer.nationality,
      registration_number = v_customer.registration_number, tax_id = v_customer.tax_id,
      address = v_customer.address, beneficial_owners = v_customer.beneficial_owners
    where platform_id = p_platform and id = v_move.id;
  end loop;

  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'accounts') as m(id uuid, "to" external_account_status, reason text, "set" jsonb)
  loop
    select * into v_account from account where platform_id = p_platform and id = v_move.id;
    v_account := jsonb_populate_record(v_account, coalesce(v_move."set", '{}'));
    update account set
      status = v_move."to",
      status_reason = v_move.reason,
      beneficiary_verification_status = v_account.beneficiary_verification_status,
      beneficiary_verified_name = v_account.beneficiary_verified_name
    where platform_id = p_platform and id = v_move.id;
  end loop;
  -- The rail is asked about an account again, or has said its last word.
  update account_check c set due_at = clock_ms() + m."dueInMs" * interval '1 millisecond'
  from jsonb_to_recordset(p_plan -> 'checks') as m("accountId" uuid, "dueInMs" bigint)
  where c.platform_id = p_platform and c.account_id = m."accountId" and m."dueInMs" is not null;
  delete from account_check c
  using jsonb_to_recordset(p_plan -> 'checks') as m("accountId" uuid, "dueInMs" bigint)
  where c.platform_id = p_platform and c.account_id = m."accountId" and m."dueInMs" is null;

  if v_insert ? 'rail_order' then
    insert into rail_order (platform_id, id, transaction_id, kind, created_at, due_at, attempts, scenario)
    select r.platform_id, r.id, r.transaction_id, r.kind, uuid_v7_time(r.id), clock_ms(), 0, r.scenario
    from jsonb_populate_recordset(null::rail_order, v_insert -> 'rail_order') r;
  end if;
  update rail_order o set due_at = clock_ms() + m."dueInMs" * interval '1 millisecond'
  from jsonb_to_recordset(p_plan -> 'orders') as m(id uuid, "dueInMs" bigint, "leasedUntil" timestamptz)
  -- One that was woken while it was looked at stays due.
  where o.platform_id = p_platform and o.id = m.id and (m."leasedUntil" is null or o.due_at = m."leasedUntil");

  case p_plan -> 'result' ->> 'type'
    when 'Quote' then
      select to_jsonb(q) into v_result from quote q where q.platform_id = p_platform and q.id = (p_plan -> 'result' ->> 'id')::uuid;
    when 'Transaction' then
      select to_jsonb(t) into v_result from transaction t where t.platform_id = p_platform and t.id = (p_plan -> 'result' ->> 'id')::uuid;
    when 'Customer' then
      select to_jsonb(c) into v_result from customer c where c.platform_id = p_platform and c.id = (p_plan -> 'result' ->> 'id')::uuid;
    when 'Lookup' then
      select to_jsonb(l) into v_result from lookup l where l.platform_id = p_platform and l.id = (p_plan -> 'result' ->> 'id')::uuid;
    when 'Account' then
      select account_snapshot(a) into v_result from account a where a.platform_id = p_platform and a.id = (p_plan -> 'result' ->> 'id')::uuid;
    else
      return null;
  end case;
  return jsonb_build_object('type', p_plan -> 'result' ->> 'type', 'row', v_result);
end
$$;

-- The part of check_plan for external accounts whose status or verification a plan moves: locks them by id, and tells the
-- first reason why they may not move, or null. A move that names a version is of what was read then, and of nothing newer.
create or replace function check_accounts(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move record;
  v_account account;
  v_other uuid;
begin
  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'accounts') as m(id uuid, "from" text[], "to" external_account_status, version int)
    order by m.id
  loop
    select * into v_account from account
    where platform_id = p_platform and id = v_move.id and kind = 'EXTERNAL' for no key update;
    if not found or not v_account.status::text = any (v_move."from") or v_account.version <> coalesce(v_move.version, v_account.version) then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_move.id, 'status', v_account.status);
    end if;
    -- Its owner may have registered it anew while it was INACTIVE.
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

-- Before update on account: balances move only through postings and holds (their triggers), owner and currency never, and an
-- external account's status along external_account_move.
create or replace function guard_account() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.kind, new.customer_id, new.currency)
     is distinct from (old.platform_id, old.id, old.created_at, old.kind, old.customer_id, old.currency) then
    raise exception 'account %: its owner and currency cannot change', old.id using errcode = 'LG002';
  end if;
  if (new.posted, new.held) is distinct from (old.posted, old.held) and pg_trigger_depth() < 2 then
    raise exception 'account %: a balance changes only by a posting or a hold', old.id using errcode = 'LG004';
  end if;
  if new.status is distinct from old.status
     and not exists (select from external_account_move m where m."from" = old.status and m."to" = new.status) then
    raise exception 'external account %: no move from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;

-- Before insert on account: no external account starts INACTIVE, and every later status is a move.
create or replace function guard_account_start() returns trigger
  language plpgsql
as $$
begin
  if new.status = 'INACTIVE' then
    raise exception 'external account %: nothing starts as INACTIVE', new.id using errcode = 'LG003';
  end if;
  return new;
end
$$;

-- Before update on transaction: the status moves along transaction_move, sides and sent amount stay, and the moments of
-- settlement and refund are taken from the database's clock.
create or replace function guard_transaction() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.type, new.customer_id, new.quote_id, new.sent_amount, new.sent_currency,
      new.received_currency, new.source_account_id, new.reference, new.fees, new.exchange_rate)
     is distinct from
     (old.platform_id, old.id, old.created_at, old.type, old.customer_id, old.quote_id, old.sent_amount, old.sent_currency,
      old.received_currency, old.source_account_id, old.reference, old.fees, old.exchange_rate) then
    raise exception 'transaction %: its parties and amounts cannot change', old.id using errcode = 'LG002';
  end if;
  -- A refund that waited in suspense is paid after the payment has come to its end: its status stays.
  if not (new.status = old.status and old.refund_reference is not null and old.refund_settled_at is null and new.refund_settled_at is not null)
     and not exists (select from transaction_move m where m."from" = old.status and m."to" = new.status) then
    raise exception 'transaction %: no move from % to %', old.id, old.status, new.status using errcode = 'LG003';
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

-- What Prisma cannot say ---------------------------------------------------------------------------------------------

-- An external account's status moves only along these, and starts before its end
INSERT INTO "external_account_move" ("from", "to") VALUES
  ('PENDING', 'ACTIVE'), ('PENDING', 'UNDER_REVIEW'), ('PENDING', 'INACTIVE'),
  ('ACTIVE', 'UNDER_REVIEW'), ('ACTIVE', 'INACTIVE'),
  ('UNDER_REVIEW', 'ACTIVE'), ('UNDER_REVIEW', 'INACTIVE'),
  ('INACTIVE', 'ACTIVE');
CREATE TRIGGER "start" BEFORE INSERT ON "account" FOR EACH ROW EXECUTE FUNCTION guard_account_start();

-- Refunds that wait in suspense, for the operator
CREATE INDEX "transaction_refund_waits" ON "transaction" ("refund_initiated_at") WHERE "refund_reference" IS NOT NULL AND "refund_settled_at" IS NULL;

-- Lookups that no quote names are deleted when they are old
CREATE INDEX "lookup_expiry" ON "lookup" ("expires_at");
CREATE INDEX "quote_lookup" ON "quote" ("platform_id", "lookup_id") WHERE "lookup_id" IS NOT NULL;
