-- Finds whom an order of another cluster pays: the platform that has the domain, its customer at the address, and the
-- account to credit in the currency. Without a customer nobody receives at the address. Runs with the rights of the owner,
-- since the serving role sees one platform at a time.
create or replace function find_payee(p_address text, p_domain text, p_currency text, p_environment environment) returns table (
  platform_id uuid, customer_id uuid, deposit_account_id uuid, is_active boolean
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select p.id, r.id, coalesce(d.id, i.id),
    r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED') and r.frozen_at is null
      and case when d.id is null then i.frozen_at else d.frozen_at end is null
  from uma_domain u
  join platform p on p.id = u.platform_id and p.environment = p_environment
  left join customer r on r.platform_id = p.id and lower(r.uma_address) = p_address and not r.is_deleted
  left join account d on d.platform_id = r.platform_id and d.customer_id = r.id and d.default_uma_deposit_account
    and d.status = 'ACTIVE' and d.currency = p_currency
  left join account i on i.platform_id = r.platform_id and i.customer_id = r.id and i.kind = 'INTERNAL'
    and i.currency = p_currency
  where u.domain = p_domain;
end
$$;
