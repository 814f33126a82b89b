-- Returns a masked number for display: the last four characters of the account's identifier, or fewer if the
-- identifier is short, so that at least half of it stays hidden. For an address user@domain, they come from the part
-- before the @, and the domain follows. An internal account has no number, so its id is used.
create or replace function account_number(kind account_kind, id uuid, identifier text) returns text
  language sql immutable parallel safe
as $$
  select '•••• ' || case when kind = 'INTERNAL' then upper(right(id::text, 4))
                         else right(split_part(identifier, '@', 1), least(4, length(split_part(identifier, '@', 1)) / 2))
                              || substr(identifier, length(split_part(identifier, '@', 1)) + 1) end
$$;
