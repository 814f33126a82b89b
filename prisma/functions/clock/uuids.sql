-- before tables
-- Converts a JSON list of ids to an array. PL/pgSQL evaluates this expression without a statement: unnest and array_agg
-- would cost several times as much. Ids have no characters with a meaning in the text form of an array.
create or replace function uuids(p_list jsonb) returns uuid[]
  language sql stable parallel safe
as $$
  select translate(p_list::text, '[]"', '{}')::uuid[]
$$;
