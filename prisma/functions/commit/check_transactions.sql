-- The part of check_plan for transactions whose status a plan changes. A refund in suspense is paid only once. The
-- clock is read while the lock is held, so a decision that waited for the lock past its deadline is refused. `makers`
-- are the approving token and the tokens that it descends from (may_approve).
create or replace function check_transactions(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select r.refusal
    from jsonb_to_recordset(p_moves) as m(id uuid, "from" text[], approval text, pays_refund boolean, is_new boolean,
      makers uuid[], "set" jsonb)
    left join transaction t on t.platform_id = p_platform and t.id = m.id,
    lateral (select case
      when t.id is null then jsonb_build_object('code', 'TRANSACTION_NOT_FOUND', 'id', m.id)
      when m.approval = 'before' and clock_timestamp() >= t.approval_due_at then
        jsonb_build_object('code', 'CONFLICT', 'type', 'Transaction', 'id', t.id, 'status', t.status, 'dueAt', t.approval_due_at)
      when t.status::text <> all (m."from") or m.pays_refund and (t.refund_reference is null or t.refund_settled_at is not null) then
        jsonb_build_object('code', 'CONFLICT', 'type', 'Transaction', 'id', t.id, 'status', t.status)
      when m.makers is not null and not may_approve(t, (m."set" ->> 'decided_by_id')::uuid, m.makers) then
        jsonb_build_object('code', 'FORBIDDEN', 'id', t.id) end as refusal) r
    where m.is_new is not true and r.refusal is not null limit 1);
end
$$;
