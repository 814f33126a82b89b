-- Runs before each update of a transaction. The status changes only as status_moves allows. The parties and amounts
-- never change, except for the account that an incoming payment goes to. Settlement and refund times come from
-- the database's clock. Events store the mutable columns, so transaction_state and transaction_as_of must include every
-- column that may change.
create or replace function guard_transaction() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.type, new.customer_id, new.quote_id, new.sent_amount, new.sent_currency,
      new.received_currency, new.source_account_id, new.reference, new.fees, new.exchange_rate,
      new.source_name, new.source_number, new.metadata, new.received_amount, new.source_kind, new.source_uma_address,
      new.destination_kind, new.destination_uma_address, new.rate_details, new.description)
     is distinct from
     (old.platform_id, old.id, old.created_at, old.type, old.customer_id, old.quote_id, old.sent_amount, old.sent_currency,
      old.received_currency, old.source_account_id, old.reference, old.fees, old.exchange_rate,
      old.source_name, old.source_number, old.metadata, old.received_amount, old.source_kind, old.source_uma_address,
      old.destination_kind, old.destination_uma_address, old.rate_details, old.description)
    or (old.type = 'OUTGOING' and (new.destination_account_id, new.requested_information)
        is distinct from (old.destination_account_id, old.requested_information))
    -- The approval of an outgoing payment changes only when its status changes to or from CREATED. The token that
    -- requested a payment and the token that decided on it are written only once.
    or (old.type = 'OUTGOING' and 'CREATED' not in (old.status, new.status)
        and (new.approval_due_at, new.decided_by_id) is distinct from (old.approval_due_at, old.decided_by_id))
    or (coalesce(old.created_by, new.created_by), coalesce(old.decided_by_id, new.decided_by_id))
       is distinct from (new.created_by, new.decided_by_id)
    or (new.created_by is distinct from old.created_by and (old.quote_id is null or old.status <> 'PENDING')) then
    raise exception 'transaction %: its parties and amounts cannot change', old.id using errcode = 'LG002';
  end if;
  -- A refund held in suspense is paid after the payment has ended, without a change of status.
  if not (new.status = old.status and old.refund_reference is not null and old.refund_settled_at is null and new.refund_settled_at is not null)
     and (old.status || ' > ' || new.status = any (status_moves('transaction'))) is not true then
    raise exception 'transaction %: its status cannot change from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  if new.destination_account_id is distinct from old.destination_account_id then
    select p.name, p.number into new.destination_name, new.destination_number
    from name_party(new.platform_id, new.destination_account_id, new.customer_id) p;
  else
    new.destination_name := old.destination_name;
    new.destination_number := old.destination_number;
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  if new.status = 'COMPLETED' then
    new.settled_at := new.updated_at;
  end if;
  if new.refund_reference is not null and old.refund_reference is null then
    new.refund_initiated_at := new.updated_at;
    new.refund_settled_at := case when new.refund_settled_at is not null then new.updated_at end;
  end if;
  return new;
end
$$;
