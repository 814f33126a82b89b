-- Returns the part of a transaction that its event stores as JSON: the mutable columns (guard_transaction) that have
-- a value. The status, reason, version and time are columns of the event. The settlement time of a COMPLETED payment is
-- the event's time; an expected settlement time is stored relative to that. See transaction_as_of.
create or replace function transaction_state(t transaction) returns jsonb
  language sql stable parallel safe
as $$
  select nullif(
    case when t.expected_settlement_at is null then '{}' else jsonb_build_object(
      'expected_in_ms', (date_part('epoch', t.expected_settlement_at - t.updated_at) * 1000)::bigint) end
    || case when num_nonnulls(t.failure_reason, t.refund_reference, t.refund_amount, t.refund_initiated_at, t.refund_settled_at) = 0
              and (t.status = 'COMPLETED' or t.settled_at is null)
            then '{}' else jsonb_strip_nulls(jsonb_build_object(
              'settled_at', case when t.status <> 'COMPLETED' then t.settled_at end, 'failure_reason', t.failure_reason,
              'refund_reference', t.refund_reference, 'refund_amount', t.refund_amount,
              'refund_initiated_at', t.refund_initiated_at, 'refund_settled_at', t.refund_settled_at)) end
    || case when num_nonnulls(t.approval_due_at, t.decided_by_id) = 0 then '{}' else jsonb_strip_nulls(jsonb_build_object(
         'approval_due_at', t.approval_due_at, 'decided_by_id', t.decided_by_id)) end
    || case when t.counterparty_information = '{}' then '{}'
            else jsonb_build_object('counterparty_information', t.counterparty_information) end
    || case when t.type = 'INCOMING' then
         jsonb_strip_nulls(jsonb_build_object(
           'destination_account_id', t.destination_account_id, 'destination_name', t.destination_name,
           'destination_number', t.destination_number))
         -- Keeps nulls inside the list.
         || case when t.requested_information is null then '{}'
                 else jsonb_build_object('requested_information', t.requested_information) end
       else '{}' end,
    '{}')
$$;
