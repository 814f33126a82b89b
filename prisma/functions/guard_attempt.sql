-- Before insert on webhook_attempt: its delivery is there. A foreign key would be checked over all rows of a partition whenever
-- one is dropped.
create or replace function guard_attempt() returns trigger
  language plpgsql
as $$
begin
  if not exists (select from webhook_delivery d where d.platform_id = new.platform_id and d.id = new.delivery_id) then
    raise exception 'there is no webhook delivery %', new.delivery_id using errcode = 'foreign_key_violation';
  end if;
  return new;
end
$$;
