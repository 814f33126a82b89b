-- Runs before each insert of a customer with a UMA address and each update of the address. The address must be in one
-- of the platform's domains.
create or replace function guard_uma_address() returns trigger
  language plpgsql
as $$
begin
  if not exists (
    select from uma_domain where domain = split_part(new.uma_address, '@', 2) and platform_id = new.platform_id
  ) then
    raise exception 'customer %: the domain of the UMA address does not belong to the platform', new.id using errcode = 'LG011';
  end if;
  return new;
end
$$;
