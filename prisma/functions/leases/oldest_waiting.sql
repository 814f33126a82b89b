-- Returns the id of the oldest event in the outbox, of any platform; null when none waits. While the feed moves, it is
-- never the same for long. Runs with the rights of the owner, since the serving role sees one platform at a time.
create or replace function oldest_waiting() returns bigint
  language plpgsql stable
  security definer set search_path = public, pg_temp
  set enable_seqscan = off
as $$
begin
  return (select min(id) from outbox);
end
$$;
