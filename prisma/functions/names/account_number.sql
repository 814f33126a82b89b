-- Returns a masked number for display: the last four characters of the account's identifier, or fewer if the
-- identifier is short, so that at least half of it stays hidden. For an address user@domain, shows its first characters
-- and its domain instead. An internal account has no number, so its id is used.
create or replace function account_number(kind account_kind, id uuid, identifier text) returns text
  language sql immutable parallel safe
as $$
  select case
    when kind = 'INTERNAL' then '•••• ' || upper(right(id::text, 4))
    when identifier like '%@%' then left(identifier, least(4, (position('@' in identifier) - 1) / 2)) || '••••'
                                    || substr(identifier, position('@' in identifier))
    else '•••• ' || right(identifier, least(4, length(identifier) / 2)) end
$$;
