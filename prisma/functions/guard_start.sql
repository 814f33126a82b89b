-- Before insert on quote and transaction: a story starts at its beginning, and every later status is a move.
create or replace function guard_start() returns trigger
  language plpgsql
as $$
begin
  if new.status::text not in ('CREATED', 'PENDING') then
    raise exception '% %: nothing starts as %', tg_table_name, new.id, new.status using errcode = 'LG003';
  end if;
  return new;
end
$$;
