-- Deferred, once per new journal, at commit: at least two legs, and every currency sums to zero.
create or replace function check_journal() returns trigger
  language plpgsql
as $$
begin
  if (select count(*) from posting p where p.platform_id = new.platform_id and p.journal_id = new.id) < 2
     or exists (
       select from posting p where p.platform_id = new.platform_id and p.journal_id = new.id
       group by p.currency having sum(p.amount) <> 0
     ) then
    raise exception 'journal % does not balance', new.id using errcode = 'LG008';
  end if;
  return null;
end
$$;
