-- The part of check_plan for orders that a plan concludes or postpones. Refuses an order that already has an outcome.
-- This prevents an order from being settled twice if two workers hold it because the first worker's lease expired. The
-- payment's status alone would not prevent that, because a pull does not change it.
create or replace function check_orders(p_platform uuid, p_orders jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select jsonb_build_object('code', 'CONFLICT', 'id', o.id, 'status', 'CLOSED') from rail_order o
    where o.platform_id = p_platform and o.id = any (uuids(jsonb_path_query_array(p_orders, '$[*].id'))) and o.due_at is null
    order by o.id limit 1);
end
$$;
