-- The part of check_plan for external accounts that take part in a payment: they must be ACTIVE, and not frozen.
create or replace function check_active_accounts(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid;
  v_customer uuid;
  v_status external_account_status;
  v_frozen_at timestamptz;
begin
  select a.id, a.customer_id, a.status, a.frozen_at into v_id, v_customer, v_status, v_frozen_at from account a
  where a.platform_id = p_platform and a.kind = 'EXTERNAL' and a.id = any (uuids(p_ids)) and (a.status <> 'ACTIVE' or a.frozen_at is not null)
  order by a.id limit 1;
  if found then
    if v_frozen_at is not null then
      return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'EXTERNAL', 'id', v_id, 'customerId', v_customer);
    end if;
    return jsonb_build_object('code', 'INVALID_BANK_ACCOUNT', 'id', v_id, 'customerId', v_customer, 'status', v_status);
  end if;
  return null;
end
$$;
