-- The part of apply_plans for the few plans that insert customers or accounts.
create or replace function apply_registrations(p_platform uuid, p_insert jsonb) returns void
  language plpgsql
as $$
begin
  if p_insert ? 'customer' then
    insert into customer select r.* from jsonb_populate_recordset(null::customer, p_insert -> 'customer') r;
  end if;
  if p_insert ? 'account' then
    -- A customer has one default deposit account, so a new default replaces the old one.
    update account a set default_uma_deposit_account = false
    from jsonb_populate_recordset(null::account, p_insert -> 'account') r
    where r.default_uma_deposit_account and a.platform_id = p_platform and a.customer_id = r.customer_id and a.default_uma_deposit_account;
    insert into account select r.* from jsonb_populate_recordset(null::account, p_insert -> 'account') r;
  end if;
  if p_insert ? 'account_check' then
    insert into account_check (platform_id, account_id, due_at)
    select p_platform, r.account_id, clock_ms() + r.due_in_ms * interval '1 millisecond'
    from jsonb_to_recordset(p_insert -> 'account_check') as r(account_id uuid, due_in_ms bigint);
  end if;
  if p_insert ? 'identity_check' then
    delete from identity_check i using jsonb_to_recordset(p_insert -> 'identity_check') as r(customer_id uuid)
    where i.platform_id = p_platform and i.customer_id = r.customer_id;
    insert into identity_check (platform_id, customer_id, due_at)
    select p_platform, r.customer_id, clock_ms() + r.due_in_ms * interval '1 millisecond'
    from jsonb_to_recordset(p_insert -> 'identity_check') as r(customer_id uuid, due_in_ms bigint)
    where r.due_in_ms is not null;
  end if;
end
$$;
