-- before tables
-- A UUIDv7 (RFC 9562, method 3): 48 bits of milliseconds, 12 bits of the fraction below, 62 random bits. Ids made on one
-- server sort in the order of their making down to the microsecond. Written out because Postgres has its own only from 18.
create or replace function uuid_v7() returns uuid
  language sql volatile parallel safe
as $$
  select encode(
    int8send(((us / 1000) << 16) | 28672 | ((us % 1000) * 4096 / 1000)) || substring(uuid_send(gen_random_uuid()) from 9 for 8),
    'hex')::uuid
  from (select floor(extract(epoch from clock_timestamp()) * 1000000)::bigint as us) clock
$$;
