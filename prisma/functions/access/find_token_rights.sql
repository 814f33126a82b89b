-- Returns the current permissions of the given tokens, which may belong to different platforms. Revoked and expired
-- tokens are omitted. Instances call this for their open connections. Runs with the owner's privileges, because the
-- serving role sees only one platform at a time.
create or replace function find_token_rights(p_platforms uuid[], p_ids uuid[]) returns table (
  id uuid, permissions text[], grants text[], trusted_documents_only boolean
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select t.id, t.permissions::text[], '{}'::text[], p.trusted_documents = 'ALL' or t.documents <> '{}'
  from unnest(p_platforms, p_ids) as s (platform_id, id)
  join api_token t on t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null
    and coalesce(t.expires_at > clock_timestamp(), true)
  join platform p on p.id = t.platform_id
  union all
  select t.id, t.permissions::text[], t.grants::text[],
    t.trusted_documents_only or p.trusted_documents <> 'OPTIONAL' or t.documents <> '{}'
  from unnest(p_platforms, p_ids) as s (platform_id, id)
  join client_token t on t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null
    and t.expires_at > clock_timestamp()
  join platform p on p.id = t.platform_id;
end
$$;
