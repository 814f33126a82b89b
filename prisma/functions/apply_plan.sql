-- Carries out a plan that check_plan has found possible: new rows, money, status moves, and the rail's orders. Triggers
-- write the events and move the balances. Returns the row that the plan names as its result, as it is now.
create or replace function apply_plan(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_insert jsonb := p_plan -> 'insert';
  v_items jsonb;
  v_item jsonb;
  v_set jsonb;
  v_customer customer;
  v_account account;
  v_id uuid;
  v_result jsonb;
begin
  -- What few plans have is asked for together: each question costs, also where its answer is no.
  if v_insert ?| '{customer,account,account_check}' then
    if v_insert ? 'customer' then
      insert into customer select r.* from jsonb_populate_recordset(null::customer, v_insert -> 'customer') r;
    end if;
    if v_insert ? 'account' then
      -- One default deposit account per customer: a new default takes the place of the old one.
      for v_account in
        select r.* from jsonb_populate_recordset(null::account, v_insert -> 'account') r
        where r.default_uma_deposit_account and r.customer_id is not null
      loop
        update account set default_uma_deposit_account = false
        where platform_id = p_platform and customer_id = v_account.customer_id and default_uma_deposit_account;
      end loop;
      insert into account select r.* from jsonb_populate_recordset(null::account, v_insert -> 'account') r;
    end if;
    if v_insert ? 'account_check' then
      insert into account_check (platform_id, account_id, due_at)
      select p_platform, r.account_id, clock_ms() + r.due_in_ms * interval '1 millisecond'
      from jsonb_to_recordset(v_insert -> 'account_check') as r(account_id uuid, due_in_ms bigint);
    end if;
  end if;
  if v_insert ? 'transaction' then
    insert into transaction select r.* from jsonb_populate_recordset(null::transaction, v_insert -> 'transaction') r;
  end if;
  if v_insert ? 'quote' then
    insert into quote select r.* from jsonb_populate_recordset(null::quote, v_insert -> 'quote') r;
  end if;
  if v_insert ?| '{lookup,arrival,hold}' then
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
  end if;

  -- Money before statuses: a deposit's change of balance is told before the payment that it starts (specification 6, rule 3).
  if jsonb_array_length(p_plan -> 'release') > 0 then
    update hold set state = 'RELEASED'
    where platform_id = p_platform and id = any (array(select jsonb_array_elements_text(p_plan -> 'release')::uuid));
  end if;

  v_items := p_plan -> 'journals';
  for v_at in 0 .. coalesce(jsonb_array_length(v_items), 0) - 1 loop
    v_item := v_items -> v_at;
    v_id := uuid_v7();
    with journal as (
      insert into journal (platform_id, id, transaction_id, kind, created_at)
      values (p_platform, v_id, (v_item ->> 'transactionId')::uuid, v_item ->> 'kind', uuid_v7_time(v_id))
    )
    insert into posting (platform_id, journal_id, leg, account_id, system, currency, amount, hold_id)
    select p_platform, v_id, l.leg, l.account, l.system, l.currency, l.amount, l.hold
    from rows from (
      jsonb_to_recordset(v_item -> 'legs') as (account uuid, system system_account, currency text, amount bigint, hold uuid)
    ) with ordinality as l(account, system, currency, amount, hold, leg);
  end loop;

  v_items := p_plan -> 'quotes';
  for v_at in 0 .. coalesce(jsonb_array_length(v_items), 0) - 1 loop
    v_item := v_items -> v_at;
    update quote set status = (v_item ->> 'to')::quote_status, status_reason = v_item ->> 'reason'
    where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
  end loop;

  v_items := p_plan -> 'transactions';
  for v_at in 0 .. coalesce(jsonb_array_length(v_items), 0) - 1 loop
    v_item := v_items -> v_at;
    v_set := v_item -> 'set';
    update transaction t set
      status = (v_item ->> 'to')::transaction_status,
      status_reason = v_item ->> 'reason',
      failure_reason = case when v_set ? 'failure_reason' then (v_set ->> 'failure_reason')::failure_reason else t.failure_reason end,
      refund_reference = case when v_set ? 'refund_reference' then v_set ->> 'refund_reference' else t.refund_reference end,
      refund_amount = case when v_set ? 'refund_amount' then (v_set ->> 'refund_amount')::bigint else t.refund_amount end,
      -- A refund that waits has been started and has not arrived.
      refund_settled_at = case when coalesce(v_set ->> 'refund_reference', t.refund_reference) is not null
                                    and (v_item ->> 'refundWaits')::boolean is not true
                               then coalesce(t.refund_settled_at, clock_ms()) end,
      received_amount = case when v_set ? 'received_amount' then (v_set ->> 'received_amount')::bigint else t.received_amount end,
      counterparty_information = coalesce(nullif(v_set -> 'counterparty_information', 'null'), t.counterparty_information),
      destination_account_id = case when v_set ? 'destination_account_id' then (v_set ->> 'destination_account_id')::uuid else t.destination_account_id end,
      requested_information = case when v_set ? 'requested_information' then nullif(v_set -> 'requested_information', 'null') else t.requested_information end,
      approval_due_at = coalesce(clock_ms() + (v_item ->> 'approvalInMs')::bigint * interval '1 millisecond', t.approval_due_at),
      expected_settlement_at = coalesce(clock_ms() + (v_item ->> 'expectedInMs')::bigint * interval '1 millisecond', t.expected_settlement_at)
    where t.platform_id = p_platform and t.id = (v_item ->> 'id')::uuid;
  end loop;

  if p_plan ?| '{customers,accounts,checks}' then
    for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'customers'), 0) - 1 loop
      v_item := p_plan -> 'customers' -> v_at;
      select * into v_customer from customer where platform_id = p_platform and id = (v_item ->> 'id')::uuid for no key update;
      v_customer := jsonb_populate_record(v_customer, v_item -> 'set');
      update customer set
        uma_address = v_customer.uma_address, kyc_status = v_customer.kyc_status, is_deleted = v_customer.is_deleted,
        name = v_customer.name, birth_date = v_customer.birth_date, nationality = v_customer.nationality,
        registration_number = v_customer.registration_number, tax_id = v_customer.tax_id,
        address = v_customer.address, beneficial_owners = v_customer.beneficial_owners
      where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
    end loop;

    for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'accounts'), 0) - 1 loop
      v_item := p_plan -> 'accounts' -> v_at;
      select * into v_account from account where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
      v_account := jsonb_populate_record(v_account, coalesce(v_item -> 'set', '{}'));
      update account set
        status = (v_item ->> 'to')::external_account_status,
        status_reason = v_item ->> 'reason',
        beneficiary_verification_status = v_account.beneficiary_verification_status,
        beneficiary_verified_name = v_account.beneficiary_verified_name
      where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
    end loop;
    -- The rail is asked about an account again, or has said its last word.
    for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'checks'), 0) - 1 loop
      v_item := p_plan -> 'checks' -> v_at;
      if v_item ->> 'dueInMs' is null then
        delete from account_check where platform_id = p_platform and account_id = (v_item ->> 'accountId')::uuid;
      else
        update account_check set due_at = clock_ms() + (v_item ->> 'dueInMs')::bigint * interval '1 millisecond'
        where platform_id = p_platform and account_id = (v_item ->> 'accountId')::uuid;
      end if;
    end loop;
  end if;

  if v_insert ? 'rail_order' then
    insert into rail_order (platform_id, id, transaction_id, kind, created_at, due_at, attempts, scenario)
    select p_platform, r.id, r.transaction_id, r.kind, uuid_v7_time(r.id), clock_ms(), 0, r.scenario
    from jsonb_to_recordset(v_insert -> 'rail_order') as r(id uuid, transaction_id uuid, kind rail_order_kind, scenario jsonb);
  end if;
  v_items := p_plan -> 'orders';
  for v_at in 0 .. coalesce(jsonb_array_length(v_items), 0) - 1 loop
    v_item := v_items -> v_at;
    update rail_order set due_at = clock_ms() + (v_item ->> 'dueInMs')::bigint * interval '1 millisecond'
    where platform_id = p_platform and id = (v_item ->> 'id')::uuid;
  end loop;

  v_item := p_plan -> 'result';
  v_id := (v_item ->> 'id')::uuid;
  case v_item ->> 'type'
    when 'Quote' then
      select to_jsonb(q) into v_result from quote q where q.platform_id = p_platform and q.id = v_id;
    when 'Transaction' then
      select to_jsonb(t) into v_result from transaction t where t.platform_id = p_platform and t.id = v_id;
    when 'Customer' then
      select to_jsonb(c) into v_result from customer c where c.platform_id = p_platform and c.id = v_id;
    when 'Lookup' then
      select to_jsonb(l) into v_result from lookup l where l.platform_id = p_platform and l.id = v_id;
    when 'Account' then
      select account_snapshot(a) into v_result from account a where a.platform_id = p_platform and a.id = v_id;
    else
      return null;
  end case;
  return jsonb_build_object('type', v_item -> 'type', 'row', v_result);
end
$$;
