-- Returns the name and number that a payment stores for an account on either side. If an internal account does not
-- belong to the payment's customer, its owner's name is used.
create or replace function name_party(p_platform uuid, p_account uuid, p_customer uuid, out name text, out number text)
  language plpgsql stable
as $$
declare
  v_account account;
begin
  select * into v_account from account a where a.platform_id = p_platform and a.id = p_account;
  number := account_number(v_account.kind, v_account.id, v_account.identifier);
  if v_account.kind = 'INTERNAL' and v_account.customer_id is distinct from p_customer then
    name := case when v_account.customer_id is null
      then (select p.name from platform p where p.id = p_platform)
      else (select c.name from customer c where c.platform_id = p_platform and c.id = v_account.customer_id) end;
  end if;
  name := coalesce(name, account_name(v_account.beneficiary, v_account.account_type, v_account.currency));
end
$$;
