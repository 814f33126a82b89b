-- An account as the feed and stored answers keep it. Balances are text: they may pass what a JSON number holds exactly.
create or replace function account_snapshot(a account) returns jsonb
  language sql immutable parallel safe
as $$
  select to_jsonb(a) || jsonb_build_object('posted', a.posted::text, 'held', a.held::text)
$$;
