-- Deferred, once per new journal, at commit: checks that it has at least two legs and that every currency sums to zero. It has the
-- rights of its owner: before Postgres 18 a deferred trigger runs as the role of the session, which sees the legs of one platform.
create or replace function check_journal() returns trigger
  language plpgsql
  security definer set search_path = public, pg_temp
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
as $$
begin
  if (select coalesce(sum(c.legs), 0) < 2 or bool_or(c.sum <> 0)
      from (select count(*) as legs, sum(p.amount) as sum from posting p
            where p.platform_id = new.platform_id and p.journal_id = new.id group by p.currency) c) then
    raise exception 'journal % does not balance', new.id using errcode = 'LG008';
  end if;
  return null;
end
$$;
