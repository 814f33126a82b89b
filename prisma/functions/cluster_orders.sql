-- Returns the orders of a day with another cluster, and what has become of each. Runs with the rights of the owner, since
-- the serving role sees one platform at a time.
create or replace function cluster_orders(p_cluster text, p_direction cluster_direction, p_day text, p_currency text)
  returns table (order_id uuid, platform_id uuid, transaction_id uuid, amount text, state text)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select o.order_id, o.platform_id, o.transaction_id, o.amount::text,
    case when t.status = 'COMPLETED' then 'SETTLED' when not is_terminal(t.status) then 'OPEN' else 'ENDED' end
  from cluster_order o
  left join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
  where o.cluster = p_cluster and o.direction = p_direction and o.currency = p_currency
    and o.ordered_at >= p_day::timestamp at time zone 'UTC' and o.ordered_at < p_day::timestamp at time zone 'UTC' + interval '1 day';
end
$$;
