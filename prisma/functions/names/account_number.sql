-- Returns the last four characters of what identifies an account, for people: of a short one fewer, so that at least half
-- stays hidden. An internal account has no number, and is identified by its id.
create or replace function account_number(kind account_kind, id uuid, identifier text) returns text
  language sql immutable parallel safe
as $$
  select '•••• ' || case when kind = 'INTERNAL' then upper(right(id::text, 4))
                         else right(identifier, least(4, length(identifier) / 2)) end
$$;
