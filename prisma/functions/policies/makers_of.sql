-- Returns the uuids of the token that requested a payment (given by public id) and of its ancestors (token_makers).
create or replace function makers_of(p_platform uuid, p_token text) returns uuid[]
  language sql stable
as $$
  select split_part(p_token, ':', 2)::uuid || token_makers(p_platform, case split_part(p_token, ':', 1)
    when 'ApiToken' then split_part(p_token, ':', 2)::uuid
    else (select c.created_by_id from client_token c where c.platform_id = p_platform and c.id = split_part(p_token, ':', 2)::uuid) end)
$$;
