-- Returns the answer to an applied or refused plan, with the current state of the row that the plan names as its
-- result. Stores the answer under the plan's idempotency key for repeated calls.
create or replace function conclude_plan(p_platform uuid, p_plan jsonb, p_refusal jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_claim jsonb := p_plan -> 'claim';
  v_target jsonb := p_plan -> 'result';
  v_id uuid := v_target ->> 'id';
  v_row jsonb;
  v_result jsonb;
begin
  if p_refusal is null and v_target is not null then
    case v_target ->> 'type'
      when 'Transaction' then
        select to_jsonb(t) into v_row from transaction t where t.platform_id = p_platform and t.id = v_id;
      when 'Quote' then
        select to_jsonb(q) into v_row from quote q where q.platform_id = p_platform and q.id = v_id;
      when 'Customer' then
        select to_jsonb(c) into v_row from customer c where c.platform_id = p_platform and c.id = v_id;
      when 'Account' then
        select account_snapshot(a) into v_row from account a where a.platform_id = p_platform and a.id = v_id;
    end case;
    v_result := jsonb_build_object('type', v_target -> 'type', 'row', v_row);
  end if;
  -- Refusals with status 403 or 404 are not stored, so that a later call with the same key may succeed.
  if v_claim is not null
     and (p_refusal is null or p_refusal ->> 'code' not in ('USER_NOT_READY', 'CUSTOMER_FROZEN', 'ACCOUNT_FROZEN', 'LIMIT_EXCEEDED', 'APPROVAL_REQUIRED', 'FORBIDDEN', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND', 'LOOKUP_REQUEST_NOT_FOUND')) then
    insert into idempotency_record (platform_id, operation, key, request_hash, refusal, result)
    values (p_platform, v_claim ->> 'operation', v_claim ->> 'key', decode(v_claim ->> 'hash', 'hex'), p_refusal, v_result);
  end if;
  return jsonb_build_object('outcome', 'now', 'refusal', p_refusal, 'result', v_result);
end
$$;
