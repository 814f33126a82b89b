-- Returns the platform that has a UMA domain, or null. Runs with the rights of the owner, since the serving role sees one
-- platform at a time.
create or replace function find_uma_domain(p_domain text) returns uuid
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return (select p.id from platform p where p.uma_domain = p_domain);
end
$$;
