-- After insert on platform, and after an update of its UMA domain: the domain is the platform's from now on, also when it
-- takes another one later, so that nobody else ever receives what was meant for its customers' addresses. Of platforms that
-- take one domain at once, one gets it. A domain in which customers of another platform have addresses is taken, too.
-- Runs with the rights of the owner: who serves sees one platform at a time, and writes no domains.
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
