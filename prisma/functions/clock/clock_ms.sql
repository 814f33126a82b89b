-- before tables
-- Returns the time of the one clock, which is the clock of the database, in milliseconds, the precision of records. It
-- does not stop at the start of the transaction.
create or replace function clock_ms() returns timestamptz
  language sql volatile parallel safe
as $$
  select date_trunc('milliseconds', clock_timestamp())
$$;
