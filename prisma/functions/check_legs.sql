-- After each insert of legs, for all of them at once: checks that each belongs to a journal of this transaction (a
-- committed journal is sealed), whose payment is of its platform, and is in a known currency. A journal without legs never commits
-- (check_journal). Journals, payments and currencies are never deleted, so foreign keys are not needed. They would check the same
-- again for each row.
create or replace function check_legs() returns trigger
  language plpgsql
as $$
begin
  -- An age of 0 means that this transaction wrote the row.
  if exists (
    select from leg l
    where (select age(j.xmin) = 0 and (j.transaction_id is null or exists (
             select from transaction t where t.platform_id = j.platform_id and t.id = j.transaction_id))
           from journal j where j.platform_id = l.platform_id and j.id = l.journal_id) is not true
      or (select c.code from currency c where c.code = l.currency) is null
  ) then
    if exists (select from leg l where not exists (select from currency c where c.code = l.currency)) then
      raise exception 'a leg is in an unknown currency' using errcode = 'foreign_key_violation';
    end if;
    if exists (select from leg l join journal j on j.platform_id = l.platform_id and j.id = l.journal_id and age(j.xmin) = 0
               where j.transaction_id is not null and not exists (
                 select from transaction t where t.platform_id = j.platform_id and t.id = j.transaction_id)) then
      raise exception 'a journal is for a payment that its platform does not have' using errcode = 'foreign_key_violation';
    end if;
    raise exception 'a leg was added to a journal that is sealed' using errcode = 'LG005';
  end if;
  return null;
end
$$;
