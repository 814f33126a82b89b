-- Returns the original answer stored for an idempotency key, or null if the key has not been used before.
create or replace function first_answer(p_platform uuid, p_claim jsonb) returns jsonb
  language plpgsql
as $$
begin
  return (
    select case when r.request_hash <> decode(p_claim ->> 'hash', 'hex') then jsonb_build_object('outcome', 'mismatch')
      else jsonb_build_object('outcome', 'first', 'refusal', r.refusal, 'result', r.result) end
    from idempotency_record r
    where r.platform_id = p_platform and r.operation = p_claim ->> 'operation' and r.key = p_claim ->> 'key');
end
$$;
