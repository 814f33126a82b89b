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
