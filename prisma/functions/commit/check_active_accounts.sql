-- The part of check_plan for external accounts that take part in a payment. They must be ACTIVE and not frozen.
create or replace function check_active_accounts(p_platform uuid, p_ids jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select jsonb_build_object('id', a.id, 'customerId', a.customer_id) || case
      when a.frozen_at is not null then jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'EXTERNAL')
      else jsonb_build_object('code', 'INVALID_BANK_ACCOUNT', 'status', a.status) end
    from account a
    where a.platform_id = p_platform and a.kind = 'EXTERNAL' and a.id = any (uuids(p_ids)) and (a.status <> 'ACTIVE' or a.frozen_at is not null)
    order by a.id limit 1);
end
$$;
