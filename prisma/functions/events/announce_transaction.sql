-- Runs once per statement that inserts or updates transactions. Writes an event for each transaction, in the same
-- database transaction. The event stores only the transaction's mutable columns (transaction_state).
create or replace function announce_transaction() returns trigger
  language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                        status, reason, terminal, snapshot)
    select n.platform_id, uuid_v7(), case n.type when 'OUTGOING' then 'OUTGOING_PAYMENT'::event_type else 'INCOMING_PAYMENT' end,
      n.updated_at, n.id, n.quote_id, n.customer_id, n.version, n.status, n.status_reason, is_terminal(n.status), transaction_state(n)
    from now_is n;
  else
    insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                        previous_status, status, reason, terminal, snapshot)
    select n.platform_id, uuid_v7(), case n.type when 'OUTGOING' then 'OUTGOING_PAYMENT'::event_type else 'INCOMING_PAYMENT' end,
      n.updated_at, n.id, n.quote_id, n.customer_id, n.version, o.status, n.status, n.status_reason, is_terminal(n.status), transaction_state(n)
    from now_is n join was o on o.platform_id = n.platform_id and o.id = n.id;
  end if;
  return null;
end
$$;
