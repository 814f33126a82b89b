-- Returns whether two operator names are equal, ignoring case and spaces.
create or replace function same_person(p_one text, p_other text) returns boolean
  language sql immutable
as $$
  select lower(regexp_replace(p_one, '\s', '', 'g')) = lower(regexp_replace(p_other, '\s', '', 'g'))
$$;
