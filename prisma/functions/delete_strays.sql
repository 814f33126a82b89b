-- Deletes rows past their retention from the default partitions, some of each table, and returns how many. There are few: what
-- came while a partition was missing, and webhook deliveries that outlived theirs.
create or replace function delete_strays(p_limit int) returns int
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_since timestamptz := clock_timestamp() - (select min(retention) from partitioned_tables());
  v_count int;
  v_total int := 0;
begin
  delete from partitions.idempotency_record_default where ctid = any (array(
    select ctid from partitions.idempotency_record_default where created_at < v_since limit p_limit for update skip locked));
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from partitions.webhook_delivery_default where ctid = any (array(
    select d.ctid from partitions.webhook_delivery_default d
    where d.status <> 'PENDING' and d.leased_until is null and d.id < uuid_v7_from(v_since)
      and not exists (select from webhook_attempt a
                      where a.platform_id = d.platform_id and a.delivery_id = d.id and a.at >= v_since)
    limit p_limit for update skip locked));
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from partitions.webhook_attempt_default where ctid = any (array(
    select a.ctid from partitions.webhook_attempt_default a
    where a.delivery_id < uuid_v7_from(v_since)
      and not exists (select from webhook_delivery d where d.platform_id = a.platform_id and d.id = a.delivery_id)
    limit p_limit for update skip locked));
  get diagnostics v_count = row_count;
  return v_total + v_count;
end
$$;
