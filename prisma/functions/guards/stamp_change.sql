-- Runs before each update of a customer. Increments the version and sets updated_at from the database's clock.
create or replace function stamp_change() returns trigger
  language plpgsql
as $$
begin
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;
