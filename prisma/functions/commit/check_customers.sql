-- The part of check_plan for customers that a plan changes. A deleted customer cannot change. A customer that is
-- frozen, has money, or has payments in flight cannot be deleted. A UMA address belongs to at most one customer that is
-- not deleted.
create or replace function check_customers(p_platform uuid, p_changes jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_change record;
  v_deleted boolean;
  v_frozen_at timestamptz;
  v_holder customer;
  v_refusal jsonb;
begin
  for v_change in
    select m.id, m."set" ->> 'uma_address' as uma_address, (m."set" ->> 'is_deleted')::boolean as is_deleted
    from jsonb_to_recordset(p_changes) as m(id uuid, "set" jsonb)
  loop
    select is_deleted, frozen_at into v_deleted, v_frozen_at from customer where platform_id = p_platform and id = v_change.id;
    if v_deleted then
      return jsonb_build_object('code', 'CUSTOMER_DELETED', 'id', v_change.id);
    end if;
    if v_change.is_deleted then
      if v_frozen_at is not null then
        return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_change.id);
      end if;
      v_refusal := check_deletion(p_platform, v_change.id);
      if v_refusal is not null then
        return v_refusal;
      end if;
    end if;
    select * into v_holder from customer c
    where lower(c.uma_address) = lower(v_change.uma_address) and not c.is_deleted
      and (c.platform_id, c.id) <> (p_platform, v_change.id) limit 1;
    if found then
      -- The id of another platform's customer is not disclosed.
      return jsonb_build_object('code', 'UMA_ADDRESS_EXISTS',
                                'id', case when v_holder.platform_id = p_platform then v_holder.id end);
    end if;
  end loop;
  return null;
end
$$;
