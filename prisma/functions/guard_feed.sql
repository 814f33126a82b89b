-- Before insert on event: only the sequencer's step writes the feed, from the outbox. What the outbox names is of its
-- platform (guard_outbox) and never deleted, so no foreign keys are needed here: they took a third of the step's time, and
-- locked rows that payments were waiting to change.
create or replace function guard_feed() returns trigger
  language plpgsql
as $$
declare
  v_callers text;
begin
  get diagnostics v_callers = pg_context;
  -- The words around a function's name are in the server's language.
  if position('sequence_outbox(integer)' in v_callers) = 0 then
    raise exception 'only sequence_outbox writes the feed' using errcode = 'LG009';
  end if;
  return null;
end
$$;
