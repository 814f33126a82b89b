-- Before insert on webhook_delivery: an event is in the feed of its platform, and goes to an endpoint in one delivery. Each
-- partition has a unique index of its own only, so the endpoint is locked: nobody else makes a delivery to it meanwhile. A second
-- delivery is not inserted: the statement inserts no row, as one with `on conflict do nothing`.
create or replace function guard_delivery() returns trigger
  language plpgsql
as $$
begin
  perform from webhook_endpoint e where e.platform_id = new.platform_id and e.id = new.endpoint_id for no key update;
  -- Numbers have no gaps, and events are never deleted.
  if not exists (select from feed_head h where h.platform_id = new.platform_id
                   and new.event_sequence between 1 and h.sequence) then
    raise exception 'there is no event % in the feed', new.event_sequence using errcode = 'foreign_key_violation';
  end if;
  if exists (select from webhook_delivery d where d.platform_id = new.platform_id and d.endpoint_id = new.endpoint_id
               and d.event_sequence = new.event_sequence) then
    return null;
  end if;
  return new;
end
$$;
