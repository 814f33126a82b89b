-- before tables
-- The one clock: the database's, in the milliseconds that records carry. Not frozen at the transaction's start.
create or replace function clock_ms() returns timestamptz
  language sql volatile parallel safe
as $$
  select date_trunc('milliseconds', clock_timestamp())
$$;
