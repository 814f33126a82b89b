-- The part of check_plan for customers who take part in a payment: they must be allowed to move money, and not be frozen.
create or replace function check_active_customers(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
  v_kyc_status kyc_status;
  v_is_deleted boolean;
  v_frozen_at timestamptz;
begin
  for v_at in 0 .. jsonb_array_length(p_ids) - 1 loop
    v_id := (p_ids ->> v_at)::uuid;
    select kyc_status, is_deleted, frozen_at into v_kyc_status, v_is_deleted, v_frozen_at from customer where platform_id = p_platform and id = v_id;
    if v_is_deleted or v_kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') then
      return jsonb_build_object('code', 'USER_NOT_READY', 'id', v_id, 'kycStatus', v_kyc_status, 'isDeleted', v_is_deleted);
    end if;
    if v_frozen_at is not null then
      return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_id);
    end if;
  end loop;
  return null;
end
$$;
