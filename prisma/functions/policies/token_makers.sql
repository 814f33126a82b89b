-- Returns an API token and all API tokens that created it or that it replaces, directly or indirectly. Policies that
-- limit any of these also limit the token. The result never changes.
create or replace function token_makers(p_platform uuid, p_token uuid) returns uuid[]
  language sql stable
as $$
  with recursive maker as (
    select t.id, t.created_by_id, t.replaces_id from api_token t where t.platform_id = p_platform and t.id = p_token
    union select t.id, t.created_by_id, t.replaces_id
    from maker m join api_token t on t.platform_id = p_platform and t.id in (m.created_by_id, m.replaces_id))
  select array(select id from maker)
$$;
