-- Checks whether a locked policy allows a payment at a given time. Returns a refusal, which has a `code`, or else the
-- updated usage of the policy's windows for the caller to store. A policy that limits amounts allows only the
-- currencies of those limits.
create or replace function check_policy(p_policy policy, p_spend jsonb, p_at timestamptz) returns jsonb
  language plpgsql stable
as $$
declare
  v_currency text := p_spend ->> 'currency';
  v_used jsonb := p_policy.used;
  v_receivers text[] := p_policy.receiver_account_ids || p_policy.receiver_countries || p_policy.receiver_uma_addresses;
  v_local timestamp;
  v_time text;
  v_rule text;
  v_free_at timestamptz;
  v_limit jsonb;
  v_key text;
  v_most numeric;
  v_more numeric;
  v_start timestamptz;
  v_spent numeric;
begin
  if cardinality(p_policy.kinds) > 0 and (p_spend ->> 'kind')::payment_kind <> all (p_policy.kinds) then
    v_rule := 'KIND';
  elsif v_receivers <> '{}' and not v_receivers && array[p_spend ->> 'account_id', p_spend ->> 'country', lower(p_spend ->> 'uma_address')] then
    v_rule := 'RECEIVER';
  elsif p_policy.limits @? '$[*].currency' and not p_policy.limits @> jsonb_build_array(jsonb_build_object('currency', v_currency)) then
    v_rule := 'CURRENCY';
  elsif p_policy.hours_from is not null then
    v_local := p_at at time zone p_policy.time_zone;
    v_time := to_char(v_local, 'HH24:MI');
    -- If the hours end on the next day, one of the two conditions is enough.
    if (v_time >= p_policy.hours_from)::int + (v_time < p_policy.hours_to)::int <= (p_policy.hours_from < p_policy.hours_to)::int then
      v_rule := 'HOURS';
      v_free_at := (v_local::date + p_policy.hours_from::time + case when v_time < p_policy.hours_from then '0' else '1 day' end::interval)
        at time zone p_policy.time_zone;
    end if;
  end if;
  for v_at in 0 .. jsonb_array_length(p_policy.limits) - 1 loop
    exit when v_rule is not null;
    v_limit := p_policy.limits -> v_at;
    continue when v_limit ->> 'currency' <> v_currency;
    v_most := coalesce(v_limit ->> 'amount', v_limit ->> 'payments');
    v_more := case when v_limit ? 'payments' then 1 else (p_spend ->> 'amount')::numeric end;
    v_start := window_start(v_limit ->> 'period', p_policy.time_zone, p_at);
    v_key := concat_ws(' ', v_limit ->> 'period', v_limit ->> 'currency');
    -- The window is usually still the stored one, and a comparison costs less than a call.
    v_spent := case when v_start is null then 0
      when (v_used #>> array[v_key, 'from'])::timestamptz = v_start then (v_used #> array[v_key, 'used'])::numeric
      else spent(p_policy, v_limit, v_start) end;
    if v_spent + v_more > v_most then
      v_rule := 'LIMIT';
      v_free_at := case when v_more <= v_most then frees_at(p_policy, v_limit, p_at, v_spent + v_more - v_most) end;
    elsif v_start is not null then
      v_used := v_used || jsonb_build_object(v_key, jsonb_build_object('from', v_start, 'used', v_spent + v_more));
    end if;
  end loop;
  if v_rule is null then
    return v_used;
  end if;
  return jsonb_build_object(
    'code', 'LIMIT_EXCEEDED', 'id', p_policy.id, 'subjectType', p_policy.subject_type, 'subjectId', p_policy.subject_id, 'rule', v_rule,
    'freeAt', v_free_at, 'limit', case when v_rule = 'LIMIT' then limit_state(p_policy, v_limit, p_at) end);
end
$$;
