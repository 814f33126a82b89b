-- before tables
-- Returns the advisory lock of an idempotency key. Two keys that share a lock by chance only wait for each other.
create or replace function claim_lock(p_platform uuid, p_claim jsonb) returns bigint
  language sql immutable parallel safe
as $$
  select hashtextextended(p_platform::text || (p_claim ->> 'operation') || ' ' || (p_claim ->> 'key'), 0)
$$;
