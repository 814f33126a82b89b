-- Runs before each insert into a versioned table. Sets the version to 1 and takes the creation time from the id. The
-- trigger's arguments are the statuses in which a row may start. Later, the status changes only as status_moves allows.
create or replace function stamp_new_row() returns trigger
  language plpgsql
as $$
begin
  if tg_nargs > 0 then
    if new.status::text <> all (tg_argv) then
      raise exception '% % cannot start as %', tg_table_name, new.id, new.status using errcode = 'LG003';
    end if;
  end if;
  new.version := 1;
  new.created_at := uuid_v7_time(new.id);
  new.updated_at := new.created_at;
  return new;
end
$$;
