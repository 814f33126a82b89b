-- Before insert on transaction: its story starts as CREATED or PENDING, with its first version, at the moment inside its
-- id; every later status is a move.
create or replace function guard_transaction_start() returns trigger
  language plpgsql
as $$
begin
  if new.status not in ('CREATED', 'PENDING') then
    raise exception 'transaction %: nothing starts as %', new.id, new.status using errcode = 'LG003';
  end if;
  new.version := 1;
  new.created_at := uuid_v7_time(new.id);
  new.updated_at := new.created_at;
  return new;
end
$$;
