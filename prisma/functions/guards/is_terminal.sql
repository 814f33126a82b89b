-- Returns whether a payment's status is terminal. (COMPLETED may still become REFUNDED, if a bank returns the money.)
create or replace function is_terminal(status transaction_status) returns boolean
  language sql immutable parallel safe
as $$
  select status in ('COMPLETED', 'REJECTED', 'FAILED', 'REFUNDED', 'EXPIRED')
$$;
