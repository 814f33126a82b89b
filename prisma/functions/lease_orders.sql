-- Leases due orders for the version before, which calls it and knows no rate locks: it must not pay an order that has one.
create or replace function lease_orders(p_limit int, p_lease_ms bigint) returns table (
  platform_id uuid, id uuid, kind rail_order_kind, attempts int, scenario jsonb, environment environment, new_id uuid,
  leased_until text, age_ms float8, transaction json, platform_fee bigint, sender_information jsonb,
  sender_uma_address text, source json, destination json, funding_account_id uuid, platform_account_id uuid,
  can_return_fee boolean, receiver_platform_id uuid, receiver_customer_id uuid, receiver_is_active boolean,
  deposit_account_id uuid, incoming json, incoming_destination json, approval_left_ms float8,
  approval_deferred boolean
)
  language plpgsql
as $$
begin
  return query
  select l.platform_id, l.id, l.kind, l.attempts, l.scenario, l.environment, l.new_id, l.leased_until, l.age_ms,
    l.transaction, l.platform_fee, l.sender_information, l.sender_uma_address, l.source, l.destination,
    l.funding_account_id, l.platform_account_id, l.can_return_fee, l.receiver_platform_id, l.receiver_customer_id,
    l.receiver_is_active, l.deposit_account_id, l.incoming, l.incoming_destination, l.approval_left_ms,
    l.approval_deferred
  from lease_rail_orders(p_limit, p_lease_ms, false) l;
end
$$;
