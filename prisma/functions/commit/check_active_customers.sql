-- The part of check_plan for customers who take part in a payment. They must be allowed to move money and must not be
-- frozen.
create or replace function check_active_customers(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select jsonb_build_object('id', c.id) || case
      when c.is_deleted or c.kyc_status not in ('APPROVED', 'MANUALLY_APPROVED')
        then jsonb_build_object('code', 'USER_NOT_READY', 'kycStatus', c.kyc_status, 'isDeleted', c.is_deleted)
      else jsonb_build_object('code', 'CUSTOMER_FROZEN') end
    from customer c
    where c.platform_id = p_platform and c.id = any (uuids(p_ids))
      and (c.is_deleted or c.kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') or c.frozen_at is not null)
    order by array_position(uuids(p_ids), c.id) limit 1);
end
$$;
