-- Before insert on customer, and before an update of its UMA address: the address is in a domain of the customer's platform.
create or replace function guard_uma_address() returns trigger
  language plpgsql
as $$
begin
  if not exists (
    select from uma_domain where domain = split_part(new.uma_address, '@', 2) and platform_id = new.platform_id
  ) then
    raise exception 'customer %: the domain of its UMA address is not of its platform', new.id using errcode = 'LG011';
  end if;
  return new;
end
$$;
