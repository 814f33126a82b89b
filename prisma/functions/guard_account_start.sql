-- Before insert on account: no external account starts INACTIVE, and every later status is a move.
create or replace function guard_account_start() returns trigger
  language plpgsql
as $$
begin
  if new.status = 'INACTIVE' then
    raise exception 'external account %: nothing starts as INACTIVE', new.id using errcode = 'LG003';
  end if;
  return new;
end
$$;
