-- After every insert or update of accounts: writes the event of that version. A new balance, status or verification has
-- its own type; any other change is an ACCOUNT_CHANGE, which only the feed shows. It stores of
-- the account what may change (account_state).
create or replace function announce_account() returns trigger
  language plpgsql
as $$
begin
  if new.kind = 'INTERNAL' and tg_op = 'UPDATE' and new.posted <> old.posted then
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, old_balance, new_balance, snapshot)
    values (new.platform_id, uuid_v7(), 'ACCOUNT_STATUS', new.updated_at, new.id, new.customer_id, new.version,
            old.posted, new.posted,
            -- Few internal accounts have any of it.
            case when num_nonnulls(new.frozen_at, new.metadata, new.platform_account_id, new.status_reason,
                                   new.beneficiary_verification_status, new.beneficiary_verified_name) > 0
              then account_state(new) - 'posted' end);
  elsif new.kind = 'EXTERNAL' and (tg_op = 'INSERT' or (new.status, new.beneficiary_verification_status)
                                   is distinct from (old.status, old.beneficiary_verification_status)) then
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, previous_status, status, reason, snapshot)
    values (new.platform_id, uuid_v7(), 'EXTERNAL_ACCOUNT_STATUS', new.updated_at, new.id, new.customer_id, new.version,
            case tg_op when 'UPDATE' then old.status end, new.status, new.status_reason, account_state(new));
  else
    insert into outbox (platform_id, event_id, type, occurred_at, account_id, customer_id, version, previous_status, status, snapshot)
    values (new.platform_id, uuid_v7(), 'ACCOUNT_CHANGE', new.updated_at, new.id, new.customer_id, new.version,
            case tg_op when 'UPDATE' then old.status end, new.status, account_state(new));
  end if;
  return null;
end
$$;
