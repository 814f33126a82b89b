-- After each insert of legs, over all of them at once: each belongs to a journal that this very transaction has written (one
-- that another committed is sealed), and is in a known currency. Both never go away again, so no foreign keys are needed
-- beside it, which would ask the same once more for each leg.
create or replace function check_legs() returns trigger
  language plpgsql
as $$
begin
  -- An age of 0: the row is of the present transaction.
  if exists (
    select from leg l
    where age((select j.xmin from journal j where j.platform_id = l.platform_id and j.id = l.journal_id)) is distinct from 0
      or (select c.code from currency c where c.code = l.currency) is null
  ) then
    if exists (select from leg l where not exists (select from currency c where c.code = l.currency)) then
      raise exception 'a leg is in an unknown currency' using errcode = 'foreign_key_violation';
    end if;
    raise exception 'a leg was added to a journal that is sealed' using errcode = 'LG005';
  end if;
  return null;
end
$$;
