-- The check constraint on transaction: returns whether a transaction's columns are consistent. See is_sound_account for
-- why this is a function.
create or replace function is_sound_transaction(t transaction) returns boolean
  language plpgsql immutable parallel safe
as $$
begin
  return t.sent_amount between 1 and 9000000000000000
    and t.received_amount between 1 and 9000000000000000
    and t.fees >= 0
    and (t.sent_amount is null) = (t.sent_currency is null)
    and (t.status <> 'FAILED' or t.failure_reason is not null)
    and (t.status <> 'COMPLETED' or t.settled_at is not null)
    and (t.refund_reference is null) = (t.refund_amount is null)
    and (t.refund_reference is null) = (t.refund_initiated_at is null)
    and (t.status <> 'REFUNDED' or t.refund_reference is not null)
    and (t.decided_by_id is null or t.status = 'REJECTED' or 'ApiToken:' || t.decided_by_id is distinct from t.created_by);
end
$$;
