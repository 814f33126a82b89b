-- before tables
-- A JSON list of ids as an array. An expression, which PL/pgSQL evaluates without a statement: unnested and gathered again it
-- would cost several times as much. Ids have no character that means something in an array's text.
create or replace function uuids(p_list jsonb) returns uuid[]
  language sql stable parallel safe
as $$
  select translate(p_list::text, '[]"', '{}')::uuid[]
$$;
