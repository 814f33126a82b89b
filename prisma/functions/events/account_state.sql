-- Returns the part of an account that its event stores as JSON, for account_as_of: the mutable columns (guard_account)
-- that have a value. The status, version and time are columns of the event.
create or replace function account_state(a account) returns jsonb
  language sql stable parallel safe
as $$
  select nullif(
    jsonb_strip_nulls(jsonb_build_object(
      'posted', nullif(a.posted, 0)::text, 'status_reason', a.status_reason, 'platform_account_id', a.platform_account_id,
      'default_uma_deposit_account', nullif(a.default_uma_deposit_account, false),
      'beneficiary_verification_status', a.beneficiary_verification_status,
      'beneficiary_verified_name', a.beneficiary_verified_name, 'is_deleted', nullif(a.is_deleted, false),
      'frozen_at', a.frozen_at))
    -- Keeps nulls inside the metadata.
    || case when a.metadata is null then '{}' else jsonb_build_object('metadata', a.metadata) end,
    '{}')
$$;
