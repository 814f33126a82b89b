-- Returns whether this server is a standby with the given history (read_position) and has replayed its log up to the
-- given position. If so, the session's next statement reads data that is at least as recent as that position.
create or replace function has_replayed(p_lsn pg_lsn, p_history text) returns boolean
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
begin
  return pg_is_in_recovery() and coalesce(pg_last_wal_replay_lsn() >= p_lsn, false) and exists (
    select from (select * from feed_epoch order by id desc limit 1) e
    where e.id || '/' || coalesce(e.epoch, 0) || '/' || e.server = p_history);
end
$$;
