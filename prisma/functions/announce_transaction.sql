-- After every change of a transaction: its event, in the same transaction.
create or replace function announce_transaction() returns trigger
  language plpgsql
as $$
begin
  insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                      previous_status, status, reason, terminal, snapshot)
  values (new.platform_id, uuid_v7(), case new.type when 'OUTGOING' then 'OUTGOING_PAYMENT'::event_type else 'INCOMING_PAYMENT' end, new.updated_at, new.id, new.quote_id, new.customer_id,
          new.version, old.status, new.status, new.status_reason, is_terminal(new.status),
          to_jsonb(new));
  return null;
end
$$;
