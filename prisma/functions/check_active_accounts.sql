-- The part of check_plan for external accounts that take part in a payment: they must be ACTIVE.
create or replace function check_active_accounts(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
  v_customer uuid;
  v_status external_account_status;
begin
  select a.id, a.customer_id, a.status into v_id, v_customer, v_status from account a
  where a.platform_id = p_platform and a.kind = 'EXTERNAL' and a.id = any (uuids(p_ids)) and a.status <> 'ACTIVE'
  order by a.id limit 1;
  if found then
    return jsonb_build_object('code', 'INVALID_BANK_ACCOUNT', 'id', v_id, 'customerId', v_customer, 'status', v_status);
  end if;
  return null;
end
$$;
