-- Returns what its event stores of a transaction: the columns that may change after it was made (guard_transaction), where they
-- say something. Its status, reason, version and time of change are columns of the event. transaction_as_of reads it.
create or replace function transaction_state(t transaction) returns jsonb
  language sql stable parallel safe
as $$
  select nullif(
    jsonb_strip_nulls(jsonb_build_object(
      'settled_at', t.settled_at, 'expected_settlement_at', t.expected_settlement_at, 'failure_reason', t.failure_reason,
      'refund_reference', t.refund_reference, 'refund_amount', t.refund_amount,
      'refund_initiated_at', t.refund_initiated_at, 'refund_settled_at', t.refund_settled_at))
    || case when t.counterparty_information = '{}' then '{}'
            else jsonb_build_object('counterparty_information', t.counterparty_information) end
    || case when t.type = 'INCOMING' then
         jsonb_strip_nulls(jsonb_build_object(
           'destination_account_id', t.destination_account_id, 'destination_name', t.destination_name,
           'destination_number', t.destination_number, 'approval_due_at', t.approval_due_at))
         -- Nulls within it stay.
         || case when t.requested_information is null then '{}'
                 else jsonb_build_object('requested_information', t.requested_information) end
       else '{}' end,
    '{}')
$$;
