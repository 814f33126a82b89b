-- A deferred trigger that runs at commit, once per new journal. Checks that the journal has at least two legs and that
-- they sum to zero in each currency. Runs with the owner's privileges, because before Postgres 18 a deferred trigger
-- runs as the session's role, which sees only the legs of one platform.
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
