-- Returns the tokens of a list that are neither revoked nor expired, for the version before, which calls it and knows no
-- find_token_rights. Runs with the rights of the owner.
create or replace function find_live_tokens(p_platforms uuid[], p_ids uuid[]) returns setof uuid
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select s.id from unnest(p_platforms, p_ids) as s (platform_id, id)
  where exists (select from api_token t where t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null)
     or exists (select from client_token t where t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null
                  and t.expires_at > clock_timestamp());
end
$$;
