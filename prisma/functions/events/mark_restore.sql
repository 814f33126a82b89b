-- Records that an operator has restored the database, or has confirmed a detected restore or failover, and starts a new
-- feed epoch. Restoring only the disks does not change server_name, so only this call reveals the restore. An
-- unnecessary call is harmless, because events keep their epoch.
create or replace function mark_restore() returns int
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_epoch int := 1 + floor(random() * 2147483646)::int;
begin
  perform follow_server();
  insert into feed_epoch (epoch, server, seen_at)
  select v_epoch, server_name(), seen_at from feed_epoch order by id desc limit 1;
  update feed_epoch set marked_at = clock_ms() where marked_at is null;
  return v_epoch;
end
$$;
