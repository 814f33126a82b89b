-- Returns the allowed status changes of a quote (decision 50), a transaction (decision 57) or an external account
-- (decision 42). The guards of these tables refuse all others.
create or replace function status_moves(p_noun text) returns text[]
  language sql immutable
as $$
  select case p_noun
    when 'quote' then array[
      'PENDING > PROCESSING', 'PENDING > EXPIRED', 'PENDING > FAILED', 'PROCESSING > COMPLETED', 'PROCESSING > FAILED',
      'PROCESSING > EXPIRED']
    when 'transaction' then array[
      'CREATED > PENDING', 'CREATED > PROCESSING', 'CREATED > COMPLETED', 'CREATED > REJECTED', 'CREATED > EXPIRED',
      'CREATED > FAILED', 'PENDING > CREATED', 'PENDING > PROCESSING', 'PENDING > COMPLETED', 'PENDING > REJECTED', 'PENDING > FAILED', 'PENDING > EXPIRED',
      'PROCESSING > COMPLETED', 'PROCESSING > REJECTED', 'PROCESSING > FAILED',
      'COMPLETED > REFUNDED']
    when 'external_account' then array[
      'PENDING > ACTIVE', 'PENDING > UNDER_REVIEW', 'PENDING > INACTIVE', 'ACTIVE > UNDER_REVIEW', 'ACTIVE > INACTIVE',
      'UNDER_REVIEW > ACTIVE', 'UNDER_REVIEW > INACTIVE', 'INACTIVE > ACTIVE']
  end
$$;
