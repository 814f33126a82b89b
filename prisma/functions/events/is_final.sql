-- Returns whether the given version of a payment is its last: its status is terminal, a bank can no longer return it,
-- and no refund of it is pending.
create or replace function is_final(p_platform uuid, p_id uuid, p_status transaction_status, p_version integer)
  returns boolean
  language sql stable parallel safe
as $$
  select is_terminal(p_status) and exists (
    select from transaction t
    where t.platform_id = p_platform and t.id = p_id and t.version = p_version
      and (t.refund_reference is null or t.refund_settled_at is not null))
    and not exists (
      select from rail_order o
      where o.platform_id = p_platform and o.transaction_id = p_id and o.due_at is not null)
$$;
