-- Before update on quote: only the status moves, and only along quote_move. What was priced and promised stays.
create or replace function guard_quote() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.expires_at, new.transaction_id, new.customer_id,
      new.source_kind, new.source_account_id, new.destination_kind, new.destination_account_id, new.destination_uma_address,
      new.sending_currency, new.receiving_currency, new.total_sending_amount, new.total_receiving_amount,
      new.exchange_rate, new.fees_included, new.platform_fee, new.locked_currency_side, new.pricing)
     is distinct from
     (old.platform_id, old.id, old.created_at, old.expires_at, old.transaction_id, old.customer_id,
      old.source_kind, old.source_account_id, old.destination_kind, old.destination_account_id, old.destination_uma_address,
      old.sending_currency, old.receiving_currency, old.total_sending_amount, old.total_receiving_amount,
      old.exchange_rate, old.fees_included, old.platform_fee, old.locked_currency_side, old.pricing) then
    raise exception 'quote %: what was quoted cannot change', old.id using errcode = 'LG002';
  end if;
  if not exists (select from quote_move m where m."from" = old.status and m."to" = new.status) then
    raise exception 'quote %: no move from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;

-- Before insert on quote and transaction: a story starts at its beginning, and every later status is a move.
create or replace function guard_start() returns trigger
  language plpgsql
as $$
begin
  if new.status::text not in ('CREATED', 'PENDING') then
    raise exception '% %: nothing starts as %', tg_table_name, new.id, new.status using errcode = 'LG003';
  end if;
  return new;
end
$$;

-- Before update on transaction: the status moves along transaction_move, sides and sent amount stay, and the moments of
-- settlement and refund are taken from the database's clock.
create or replace function guard_transaction() returns trigger
  language plpgsql
as $$
begin
  if (new.platform_id, new.id, new.created_at, new.type, new.customer_id, new.quote_id, new.sent_amount, new.sent_currency,
      new.received_currency, new.source_account_id, new.reference, new.fees, new.exchange_rate)
     is distinct from
     (old.platform_id, old.id, old.created_at, old.type, old.customer_id, old.quote_id, old.sent_amount, old.sent_currency,
      old.received_currency, old.source_account_id, old.reference, old.fees, old.exchange_rate) then
    raise exception 'transaction %: its parties and amounts cannot change', old.id using errcode = 'LG002';
  end if;
  if not exists (select from transaction_move m where m."from" = old.status and m."to" = new.status) then
    raise exception 'transaction %: no move from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  if new.status = 'COMPLETED' then
    new.settled_at := new.updated_at;
  end if;
  if new.refund_reference is not null and old.refund_reference is null then
    new.refund_initiated_at := new.updated_at;
    new.refund_settled_at := coalesce(new.refund_settled_at, new.updated_at);
  end if;
  return new;
end
$$;

CREATE TRIGGER "start" BEFORE INSERT ON "quote" FOR EACH ROW EXECUTE FUNCTION guard_start();
CREATE TRIGGER "start" BEFORE INSERT ON "transaction" FOR EACH ROW EXECUTE FUNCTION guard_start();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "quote" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "transaction" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
