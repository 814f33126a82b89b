-- Finds a customer, on any platform, by UMA address (given in lower case). Returns what a payer may know: the domain
-- and currencies of the customer's platform, and the currency of the customer's deposit account. Runs with the owner's
-- privileges, because the serving role sees one platform at a time.
create or replace function find_receiver(p_address text, p_environment environment) returns table (
  platform_id uuid, id uuid, uma_domain text, currencies text[], deposit_currency text
)
  language plpgsql stable
  security definer set search_path = public, pg_temp
as $$
begin
  return query
  select r.platform_id, r.id, p.uma_domain, p.currencies, d.currency
  from customer r
  join platform p on p.id = r.platform_id
  left join account d on d.platform_id = r.platform_id and d.customer_id = r.id and d.default_uma_deposit_account
    and d.status = 'ACTIVE'
  where lower(r.uma_address) = p_address and not r.is_deleted and p.environment = p_environment
    and r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED') and r.frozen_at is null;
end
$$;
