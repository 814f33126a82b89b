-- The part of check_plan for transactions whose status a plan changes. A refund that waits in suspense is paid once. The clock is
-- read while the lock is held: a decision that waited until its deadline comes too late.
create or replace function check_transactions(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move jsonb;
  v_id uuid;
  v_status transaction_status;
  v_refund_waits boolean;
  v_approval_due_at timestamptz;
begin
  for v_at in 0 .. jsonb_array_length(p_moves) - 1 loop
    v_move := p_moves -> v_at;
    continue when (v_move ->> 'is_new')::boolean;
    v_id := (v_move ->> 'id')::uuid;
    select status, refund_reference is not null and refund_settled_at is null, approval_due_at
    into v_status, v_refund_waits, v_approval_due_at
    from transaction where platform_id = p_platform and id = v_id;
    if not found then
      return jsonb_build_object('code', 'TRANSACTION_NOT_FOUND', 'id', v_id);
    end if;
    if v_move ->> 'approval' = 'before' and clock_timestamp() >= v_approval_due_at then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'Transaction', 'id', v_id, 'status', v_status, 'dueAt', v_approval_due_at);
    end if;
    if not v_move -> 'from' ? v_status::text or ((v_move ->> 'pays_refund')::boolean and not v_refund_waits) then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'Transaction', 'id', v_id, 'status', v_status);
    end if;
  end loop;
  return null;
end
$$;
