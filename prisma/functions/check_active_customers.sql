-- The part of check_plan for customers who take part in a payment: they must be allowed to move money.
create or replace function check_active_customers(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
  v_kyc_status kyc_status;
  v_is_deleted boolean;
begin
  for v_at in 0 .. jsonb_array_length(p_ids) - 1 loop
    v_id := (p_ids ->> v_at)::uuid;
    select kyc_status, is_deleted into v_kyc_status, v_is_deleted from customer where platform_id = p_platform and id = v_id;
    if v_is_deleted or v_kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') then
      return jsonb_build_object('code', 'USER_NOT_READY', 'id', v_id, 'kycStatus', v_kyc_status, 'isDeleted', v_is_deleted);
    end if;
  end loop;
  return null;
end
$$;
