-- Runs after a webhook delivery has ended. Writes its event, for which no webhook is sent. Needs the owner's privileges
-- to write to the outbox, because API requests that disable an endpoint also end its deliveries.
create or replace function announce_delivery() returns trigger
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
begin
  insert into outbox (platform_id, event_id, type, occurred_at, version, previous_status, status, snapshot)
  values (new.platform_id, uuid_v7(), 'WEBHOOK_DELIVERY', clock_ms(), new.begun, old.status, new.status,
          jsonb_build_object('platform_id', new.platform_id, 'id', new.id, 'endpoint_id', new.endpoint_id,
                             'event_sequence', new.event_sequence, 'status', new.status));
  return null;
end
$$;
