-- Returns a transaction as it was after one of its changes: the current row, with the mutable columns taken from the
-- event (transaction_state).
create or replace function transaction_as_of(t transaction, e stored_event) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(t) || (
    '{"failure_reason": null, "refund_reference": null, "refund_amount": null, "refund_initiated_at": null, "refund_settled_at": null,
      "counterparty_information": {}, "approval_due_at": null, "decided_by_id": null}'
    -- Until the quote is executed, no token has requested its payment.
    || case when t.source_kind = 'ACCOUNT' and t.quote_id is not null and e.status = 'PENDING' then '{"created_by": null}'::jsonb else '{}' end
    || case when t.type = 'INCOMING' then '{"destination_account_id": null, "destination_name": null, "destination_number": null,
         "requested_information": null}'::jsonb else '{}' end
    || jsonb_build_object(
      'status', e.status, 'status_reason', e.reason, 'version', e.version, 'updated_at', e.occurred_at,
      'settled_at', case when e.status = 'COMPLETED' then e.occurred_at end,
      'expected_settlement_at', e.occurred_at + (e.snapshot ->> 'expected_in_ms')::bigint * interval '1 millisecond')
    || coalesce(e.snapshot - 'expected_in_ms', '{}'))
$$;
