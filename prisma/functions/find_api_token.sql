-- Finds a valid API token by its client id, with the hash of its secret: nobody knows its platform before. Runs with the
-- rights of the owner, since the serving role sees no row before it has named a platform.
create or replace function find_api_token(p_client_id text) returns table (
  id uuid, platform_id uuid, secret_hash bytea, permissions text[], environment environment
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select t.id, t.platform_id, t.secret_hash, t.permissions::text[], p.environment
  from api_token t join platform p on p.id = t.platform_id
  where t.client_id = p_client_id and t.revoked_at is null;
end
$$;
