-- Runs after each insert or update of an account. Writes an event for the new version. A new balance and a new status
-- or verification have their own event types; any other change is an ACCOUNT_CHANGE, which appears only in the feed.
-- The event's snapshot contains the account's mutable columns (account_state). For most balance changes, it is null.
create or replace function announce_account() returns trigger
  language plpgsql
as $$
declare
  v_type event_type := case
    when new.kind = 'INTERNAL' and new.posted <> old.posted then 'ACCOUNT_STATUS'
    when new.kind = 'EXTERNAL' and (tg_op = 'INSERT' or (new.status, new.beneficiary_verification_status)
      is distinct from (old.status, old.beneficiary_verification_status)) then 'EXTERNAL_ACCOUNT_STATUS'
    else 'ACCOUNT_CHANGE' end;
begin
  insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, previous_status, status, reason,
                      old_balance, new_balance, snapshot)
  values (new.platform_id, uuid_v7(), v_type, new.updated_at, new.id, new.customer_id, new.version, old.status, new.status,
    case v_type when 'EXTERNAL_ACCOUNT_STATUS' then new.status_reason end,
    case v_type when 'ACCOUNT_STATUS' then old.posted end, case v_type when 'ACCOUNT_STATUS' then new.posted end,
    case when v_type <> 'ACCOUNT_STATUS' then account_state(new)
      when num_nonnulls(new.frozen_at, new.metadata, new.platform_account_id, new.status_reason,
                        new.beneficiary_verification_status, new.beneficiary_verified_name) > 0 then account_state(new) - 'posted' end);
  return null;
end
$$;
