-- Returns what tells this database from its own past: the server, its timeline and the database. A timeline begins where a backup
-- is restored to a moment, and where a standby is promoted. Null where the server does not say.
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
