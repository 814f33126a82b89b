-- One command, whole or not at all: its idempotency claim, the state it changes, the money it moves, the events (by
-- trigger) and the outcome that a repeat of the same key will be told. A second call with the key waits for the first
-- to end (at most lock_timeout), because the key is the first thing locked; its record is written once, with the outcome.
-- Every statement below is planned once per connection and kept, since planning took longer than carrying out; and by
-- keys, since the tables may have been empty then.
create or replace function commit_plan(p_platform uuid, p_plan jsonb) returns jsonb
  language plpgsql
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
as $$
declare
  v_operation text := p_plan #>> '{claim,operation}';
  v_key text := p_plan #>> '{claim,key}';
  v_hash bytea := decode(p_plan #>> '{claim,hash}', 'hex');
  v_lock bigint;
  v_first_hash bytea;
  v_refusal jsonb;
  v_result jsonb;
begin
  if v_key is not null then
    -- Two keys that share a lock by chance only wait for each other. Asked first without waiting, as an expression costs less.
    v_lock := hashtextextended(p_platform::text || v_operation || ' ' || v_key, 0);
    if not pg_try_advisory_xact_lock(v_lock) then
      perform pg_advisory_xact_lock(v_lock);
    end if;
    select request_hash, refusal, result into v_first_hash, v_refusal, v_result from idempotency_record
    where platform_id = p_platform and operation = v_operation and key = v_key;
    if found then
      if v_first_hash <> v_hash then
        return jsonb_build_object('outcome', 'mismatch');
      end if;
      return jsonb_build_object('outcome', 'first', 'refusal', v_refusal, 'result', v_result);
    end if;
  end if;

  v_refusal := check_plan(p_platform, p_plan);
  if v_refusal is null then
    v_result := apply_plan(p_platform, p_plan);
  end if;

  -- Answers with status 403 or 404 are not kept: a later try with the key may succeed.
  if v_key is not null
     and (v_refusal is null or v_refusal ->> 'code' not in ('USER_NOT_READY', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND')) then
    insert into idempotency_record (platform_id, operation, key, request_hash, refusal, result)
    values (p_platform, v_operation, v_key, v_hash, v_refusal, v_result);
  end if;

  return jsonb_build_object('outcome', 'now', 'refusal', v_refusal, 'result', v_result);
end
$$;
