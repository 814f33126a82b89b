-- before tables
-- Returns the creation time encoded in a UUIDv7, to the millisecond.
create or replace function uuid_v7_time(id uuid) returns timestamptz
  language sql immutable strict parallel safe
as $$
  select to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;
