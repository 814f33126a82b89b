-- before tables
-- Returns the database's current time, truncated to milliseconds (the precision of stored times). Unlike now(), it
-- advances during a transaction.
create or replace function clock_ms() returns timestamptz
  language sql volatile parallel safe
as $$
  select date_trunc('milliseconds', clock_timestamp())
$$;
