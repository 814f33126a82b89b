-- AlterEnum
ALTER TYPE "system_account" ADD VALUE 'SUSPENSE';

-- AlterTable
ALTER TABLE "quote" ADD COLUMN     "scenario" JSONB;

-- AlterTable
ALTER TABLE "transaction" ADD COLUMN     "approval_due_at" TIMESTAMPTZ(3),
ADD COLUMN     "requested_information" JSONB;

-- CreateTable
CREATE TABLE "lookup" (
    "platform_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "uma_address" TEXT NOT NULL,
    "receiver_platform_id" UUID,
    "receiver_customer_id" UUID,
    "vasp_name" TEXT,
    "network" TEXT NOT NULL,
    "currencies" JSONB NOT NULL,
    "required_fields" JSONB NOT NULL,
    "information" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lookup_pkey" PRIMARY KEY ("platform_id","id")
);

-- CreateTable
CREATE TABLE "arrival" (
    "platform_id" UUID NOT NULL,
    "transaction_id" UUID NOT NULL,
    "sender_platform_id" UUID NOT NULL,
    "sender_transaction_id" UUID NOT NULL,

    CONSTRAINT "arrival_pkey" PRIMARY KEY ("platform_id","transaction_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "arrival_sender_platform_id_sender_transaction_id_key" ON "arrival"("sender_platform_id", "sender_transaction_id");

-- AddForeignKey
ALTER TABLE "lookup" ADD CONSTRAINT "lookup_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "arrival" ADD CONSTRAINT "arrival_platform_id_transaction_id_fkey" FOREIGN KEY ("platform_id", "transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "arrival" ADD CONSTRAINT "arrival_sender_platform_id_sender_transaction_id_fkey" FOREIGN KEY ("sender_platform_id", "sender_transaction_id") REFERENCES "transaction"("platform_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- Carries out a plan that check_plan has found possible: new rows, status moves, money, and the rail's orders. Triggers
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

  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'quotes') as m(id uuid, "to" quote_status, reason text)
  loop
    update quote set status = v_move."to", status_reason = v_move.reason
    where platform_id = p_platform and id = v_move.id;
  end loop;

  for v_move in
    select * from jsonb_to_recordset(p_plan -> 'transactions')
      as m(id uuid, "to" transaction_status, reason text, "set" jsonb, "expectedInMs" bigint, "refundWaits" boolean)
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

  if v_insert ? 'rail_order' then
    insert into rail_order (platform_id, id, transaction_id, kind, created_at, due_at, attempts, scenario)
    select r.platform_id, r.id, r.transaction_id, r.kind, uuid_v7_time(r.id), clock_ms(), 0, r.scenario
    from jsonb_populate_recordset(null::rail_order, v_insert -> 'rail_order') r;
  end if;
  update rail_order o set due_at = clock_ms() + m."dueInMs" * interval '1 millisecond'
  from jsonb_to_recordset(p_plan -> 'orders') as m(id uuid, "dueInMs" bigint)
  where o.platform_id = p_platform and o.id = m.id;

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

-- Several plans that happen together or not at all, such as the two sides of a payment between platforms: a list of
-- {platform, plan}, without idempotency claims. All are checked before any is applied. Returns the first refusal, or null.
create or replace function commit_group(p_group jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_item jsonb;
  v_refusal jsonb;
begin
  for v_item in select * from jsonb_array_elements(p_group) loop
    v_refusal := check_plan((v_item ->> 'platform')::uuid, v_item -> 'plan');
    if v_refusal is not null then
      return v_refusal;
    end if;
  end loop;
  for v_item in select * from jsonb_array_elements(p_group) loop
    perform apply_plan((v_item ->> 'platform')::uuid, v_item -> 'plan');
  end loop;
  return null;
end
$$;

-- Before update on transaction: the status moves along transaction_move, sides and sent amount stay, and the moments of
-- settlement and refund are taken from the database's clock.
create or replace function guard_transaction() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.type, new.customer_id, new.quote_id, new.sent_amount, new.sent_currency,
      new.received_currency, new.source_account_id, new.reference)
     is distinct from
     (old.platform_id, old.id, old.created_at, old.type, old.customer_id, old.quote_id, old.sent_amount, old.sent_currency,
      old.received_currency, old.source_account_id, old.reference) then
    raise exception 'transaction %: its parties and amounts cannot change', old.id using errcode = 'LG002';
  end if;
  if not exists (select from transaction_move m where m."from" = old.status and m."to" = new.status) then
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

-- Before insert on lookup: made at the moment inside its id, and good for ten minutes.
create or replace function stamp_lookup() returns trigger
  language plpgsql
as $$
begin
  new.created_at := uuid_v7_time(new.id);
  new.expires_at := new.created_at + interval '10 minutes';
  return new;
end
$$;

-- What Prisma cannot say ---------------------------------------------------------------------------------------------

CREATE TRIGGER "stamp" BEFORE INSERT ON "lookup" FOR EACH ROW EXECUTE FUNCTION stamp_lookup();
-- An approval is asked of the receiving platform only.
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_approval" CHECK ("approval_due_at" IS NULL OR "type" = 'INCOMING');
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "arrival" FOR EACH ROW EXECUTE FUNCTION refuse_change();
