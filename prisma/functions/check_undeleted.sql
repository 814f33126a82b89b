-- The part of check_plan for customers to whose accounts a plan lets money come in: they must not be deleted.
create or replace function check_undeleted(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
begin
  select c.id into v_id from customer c
  where c.platform_id = p_platform and c.id = any (uuids(p_ids)) and c.is_deleted order by c.id limit 1;
  if found then
    return jsonb_build_object('code', 'CUSTOMER_DELETED', 'id', v_id);
  end if;
  return null;
end
$$;
