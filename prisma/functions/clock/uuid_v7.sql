-- before tables
-- Returns a new UUIDv7 (RFC 9562, method 3): 48 bits of milliseconds, 12 bits for the fraction of a millisecond, 62
-- random bits. Ids from one server sort by creation time, to the microsecond. Postgres has had a built-in function for
-- this only since version 18. The body is one expression that reads the clock once, because only such a function is
-- inlined into the calling statement. It writes microseconds × 4096 / 1000 as 15 hexadecimal digits. The last three are
-- the fraction. date_part returns a float, which represents present-day microseconds exactly. extract would return a
-- numeric, which is slower.
create or replace function uuid_v7() returns uuid
  language sql volatile parallel safe
as $$
  select (overlay(
    lpad(to_hex((date_part('epoch', clock_timestamp()) * 1000000)::bigint * 512 / 125), 15, '0') placing '7' from 13 for 0
  ) || right(gen_random_uuid()::text, 17))::uuid
$$;
