-- Returns the lowest id (UUIDv7) of a moment: ids that were made before it sort below.
create or replace function uuid_v7_from(p_time timestamptz) returns uuid
  language sql stable strict parallel safe
as $$
  select (lpad(to_hex((date_part('epoch', p_time) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
