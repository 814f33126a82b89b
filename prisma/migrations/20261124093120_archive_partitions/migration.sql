-- CreateTable
CREATE TABLE "partition_policy" (
    "id" BOOLEAN NOT NULL DEFAULT true,
    "archives" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "partition_policy_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "archived_partition" (
    "name" TEXT NOT NULL,
    "table_name" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3),
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "archived_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),

    CONSTRAINT "archived_partition_pkey" PRIMARY KEY ("name")
);

-- One row says what becomes of old partitions
ALTER TABLE "partition_policy" ADD CONSTRAINT "partition_policy_one" CHECK ("id");
INSERT INTO "partition_policy" DEFAULT VALUES;

-- Where they are left: no role of the service may use it
CREATE SCHEMA "archive";

GRANT SELECT ON "partition_policy", "archived_partition" TO "gateway_work";
GRANT UPDATE ("archives") ON "partition_policy" TO "gateway_work";

-- Takes a partition off its table and leaves it in the schema `archive`, where none of our roles reach it: with its rows, without
-- those that move to the default partition, and without ties to other tables. The caller has locked the table. (Postgres refuses
-- DETACH CONCURRENTLY beside a default partition, and in a transaction.)
create or replace function archive_partition(p_table text, p_name text, p_starts timestamptz, p_ends timestamptz,
                                             p_deliveries webhook_delivery[], p_attempts webhook_attempt[]) returns void
  language plpgsql
  set search_path = public, pg_temp
as $$
declare
  v_key text;
begin
  execute format('alter table %I detach partition partitions.%I', p_table, p_name);
  for v_key in
    select conname from pg_constraint where conrelid = format('partitions.%I', p_name)::regclass and contype = 'f'
  loop
    execute format('alter table partitions.%I drop constraint %I', p_name, v_key);
  end loop;
  if p_deliveries is not null then
    execute format('delete from partitions.%I p using unnest($1) d where p.platform_id = d.platform_id and p.id = d.id', p_name)
      using p_deliveries;
  elsif p_attempts is not null then
    execute format('delete from partitions.%I p using unnest($1) a
                    where p.platform_id = a.platform_id and p.delivery_id = a.delivery_id and p.number = a.number', p_name)
      using p_attempts;
  end if;
  execute format('alter table partitions.%I set schema archive', p_name);
  insert into archived_partition (name, table_name, starts_at, ends_at) values (p_name, p_table, p_starts, p_ends);
end
$$;

-- Drops a partition that was left in the schema `archive`. Returns false where there is none of the name.
create or replace function drop_archived_partition(p_name text) returns boolean
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
begin
  if to_regclass(format('archive.%I', p_name)) is null or not exists (select from archived_partition where name = p_name) then
    return false;
  end if;
  execute format('drop table archive.%I', p_name);
  delete from archived_partition where name = p_name;
  return true;
end
$$;

-- Drops the oldest partition past its retention, or leaves it in the schema `archive` where partition_policy says so. Returns its
-- name, with that schema where it is there, or null when there is none. Webhook deliveries that are
-- not finished, or that were sent again since, move to the default partition, and their attempts with them; more than a
-- thousand hold their partition back. Attempts leave after their deliveries. Others wait for its locks for a tenth of a second
-- at most; then it fails, and is tried again later.
create or replace function drop_partition() returns text
  language plpgsql
  security definer set search_path = public, pg_temp
  set timezone = 'UTC'
  set lock_timeout = '100ms'
  set enable_seqscan = off
as $$
declare
  v_part record;
  v_first uuid;
  v_end uuid;
  v_since timestamptz;
  v_deliveries webhook_delivery[];
  v_attempts webhook_attempt[];
  v_left text;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('partitions', 0)) then
    return null;
  end if;
  for v_part in
    select p.*, t.retention from partitioned_tables() t join partitions() p on p.table_name = t.name
    where p.ends < clock_timestamp() - t.retention order by p.ends, p.table_name
  loop
    v_deliveries := null;
    v_attempts := null;
    v_since := clock_timestamp() - v_part.retention;
    v_first := coalesce(uuid_v7_from(v_part.starts), '00000000-0000-0000-0000-000000000000');
    v_end := uuid_v7_from(v_part.ends);
    continue when v_part.table_name = 'webhook_attempt'
      and exists (select from partitions() p where p.table_name = 'webhook_delivery'
                    and not p.is_default and coalesce(p.starts, '-infinity') < v_part.ends);
    -- From here on nobody reads or writes the table.
    execute format('lock table only %I in access exclusive mode', v_part.table_name);
    if v_part.table_name = 'webhook_delivery' then
      select array_agg(d) into v_deliveries from (
        select d from webhook_delivery d where d.id >= v_first and d.id < v_end and d.status = 'PENDING'
        union
        select d from webhook_delivery d where d.id >= v_first and d.id < v_end and d.leased_until is not null
        union
        -- The condition of the index webhook_attempt_late: sent again long after the usual attempts.
        select d from webhook_attempt a join webhook_delivery d on d.platform_id = a.platform_id and d.id = a.delivery_id
        where a.delivery_id >= v_first and a.delivery_id < v_end and a.at >= v_since
          and a.at - uuid_v7_time(a.delivery_id) > interval '14 days'
        limit 1001
      ) kept (d);
      continue when array_length(v_deliveries, 1) > 1000;
    elsif v_part.table_name = 'webhook_attempt' then
      select array_agg(a) into v_attempts from webhook_attempt a
      join webhook_delivery d on d.platform_id = a.platform_id and d.id = a.delivery_id
      where d.id >= v_first and d.id < v_end;
    end if;
    if exists (select from partition_policy where archives) then
      perform archive_partition(v_part.table_name, v_part.name, v_part.starts, v_part.ends, v_deliveries, v_attempts);
      v_left := 'archive.' || v_part.name;
    else
      execute format('drop table partitions.%I', v_part.name);
      v_left := v_part.name;
    end if;
    insert into webhook_delivery select d.* from unnest(v_deliveries) d;
    insert into webhook_attempt select a.* from unnest(v_attempts) a;
    return v_left;
  end loop;
  return null;
end
$$;

REVOKE EXECUTE ON FUNCTION archive_partition(text, text, timestamptz, timestamptz, webhook_delivery[], webhook_attempt[]),
  drop_archived_partition(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drop_archived_partition(text) TO "gateway_work";
