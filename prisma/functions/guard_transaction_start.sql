-- Before insert on transaction: it starts CREATED or PENDING, with version 1, at the time in its id. Every later status
-- is a move. It stores the names of the accounts at its ends, as they are now: later changes of accounts and owners
-- do not change what was paid. A customer or account takes part in it, each that does is of its platform (name_party finds the
-- accounts), and its currencies are known. None of these is ever deleted, so one check is enough. Foreign keys would look each up
-- again, and lock its row, which may be one that all transactions share.
create or replace function guard_transaction_start() returns trigger
  language plpgsql
as $$
declare
  v_party record;
begin
  if new.status not in ('CREATED', 'PENDING') then
    raise exception 'transaction %: nothing starts as %', new.id, new.status using errcode = 'LG003';
  end if;
  if num_nonnulls(new.customer_id, new.source_account_id, new.destination_account_id) = 0 then
    raise exception 'transaction %: nobody takes part in it', new.id using errcode = 'foreign_key_violation';
  end if;
  if not exists (select from currency where code = new.received_currency)
     or (new.sent_currency is not null and not exists (select from currency where code = new.sent_currency))
     or (new.customer_id is not null
         and not exists (select from customer c where c.platform_id = new.platform_id and c.id = new.customer_id)) then
    raise exception 'transaction %: in an unknown currency, or of a customer who is not of its platform', new.id
      using errcode = 'foreign_key_violation';
  end if;
  -- Assignments, which cost less than statements.
  v_party := name_party(new.platform_id, new.source_account_id, new.customer_id);
  new.source_name := v_party.name;
  new.source_number := v_party.number;
  v_party := name_party(new.platform_id, new.destination_account_id, new.customer_id);
  new.destination_name := v_party.name;
  new.destination_number := v_party.number;
  new.version := 1;
  new.created_at := uuid_v7_time(new.id);
  new.updated_at := new.created_at;
  return new;
end
$$;
