-- Before insert on every versioned table: sets version 1 and the creation time, which is in the id.
create or replace function stamp_new_row() returns trigger
  language plpgsql
as $$
begin
  new.version := 1;
  new.created_at := uuid_v7_time(new.id);
  new.updated_at := new.created_at;
  return new;
end
$$;
