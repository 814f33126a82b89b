-- Runs before inserts into stored_event. Only sequence_outbox may write to the feed, from the outbox. The rows that its
-- events refer to belong to their platform (guard_outbox) and are never deleted, so no foreign keys are needed here.
-- Foreign keys took a third of the time of sequence_outbox, and locked rows that payments were waiting to change.
create or replace function guard_feed() returns trigger
  language plpgsql
as $$
declare
  v_callers text;
begin
  get diagnostics v_callers = pg_context;
  -- The text around a function's name depends on the server's language.
  if position('sequence_outbox(integer)' in v_callers) = 0 then
    raise exception 'only sequence_outbox writes the feed' using errcode = 'LG009';
  end if;
  return null;
end
$$;
