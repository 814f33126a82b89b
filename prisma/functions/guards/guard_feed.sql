-- Runs before inserts into stored_event. Only sequence_outbox may write to the feed, from the outbox. The rows that an
-- event refers to belong to its platform (guard_outbox) and are never deleted, so no foreign keys are needed here.
-- Foreign keys took a third of sequence_outbox's time, and locked rows that payments were waiting to change.
create or replace function guard_feed() returns trigger
  language plpgsql
as $$
declare
  v_callers text;
begin
  get diagnostics v_callers = pg_context;
  -- Looks only for the function's name, because the text around it depends on the server's language.
  if position('sequence_outbox(integer)' in v_callers) = 0 then
    raise exception 'only sequence_outbox writes the feed' using errcode = 'LG009';
  end if;
  return null;
end
$$;
