-- Returns the last four characters of what identifies an account, for people: of a short one fewer, so that at least half
-- stays hidden. An internal account has no number, and is identified by its id.
create or replace function account_number(a account) returns text
  language sql immutable parallel safe
as $$
  select '•••• ' || case when a.kind = 'INTERNAL' then upper(right(a.id::text, 4))
                         else right(a.identifier, least(4, length(a.identifier) / 2)) end
$$;
