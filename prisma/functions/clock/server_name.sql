-- Returns a name that distinguishes this database from its earlier states. It consists of the ids of the server, its
-- timeline and the database. A new timeline begins when a backup is restored to a point in time or a standby is
-- promoted. Returns null if the server does not provide these values.
create or replace function server_name() returns text
  language plpgsql
as $$
begin
  return (select s.system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || d.oid
    from pg_control_system() s, pg_database d where d.datname = current_database());
exception when insufficient_privilege or undefined_function or feature_not_supported then
  return null;
end
$$;
