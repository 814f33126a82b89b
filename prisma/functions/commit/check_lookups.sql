-- The part of check_plan for lookups that a quote is based on. They must not have expired. Lookups never change, so
-- they are not locked. The clock is read after all of the plan's locks have been taken.
create or replace function check_lookups(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select jsonb_build_object('code', 'LOOKUP_REQUEST_NOT_FOUND', 'id', l.id) from lookup l
    where l.platform_id = p_platform and l.id = any (uuids(p_ids)) and l.expires_at <= clock_timestamp() limit 1);
end
$$;
