/**
 * The SQL functions that PostGraphile, the hand-written handler and the bare client call. One reads a list with several
 * conditions. Each of the others does the work of a mutation: the same checks, postings, events and idempotency record.
 */
export const peerFunctions = `
  create or replace function bench.transfer_out(source uuid, destination uuid, amount bigint, key text) returns transaction
    language plpgsql volatile security definer set search_path = public as $$
  declare
    v_platform uuid := bench.platform();
    v_from account;
    v_to account;
    v_id uuid := uuid_v7();
    v_plan jsonb;
    v_answer jsonb;
  begin
    select * into v_from from account where platform_id = v_platform and id = source and kind = 'INTERNAL';
    select * into v_to from account where platform_id = v_platform and id = destination and kind = 'EXTERNAL';
    if v_from.id is null or v_to.id is null or v_from.currency <> v_to.currency or amount < 1 then
      raise exception 'no such accounts';
    end if;
    v_plan := jsonb_build_object(
      'claim', jsonb_build_object('operation', 'transferOut', 'key', key,
        'hash', encode(sha256(convert_to(source::text || destination || amount, 'utf8')), 'hex')),
      'require_active', jsonb_build_object('customers', jsonb_build_array(v_from.customer_id), 'accounts', jsonb_build_array(v_to.id)),
      'insert', jsonb_build_object(
        'transaction', jsonb_build_array(jsonb_build_object('platform_id', v_platform, 'id', v_id, 'type', 'OUTGOING',
          'status', 'PENDING', 'customer_id', v_from.customer_id, 'sent_amount', amount, 'sent_currency', v_from.currency,
          'received_amount', amount, 'received_currency', v_to.currency, 'source_kind', 'ACCOUNT', 'source_account_id', v_from.id,
          'destination_kind', 'ACCOUNT', 'destination_account_id', v_to.id, 'reference', 'PAY-' || upper(right(v_id::text, 12)),
          'counterparty_information', '{}'::jsonb)),
        'rail_order', jsonb_build_array(jsonb_build_object('platform_id', v_platform, 'id', uuid_v7(), 'transaction_id', v_id, 'kind', 'PAYOUT'))),
      'journals', jsonb_build_array(jsonb_build_object('kind', 'debit', 'transaction_id', v_id, 'legs', jsonb_build_array(
        jsonb_build_object('account', v_from.id, 'currency', v_from.currency, 'amount', (-amount)::text),
        jsonb_build_object('system', 'CLEARING', 'currency', v_to.currency, 'amount', amount::text)))),
      'result', jsonb_build_object('type', 'Transaction', 'id', v_id));
    v_answer := (commit_batches(jsonb_build_array(jsonb_build_array(jsonb_build_array(jsonb_build_object('platform', v_platform, 'plan', v_plan))))))[1];
    if v_answer -> 'result' -> 'row' is null then
      raise exception '%', v_answer;
    end if;
    return jsonb_populate_record(null::transaction, v_answer -> 'result' -> 'row');
  end $$;

  create or replace function bench.execute_quote(quote_id uuid, key text) returns quote
    language plpgsql volatile security definer set search_path = public as $$
  declare
    v_platform uuid := bench.platform();
    q quote;
    v_plan jsonb;
    v_answer jsonb;
  begin
    select * into q from quote where platform_id = v_platform and id = quote_id;
    if q.id is null then
      raise exception 'no such quote';
    end if;
    v_plan := jsonb_build_object(
      'claim', jsonb_build_object('operation', 'executeQuote', 'key', key, 'hash', encode(sha256(convert_to(quote_id::text, 'utf8')), 'hex')),
      'require_active', jsonb_build_object('customers', jsonb_build_array(q.customer_id), 'accounts', jsonb_build_array(q.destination_account_id)),
      'insert', jsonb_build_object('rail_order', jsonb_build_array(jsonb_build_object('platform_id', v_platform, 'id', uuid_v7(),
        'transaction_id', q.transaction_id, 'kind', 'PAYOUT'))),
      'quotes', jsonb_build_array(jsonb_build_object('id', q.id, 'from', jsonb_build_array('PENDING'), 'to', 'PROCESSING',
        'expiry', 'before', 'reason', 'executed')),
      'transactions', jsonb_build_array(jsonb_build_object('id', q.transaction_id, 'from', jsonb_build_array('PENDING'),
        'to', 'PROCESSING', 'reason', 'executed', 'expected_in_ms', 500, 'set', '{}'::jsonb)),
      'journals', jsonb_build_array(jsonb_build_object('kind', 'debit', 'transaction_id', q.transaction_id, 'legs',
        jsonb_build_array(
          jsonb_build_object('account', q.source_account_id, 'currency', q.sending_currency, 'amount', (-q.total_sending_amount)::text),
          jsonb_build_object('system', 'LIQUIDITY', 'currency', q.sending_currency, 'amount', (q.total_sending_amount - q.fees_included)::text),
          jsonb_build_object('system', 'LIQUIDITY', 'currency', q.receiving_currency, 'amount', (-q.total_receiving_amount)::text),
          jsonb_build_object('system', 'CLEARING', 'currency', q.receiving_currency, 'amount', q.total_receiving_amount::text))
        || case when q.fees_included > 0 then jsonb_build_array(jsonb_build_object('system', 'FEES', 'currency', q.sending_currency,
             'amount', q.fees_included::text)) else '[]'::jsonb end)),
      'result', jsonb_build_object('type', 'Quote', 'id', q.id));
    v_answer := (commit_batches(jsonb_build_array(jsonb_build_array(jsonb_build_array(jsonb_build_object('platform', v_platform, 'plan', v_plan))))))[1];
    if v_answer -> 'result' -> 'row' is null then
      raise exception '%', v_answer;
    end if;
    return jsonb_populate_record(null::quote, v_answer -> 'result' -> 'row');
  end $$;

  create or replace function bench.transactions_of(customer uuid, of_status transaction_status, from_id uuid, to_id uuid) returns setof transaction
    language sql stable as $$
    select * from transaction t where t.platform_id = bench.platform() and t.customer_id = customer and t.status = of_status
      and t.id >= from_id and t.id <= to_id order by t.id desc
  $$;`;
