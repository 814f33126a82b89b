-- Returns the primary's position: a log position that includes every acknowledged commit, and the history that it
-- belongs to. This is the log's flush position or, if commits are acknowledged before they are flushed, its insert
-- position. The history is null if the server does not match the current feed epoch (follow_server), because no standby
-- can then be compared with it. Fails on a standby.
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
