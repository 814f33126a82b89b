-- Makes the next partition of a table that has partitions for less than seven days more, and returns its name; null where all
-- have. A partition costs every statement that looks for a key, so none is made earlier. Others wait for its locks for a tenth
-- of a second at most; then it fails, and is tried again later.
-- The rows of a default partition stay there. Where it has rows for the new partition, nobody has made partitions for long:
-- the new one begins with the next span, and until then the default partition takes the rows.
create or replace function make_partition() returns text
  language plpgsql
  security definer set search_path = public, pg_temp
  set timezone = 'UTC'
  set lock_timeout = '100ms'
as $$
declare
  v_table text;
  v_span text;
  v_from timestamptz;
  v_to timestamptz;
  v_is_id boolean;
  v_key text;
  v_bounds text[];
  v_taken boolean;
  v_name text;
  v_options text[];
begin
  -- Several processes call this: one makes the partition.
  if not pg_try_advisory_xact_lock(hashtextextended('partitions', 0)) then
    return null;
  end if;
  select t.name, t.span, coalesce(max(p.ends), date_trunc(t.span, clock_timestamp())) into v_table, v_span, v_from
  from partitioned_tables() t left join partitions() p on p.table_name = t.name
  group by t.name, t.span
  having max(p.ends) is null or max(p.ends) < clock_timestamp() + interval '7 days'
  order by 3, 1 limit 1;
  if not found then
    return null;
  end if;
  select k.attname, k.atttypid = 'uuid'::regtype into v_key, v_is_id
  from pg_partitioned_table p join pg_attribute k on k.attrelid = p.partrelid and k.attnum = p.partattrs[0]
  where p.partrelid = v_table::regclass;
  for v_try in 1 .. 2 loop
    v_to := date_trunc(v_span, v_from) + ('1 ' || v_span)::interval;
    v_bounds := case when v_is_id then array[uuid_v7_from(v_from)::text, uuid_v7_from(v_to)::text]
                     else array[v_from::text, v_to::text] end;
    execute format('select exists (select from partitions.%I where %I >= %L and %I < %L)',
                   v_table || '_default', v_key, v_bounds[1], v_key, v_bounds[2]) into v_taken;
    exit when not v_taken;
    v_from := date_trunc(v_span, clock_timestamp()) + ('1 ' || v_span)::interval;
  end loop;
  v_name := v_table || to_char(v_from, '_YYYY_MM_DD');
  execute format('create table partitions.%I (like partitions.%I including all)', v_name, v_table || '_default');
  select reloptions into v_options from pg_class where oid = format('partitions.%I', v_table || '_default')::regclass;
  if v_options is not null then
    execute format('alter table partitions.%I set (%s)', v_name, array_to_string(v_options, ', '));
  end if;
  execute format('alter table partitions.%I enable row level security', v_name);
  execute format('alter table %I attach partition partitions.%I for values from (%L) to (%L)',
                 v_table, v_name, v_bounds[1], v_bounds[2]);
  return v_name;
end
$$;
