-- Returns the first answer to an idempotency key that was used before, or null.
create or replace function first_answer(p_platform uuid, p_claim jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_operation text := p_claim ->> 'operation';
  v_key text := p_claim ->> 'key';
  v_hash bytea;
  v_refusal jsonb;
  v_result jsonb;
begin
  select request_hash, refusal, result into v_hash, v_refusal, v_result from idempotency_record
  where platform_id = p_platform and operation = v_operation and key = v_key;
  if not found then
    return null;
  end if;
  if v_hash <> decode(p_claim ->> 'hash', 'hex') then
    return jsonb_build_object('outcome', 'mismatch');
  end if;
  return jsonb_build_object('outcome', 'first', 'refusal', v_refusal, 'result', v_result);
end
$$;
