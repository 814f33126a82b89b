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
