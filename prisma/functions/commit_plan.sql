-- One command, whole or not at all: its idempotency claim, the state it changes, the money it moves, the events (by
-- trigger) and the outcome that a repeat of the same key will be told. A second call with the key waits for the first
-- to end (at most lock_timeout), because the claim is the first thing written.
create or replace function commit_plan(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_claim jsonb := p_plan -> 'claim';
  v_first idempotency_record;
  v_refusal jsonb;
  v_result jsonb;
begin
  if v_claim is not null then
    insert into idempotency_record (platform_id, operation, key, request_hash)
    values (p_platform, v_claim ->> 'operation', v_claim ->> 'key', decode(v_claim ->> 'hash', 'hex'))
    on conflict do nothing;
    if not found then
      select * into v_first from idempotency_record
      where platform_id = p_platform and operation = v_claim ->> 'operation' and key = v_claim ->> 'key';
      if v_first.request_hash <> decode(v_claim ->> 'hash', 'hex') then
        return jsonb_build_object('outcome', 'mismatch');
      end if;
      return jsonb_build_object('outcome', 'first', 'refusal', v_first.refusal, 'result', v_first.result);
    end if;
  end if;

  v_refusal := check_plan(p_platform, p_plan);
  if v_refusal is null then
    v_result := apply_plan(p_platform, p_plan);
  end if;

  if v_claim is not null then
    if v_refusal ->> 'code' in ('USER_NOT_READY', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND') then
      -- Answers with status 403 or 404 are not kept: a later try with the key may succeed.
      delete from idempotency_record
      where platform_id = p_platform and operation = v_claim ->> 'operation' and key = v_claim ->> 'key';
    else
      update idempotency_record set refusal = v_refusal, result = v_result
      where platform_id = p_platform and operation = v_claim ->> 'operation' and key = v_claim ->> 'key';
    end if;
  end if;

  return jsonb_build_object('outcome', 'now', 'refusal', v_refusal, 'result', v_result);
end
$$;
