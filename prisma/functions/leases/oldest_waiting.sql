-- Returns the id of the oldest event in the outbox across all platforms, or null if the outbox is empty. The id keeps
-- changing as long as the feed advances. Runs with the owner's privileges, because the serving role sees one platform
-- at a time.
create or replace function oldest_waiting() returns bigint
  language plpgsql stable
  security definer set search_path = public, pg_temp
  set enable_seqscan = off
as $$
begin
  return (select min(id) from outbox);
end
$$;
