-- before tables
-- Returns the number of the advisory lock for an idempotency key. If two keys happen to share a lock, one command
-- merely waits for the other.
create or replace function claim_lock(p_platform uuid, p_claim jsonb) returns bigint
  language sql immutable parallel safe
as $$
  select hashtextextended(p_platform::text || (p_claim ->> 'operation') || ' ' || (p_claim ->> 'key'), 0)
$$;
