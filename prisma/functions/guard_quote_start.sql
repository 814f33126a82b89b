-- Before insert on quote: it starts PENDING, with version 1, at the time in its id. Every later status is a move.
create or replace function guard_quote_start() returns trigger
  language plpgsql
as $$
begin
  if new.status <> 'PENDING' then
    raise exception 'quote %: nothing starts as %', new.id, new.status using errcode = 'LG003';
  end if;
  new.version := 1;
  new.created_at := uuid_v7_time(new.id);
  new.updated_at := new.created_at;
  return new;
end
$$;
