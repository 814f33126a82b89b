-- After each insert of legs, for all of them at once: checks that each belongs to a journal of this transaction (a
-- committed journal is sealed), and is in a known currency. Journals and currencies are never deleted, so foreign keys
-- are not needed. They would check the same again for each leg.
create or replace function check_legs() returns trigger
  language plpgsql
as $$
begin
  -- An age of 0 means that this transaction wrote the row.
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
