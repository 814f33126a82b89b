-- Returns an account in the form that the feed and stored answers use. Its balance is text, because it may be too large
-- for a JSON number to represent exactly. The function is declared stable, like to_jsonb, so that Postgres inlines it
-- into the calling statement.
create or replace function account_snapshot(a account) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(a) || jsonb_build_object('posted', a.posted::text)
$$;
