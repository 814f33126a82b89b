-- Returns the limits of a policy with their current used and remaining amounts. Takes no lock, so payments may be
-- counted concurrently.
create or replace function limits_of(p_platform uuid, p_policy uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select coalesce(jsonb_agg(limit_state(p, l.value, clock_ms()) order by l.ordinality), '[]')
    from policy p, jsonb_array_elements(p.limits) with ordinality l where p.platform_id = p_platform and p.id = p_policy);
end
$$;
