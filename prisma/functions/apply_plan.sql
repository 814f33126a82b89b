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
