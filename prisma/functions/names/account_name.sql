-- Returns an account's display name: its beneficiary's name, or else its kind (src/domain/accounts/account-details.ts).
create or replace function account_name(beneficiary jsonb, type external_account_type, currency text) returns text
  language sql immutable parallel safe
as $$
  select coalesce(
    beneficiary ->> 'fullName',
    beneficiary ->> 'legalName',
    case type
      when 'LAYER2_WALLET' then 'Bitcoin wallet'
      when 'LIGHTNING' then 'Lightning wallet'
      when 'SOLANA_WALLET' then 'Solana wallet'
      when 'TRON_WALLET' then 'Tron wallet'
      when 'POLYGON_WALLET' then 'Polygon wallet'
      when 'BASE_WALLET' then 'Base wallet'
    end,
    currency || ' account')
$$;
