-- Starts a new feed epoch if server_name differs from the last epoch's server. A restore or a failover can undo
-- events; their numbers are then given to new events. Cursors of the undone events contain the earlier epoch, so they
-- are not mistaken for cursors of the new events (decision 77). A sequencer calls this on each new connection, before
-- it numbers any event. Returns whether an operator has yet to confirm the restore.
create or replace function follow_server() returns boolean
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_server text := server_name();
  v_last feed_epoch;
begin
  -- If several sequencers connect at once, only one of them starts the epoch. The lock's number is "epoc" in ASCII.
  perform pg_advisory_xact_lock(1701867363);
  select * into v_last from feed_epoch order by id desc limit 1;
  if not found then
    insert into feed_epoch (server, marked_at) values (v_server, clock_ms());
    return false;
  end if;
  if v_last.server <> v_server then
    insert into feed_epoch (epoch, server, seen_at) values (1 + floor(random() * 2147483646)::int, v_server, v_last.seen_at);
    return true;
  end if;
  return v_last.marked_at is null;
end
$$;
