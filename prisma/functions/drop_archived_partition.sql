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
