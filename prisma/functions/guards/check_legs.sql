-- Runs once per statement that inserts legs. Checks that each leg's journal was inserted by the same database
-- transaction, because a committed journal is sealed. So legs need no foreign key to journals, which would look up each
-- journal again. A journal without legs never commits (check_journal).
create or replace function check_legs() returns trigger
  language plpgsql
as $$
begin
  -- An age of 0 means that the current transaction wrote the row.
  if exists (select from leg l where not exists (
      select from journal j where j.platform_id = l.platform_id and j.id = l.journal_id and age(j.xmin) = 0)) then
    raise exception 'a leg was added to a sealed journal' using errcode = 'LG005';
  end if;
  return null;
end
$$;
