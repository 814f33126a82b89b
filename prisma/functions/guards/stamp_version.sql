-- Before an update of a platform or a webhook endpoint that changes what its platform has set: sets the next version.
create or replace function stamp_version() returns trigger
  language plpgsql
as $$
begin
  new.version := old.version + 1;
  return new;
end
$$;
