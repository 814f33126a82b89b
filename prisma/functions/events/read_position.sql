-- Returns where the primary is: the end of the log that holds every commit that has been answered, and the history that it
-- belongs to. A session that acknowledges commits before they are flushed asks for the end of what is written. The history
-- is null where the server is another than the epoch of the feed says (follow_server): then no standby can be compared.
-- Fails on a standby.
create or replace function read_position(out lsn pg_lsn, out history text)
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_server text := server_name();
begin
  lsn := case current_setting('synchronous_commit')
    when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end;
  select e.id || '/' || coalesce(e.epoch, 0) || '/' || e.server into history
  from (select * from feed_epoch order by id desc limit 1) e where e.server = v_server;
end
$$;
