-- Runs after each insert of a platform and each update of its UMA domain. Reserves the domain for the platform
-- permanently, even if the platform later switches to another domain, so that no other platform ever receives payments
-- meant for its customers. If several platforms claim a domain concurrently, one of them gets it. A domain in which
-- another platform's customers have addresses also counts as taken. Runs with the owner's privileges, because the
-- serving role sees one platform at a time and cannot write domains.
create or replace function reserve_uma_domain() returns trigger
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
begin
  insert into uma_domain (domain, platform_id) values (new.uma_domain, new.id) on conflict (domain) do nothing;
  if not exists (select from uma_domain where domain = new.uma_domain and platform_id = new.id) or exists (
    select from customer
    where split_part(lower(uma_address), '@', 2) = new.uma_domain and platform_id <> new.id and not is_deleted
  ) then
    raise exception 'the UMA domain % is taken', new.uma_domain using errcode = 'unique_violation';
  end if;
  return null;
end
$$;
