-- After every change of a quote: its event, in the same transaction.
create or replace function announce_quote() returns trigger
  language plpgsql
as $$
begin
  insert into outbox (platform_id, event_id, type, occurred_at, transaction_id, quote_id, customer_id, version,
                      previous_status, status, reason, terminal, snapshot)
  values (new.platform_id, uuid_v7(), 'QUOTE_STATUS', new.updated_at, new.transaction_id, new.id, new.customer_id, new.version,
          old.status, new.status, new.status_reason,
          new.status in ('COMPLETED', 'FAILED', 'EXPIRED'), to_jsonb(new));
  return null;
end
$$;
