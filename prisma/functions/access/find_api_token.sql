-- Finds a valid API token by its client id. Returns it with the hash of its secret and its platform's settings.
-- Runs with the owner's privileges, because the serving role sees no rows until the platform is set, and the platform
-- is not known until the token is found.
create or replace function find_api_token(p_client_id text) returns table (
  id uuid, platform_id uuid, secret_hash bytea, permissions text[], environment environment,
  rate_limit int, rate_burst int, api_token_rate_limit int, api_token_rate_burst int, client_token_rate_limit int,
  client_token_rate_burst int, trusted_documents trusted_document_policy, makers uuid[],
  expires_at timestamptz, addresses text[], documents text[], was_used boolean
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select t.id, t.platform_id, t.secret_hash, t.permissions::text[], p.environment, p.rate_limit, p.rate_burst,
    p.api_token_rate_limit, p.api_token_rate_burst, p.client_token_rate_limit, p.client_token_rate_burst,
    p.trusted_documents, token_makers(t.platform_id, t.id), t.expires_at, t.addresses, t.documents,
    coalesce(t.last_used_at > clock_timestamp() - interval '1 minute', false)
  from api_token t join platform p on p.id = t.platform_id
  where t.client_id = p_client_id and t.revoked_at is null and coalesce(t.expires_at > clock_timestamp(), true);
end
$$;
