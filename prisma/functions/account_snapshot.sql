-- An account as the feed and stored answers keep it. Its balance is text: it may pass what a JSON number holds exactly.
-- Stable, as to_jsonb is: only then is it built into the statement that calls it.
create or replace function account_snapshot(a account) returns jsonb
  language sql stable parallel safe
as $$
  select to_jsonb(a) || jsonb_build_object('posted', a.posted::text)
$$;
