-- Runs before inserts into the outbox that do not come from a trigger, such as those for test events. Checks that the
-- rows that an event refers to belong to its platform. Triggers need no check: they take the ids from the changed row.
create or replace function guard_outbox() returns trigger
  language plpgsql
as $$
begin
  if (new.transaction_id is not null
      and not exists (select from transaction t where t.platform_id = new.platform_id and t.id = new.transaction_id))
     or (new.quote_id is not null
         and not exists (select from quote q where q.platform_id = new.platform_id and q.id = new.quote_id))
     or (new.account_id is not null
         and not exists (select from account a where a.platform_id = new.platform_id and a.id = new.account_id))
     or (new.customer_id is not null
         and not exists (select from customer c where c.platform_id = new.platform_id and c.id = new.customer_id)) then
    raise exception 'event % refers to a row of another platform', new.event_id using errcode = 'foreign_key_violation';
  end if;
  return new;
end
$$;
