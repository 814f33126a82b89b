-- Makes the order that is waiting for a decision on the given incoming transaction due immediately. It is the
-- transaction's own order, or that of the OUTGOING transaction behind it, which may belong to another platform. Runs
-- with the owner's privileges, because the serving role sees one platform at a time.
create or replace function wake_orders(p_platform uuid, p_transaction uuid) returns void
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
begin
  update rail_order o set due_at = clock_ms()
  where o.due_at is not null and ((o.platform_id = p_platform and o.transaction_id = p_transaction)
    or (o.platform_id, o.transaction_id) in (
      select a.sender_platform_id, a.sender_transaction_id from arrival a
      where a.platform_id = p_platform and a.transaction_id = p_transaction));
end
$$;
