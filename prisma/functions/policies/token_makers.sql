-- Returns an API token and the chain of API tokens that created it: limits of these tokens apply to it, too. The
-- chain never changes.
create or replace function token_makers(p_platform uuid, p_token uuid) returns uuid[]
  language sql stable
as $$
  with recursive maker as (
    select t.id, t.created_by_id from api_token t where t.platform_id = p_platform and t.id = p_token
    union all select t.id, t.created_by_id from maker m join api_token t on t.platform_id = p_platform and t.id = m.created_by_id)
  select array(select id from maker)
$$;
