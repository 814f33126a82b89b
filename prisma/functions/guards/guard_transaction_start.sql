-- Runs before each insert of a transaction. A transaction starts as CREATED or PENDING, with version 1 and the creation
-- time from its id. Stores the current names of the accounts at both ends, so that later changes to accounts and owners
-- do not change the payment's record.
create or replace function guard_transaction_start() returns trigger
  language plpgsql
as $$
declare
  v_party record;
begin
  if new.status not in ('CREATED', 'PENDING') then
    raise exception 'transaction % cannot start as %', new.id, new.status using errcode = 'LG003';
  end if;
  -- Assignments cost less than statements.
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
