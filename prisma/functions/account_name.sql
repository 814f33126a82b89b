-- Returns the name of an account for people: who owns it, or what it is (src/payments/accounts/account-names.ts).
create or replace function account_name(a account) returns text
  language sql immutable parallel safe
as $$
  select coalesce(
    a.beneficiary ->> 'fullName',
    a.beneficiary ->> 'legalName',
    case a.account_type
      when 'LAYER2_WALLET' then 'Bitcoin wallet'
      when 'LIGHTNING' then 'Lightning wallet'
      when 'SOLANA_WALLET' then 'Solana wallet'
      when 'TRON_WALLET' then 'Tron wallet'
      when 'POLYGON_WALLET' then 'Polygon wallet'
      when 'BASE_WALLET' then 'Base wallet'
    end,
    a.currency || ' account')
$$;
