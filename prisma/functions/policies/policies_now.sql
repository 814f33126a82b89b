-- Returns policies in their current state, which includes payments counted by earlier batches in this transaction.
create or replace function policies_now(p_policies policy[]) returns policy[]
  language sql stable
as $$
  select array(
    select p from unnest(p_policies) l join policy p on p.platform_id = l.platform_id and p.id = l.id order by p.platform_id, p.id)
$$;
