-- Returns the version of an internal account at a point in time. This is the version of its last posting before then,
-- or any later version before the next posting. Returns 0 if there is no earlier posting. Versions increase with time,
-- because the account is locked when a posting is given its time. A binary search therefore finds the version, with
-- about twenty index reads for a million postings. An index on the time would make every payment more expensive.
create or replace function account_version_before(p_platform uuid, p_account uuid, p_moment timestamptz) returns int
  language plpgsql stable
as $$
declare
  -- All postings up to version v_low precede p_moment; no posting above v_high does.
  v_low int := 0;
  v_high int;
  v_middle int;
  v_found record;
begin
  select p.account_version into v_high from posting p
  where p.platform_id = p_platform and p.account_id = p_account order by p.account_version desc limit 1;
  while v_low < v_high loop
    v_middle := v_low + (v_high - v_low + 1) / 2;
    select p.account_version, uuid_v7_time(p.journal_id) < p_moment as is_before into v_found from posting p
    where p.platform_id = p_platform and p.account_id = p_account and p.account_version > v_low and p.account_version <= v_middle
    order by p.account_version desc limit 1;
    if not found or v_found.is_before then
      v_low := v_middle;
    else
      v_high := v_found.account_version - 1;
    end if;
  end loop;
  return v_low;
end
$$;
