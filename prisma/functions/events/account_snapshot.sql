-- Returns an account as the feed and stored answers contain it. Its balance is text, because it may exceed what a JSON
-- number holds exactly. Stable, like to_jsonb: only then is it inlined into the statement that calls it.
create or replace function account_snapshot(a account) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(a) || jsonb_build_object('posted', a.posted::text)
$$;
