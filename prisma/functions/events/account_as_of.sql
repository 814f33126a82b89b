-- Returns an account as it was after one of its changes: the current row, with the mutable columns taken from the
-- event (account_state). Its balance is text, as in account_snapshot.
create or replace function account_as_of(a account, e stored_event) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(a) || (
    '{"status_reason": null, "platform_account_id": null, "default_uma_deposit_account": false,
      "beneficiary_verification_status": null, "beneficiary_verified_name": null, "is_deleted": false, "frozen_at": null,
      "metadata": null}'
    || jsonb_build_object('posted', coalesce(e.new_balance, 0)::text, 'status', e.status, 'version', e.version,
                          'updated_at', e.occurred_at)
    || coalesce(e.snapshot, '{}'))
$$;
