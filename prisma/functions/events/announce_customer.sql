-- Runs after each insert or update of a customer. Writes an event for the new version. A final decision on the identity
-- check is a KYC_STATUS; any other change (new details, a deletion, the start of a check) is a CUSTOMER_CHANGE, which
-- appears only in the feed.
create or replace function announce_customer() returns trigger
  language plpgsql
as $$
begin
  insert into outbox (platform_id, event_id, type, occurred_at, customer_id, version, previous_status, status, snapshot)
  values (new.platform_id, uuid_v7(),
          case when new.kyc_status <> 'PENDING_REVIEW' and (tg_op = 'INSERT' or new.kyc_status <> old.kyc_status)
            then 'KYC_STATUS'::event_type else 'CUSTOMER_CHANGE' end,
          new.updated_at, new.id, new.version, case tg_op when 'UPDATE' then old.kyc_status end, new.kyc_status, to_jsonb(new));
  return null;
end
$$;
