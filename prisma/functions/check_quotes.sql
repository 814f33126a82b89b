-- The part of check_plan for quotes whose status a plan changes. The clock is read while the lock is held: a quote that
-- expired while the command waited counts as expired.
create or replace function check_quotes(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move jsonb;
  v_id uuid;
  v_status quote_status;
  v_expires_at timestamptz;
  v_updated_at timestamptz;
begin
  for v_at in 0 .. jsonb_array_length(p_moves) - 1 loop
    v_move := p_moves -> v_at;
    continue when (v_move ->> 'is_new')::boolean;
    v_id := (v_move ->> 'id')::uuid;
    select status, expires_at, updated_at into v_status, v_expires_at, v_updated_at from quote where platform_id = p_platform and id = v_id;
    if not found then
      return jsonb_build_object('code', 'QUOTE_NOT_FOUND', 'id', v_id);
    end if;
    if v_status = 'EXPIRED'
       or (v_status = 'PENDING' and v_move ->> 'expiry' = 'before' and clock_timestamp() >= v_expires_at) then
      -- One that was cancelled has expired then.
      return jsonb_build_object('code', 'QUOTE_EXPIRED', 'id', v_id,
                                'expiresAt', case v_status when 'EXPIRED' then least(v_expires_at, v_updated_at) else v_expires_at end);
    end if;
    if not v_move -> 'from' ? v_status::text or (v_move ->> 'expiry' = 'after' and clock_timestamp() < v_expires_at) then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'Quote', 'id', v_id, 'status', v_status);
    end if;
  end loop;
  return null;
end
$$;
