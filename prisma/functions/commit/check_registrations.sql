-- The part of check_plan for customers and external accounts that a plan inserts. A UMA address belongs to at most one
-- customer that is not deleted. An owner has at most one account with the same bank, identifier, type and currency, not
-- counting INACTIVE ones. A deleted or frozen customer cannot register an external account, and a frozen account cannot
-- be registered again, even while it is INACTIVE.
create or replace function check_registrations(p_platform uuid, p_insert jsonb) returns jsonb
  language plpgsql
as $$
begin
  return coalesce(
    -- The id of another platform's customer is not disclosed.
    (select jsonb_build_object('code', 'UMA_ADDRESS_EXISTS', 'id', case when c.platform_id = p_platform then c.id end)
     from jsonb_populate_recordset(null::customer, p_insert -> 'customer') n
     join customer c on lower(c.uma_address) = lower(n.uma_address) and not c.is_deleted limit 1),
    (select jsonb_build_object('code', 'ACCOUNT_EXISTS', 'id', a.id)
     from jsonb_populate_recordset(null::account, p_insert -> 'account') n
     join account a on a.platform_id = p_platform and a.kind = 'EXTERNAL' and n.kind = 'EXTERNAL'
       and (a.status <> 'INACTIVE' or a.frozen_at is not null)
       and a.customer_id is not distinct from n.customer_id and a.currency = n.currency
       and a.account_type = n.account_type and a.identifier = n.identifier and a.bank is not distinct from n.bank limit 1),
    (select jsonb_build_object('code', case when c.is_deleted then 'CUSTOMER_DELETED' else 'CUSTOMER_FROZEN' end, 'id', c.id)
     from jsonb_populate_recordset(null::account, p_insert -> 'account') n
     join customer c on c.platform_id = p_platform and c.id = n.customer_id and (c.is_deleted or c.frozen_at is not null)
     where n.kind = 'EXTERNAL' limit 1));
end
$$;
