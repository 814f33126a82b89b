-- Runs before an update of a platform, policy or webhook endpoint that changes one of its settings. Increments the
-- version.
create or replace function stamp_version() returns trigger
  language plpgsql
as $$
begin
  new.version := old.version + 1;
  return new;
end
$$;
