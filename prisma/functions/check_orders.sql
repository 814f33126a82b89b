-- The part of check_plan for the rail's orders that a plan concludes or puts off: locks them by id, and refuses one that
-- has its outcome already. So two workers that held the same order (the first for longer than its lease) settle it once,
-- even where the payment's status does not tell, as after a pull.
create or replace function check_orders(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_order record;
begin
  if jsonb_array_length(p_plan -> 'orders') > 0 then
    for v_order in
      select o.id, o.due_at from rail_order o
      where o.platform_id = p_platform
        and o.id = any (uuids(jsonb_path_query_array(p_plan, '$.orders[*].id')))
      order by o.id for no key update
    loop
      if v_order.due_at is null then
        return jsonb_build_object('code', 'CONFLICT', 'id', v_order.id, 'status', 'CLOSED');
      end if;
    end loop;
  end if;
  return null;
end
$$;
