-- Runs before each insert of a lookup. Sets its creation time from its id, and its expiry to ten minutes later.
create or replace function stamp_lookup() returns trigger
  language plpgsql
as $$
begin
  new.created_at := uuid_v7_time(new.id);
  new.expires_at := new.created_at + interval '10 minutes';
  return new;
end
$$;
