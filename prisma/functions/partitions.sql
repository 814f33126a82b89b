-- Returns the partitions of all partitioned tables, from the catalog: the time of the rows in each, where the bounds may be ids
-- (UUIDv7). The first one may have no beginning. A default partition takes the rows for which there is no other.
create or replace function partitions()
  returns table (table_name text, name text, relation oid, starts timestamptz, ends timestamptz, is_default boolean)
  language plpgsql stable
  set timezone = 'UTC'
as $$
begin
  return query
  select b.table_name::text, b.name::text, b.relation,
         case when b.is_id then uuid_v7_time(b.lower::uuid) else b.lower::timestamptz end,
         case when b.is_id then uuid_v7_time(b.upper::uuid) else b.upper::timestamptz end,
         b.bound = 'DEFAULT'
  from (
    select t.relname as table_name, c.relname as name, c.oid as relation, k.atttypid = 'uuid'::regtype as is_id, e.bound,
           substring(e.bound from 'FROM \(''([^'']+)''\)') as lower, substring(e.bound from 'TO \(''([^'']+)''\)') as upper
    from pg_partitioned_table p
    join pg_class t on t.oid = p.partrelid and t.relnamespace = 'public'::regnamespace
    join pg_attribute k on k.attrelid = t.oid and k.attnum = p.partattrs[0]
    join pg_inherits i on i.inhparent = t.oid
    join pg_class c on c.oid = i.inhrelid
    cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) e
  ) b;
end
$$;
