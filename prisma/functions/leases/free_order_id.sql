-- Returns the id of a new order: p_id or, if an earlier order already has that id, the next one derived from it. An
-- earlier order can have it because an idempotency key can be used again after 30 days, whereas orders are kept.
create or replace function free_order_id(p_platform uuid, p_id uuid) returns uuid
  language plpgsql
as $$
begin
  while exists (select from rail_order o where o.platform_id = p_platform and o.id = p_id) loop
    p_id := md5(p_id::text)::uuid;
  end loop;
  return p_id;
end
$$;
