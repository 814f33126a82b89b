-- Returns a quote as it was after one of its changes. The event's columns hold everything that can change
-- (guard_quote).
create or replace function quote_as_of(q quote, e stored_event) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(q)
    || jsonb_build_object('status', e.status, 'status_reason', e.reason, 'version', e.version, 'updated_at', e.occurred_at)
$$;
