-- Before insert on quote and transaction: a story starts at its beginning, with its first version, at the moment inside its
-- id; every later status is a move.
create or replace function guard_start() returns trigger
  language plpgsql
as $$
begin
  if new.status::text not in ('CREATED', 'PENDING') then
    raise exception '% %: nothing starts as %', tg_table_name, new.id, new.status using errcode = 'LG003';
  end if;
  new.version := 1;
  new.created_at := uuid_v7_time(new.id);
  new.updated_at := new.created_at;
  return new;
end
$$;
