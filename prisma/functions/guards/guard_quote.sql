-- Runs before each update of a quote. Only the status and its reason may change, and only as status_moves allows. So an
-- event need not store a quote's other columns (quote_as_of).
create or replace function guard_quote() returns trigger
  language plpgsql
as $$
declare
  v_else quote := new;
begin
  v_else.status := old.status;
  v_else.status_reason := old.status_reason;
  if v_else is distinct from old then
    raise exception 'quote %: its terms cannot change', old.id using errcode = 'LG002';
  end if;
  if (old.status || ' > ' || new.status = any (status_moves('quote'))) is not true then
    raise exception 'quote %: its status cannot change from % to %', old.id, old.status, new.status using errcode = 'LG003';
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_ms();
  return new;
end
$$;
