-- Before update on customers: sets the next version, and the time of the clock of the database.
create or replace function stamp_change() returns trigger
  language plpgsql
as $$
begin
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;
