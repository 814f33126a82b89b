-- Returns what has settled with another cluster, by direction, day of the order and currency. The fingerprint is that of the
-- orders' ids: two sides with the same have the same orders. Runs with the rights of the owner, since the serving role sees
-- one platform at a time.
create or replace function cluster_totals(p_cluster text) returns table (
  direction cluster_direction, day text, currency text, orders bigint, amount text, fingerprint text
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select o.direction, to_char(o.ordered_at at time zone 'UTC', 'YYYY-MM-DD'), o.currency, count(*), sum(o.amount)::text,
    bit_xor(hashtextextended(o.order_id::text || ' ' || o.amount, 0))::text
  from cluster_order o
  join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
  where o.cluster = p_cluster and t.status = 'COMPLETED'
  group by 1, 2, 3;
end
$$;
