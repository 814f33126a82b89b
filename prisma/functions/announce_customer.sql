-- After a final decision on a customer's identity check: writes its event.
create or replace function announce_customer() returns trigger
  language plpgsql
as $$
begin
  if new.kyc_status <> 'PENDING_REVIEW' and (tg_op = 'INSERT' or new.kyc_status <> old.kyc_status) then
    insert into outbox (platform_id, event_id, type, occurred_at, customer_id, version, previous_status, status, snapshot)
    values (new.platform_id, uuid_v7(), 'KYC_STATUS', new.updated_at, new.id, new.version,
            case tg_op when 'UPDATE' then old.kyc_status end, new.kyc_status, to_jsonb(new));
  end if;
  return null;
end
$$;
