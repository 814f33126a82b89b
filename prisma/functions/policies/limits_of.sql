-- Returns a policy's limits with their current used and remaining amounts. Takes no lock, so payments may be counted
-- concurrently.
create or replace function limits_of(p_platform uuid, p_policy uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select coalesce(jsonb_agg(limit_state(p, n, clock_ms()) order by n), '[]')
    from policy p, generate_subscripts(p.limit_maxima, 1) n where p.platform_id = p_platform and p.id = p_policy);
end
$$;
