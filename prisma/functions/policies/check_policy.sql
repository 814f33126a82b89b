-- Returns why a policy refuses a payment at a given time; null if it is allowed. p_exceeded is the number of the first
-- limit that the payment exceeds, if any. A policy that limits amounts allows only the currencies of those limits.
create or replace function check_policy(p_policy policy, p_spend jsonb, p_at timestamptz, p_exceeded int) returns jsonb
  language plpgsql stable
as $$
declare
  v_receivers text[] := p_policy.receiver_account_ids || p_policy.receiver_countries || p_policy.receiver_uma_addresses;
  v_currencies text[] := array_remove(p_policy.limit_currencies, '');
  v_maximum bigint := p_policy.limit_maxima[p_exceeded];
  v_more bigint := case p_policy.limit_currencies[p_exceeded] when '' then 1 else (p_spend ->> 'amount')::bigint end;
  v_local timestamp := p_at at time zone p_policy.time_zone;
  v_time text := to_char(v_local, 'HH24:MI');
  v_rule text;
  v_free_at timestamptz;
begin
  if p_policy.kinds <> '{}' and (p_spend ->> 'kind')::payment_kind <> all (p_policy.kinds) then
    v_rule := 'KIND';
  elsif v_receivers <> '{}' and not v_receivers && array[p_spend ->> 'account_id', p_spend ->> 'country', lower(p_spend ->> 'uma_address')] then
    v_rule := 'RECEIVER';
  elsif v_currencies <> '{}' and p_spend ->> 'currency' <> all (v_currencies) then
    v_rule := 'CURRENCY';
  -- If the hours end on the next day, it is enough to meet one of the two conditions.
  elsif (v_time >= p_policy.hours_from)::int + (v_time < p_policy.hours_to)::int <= (p_policy.hours_from < p_policy.hours_to)::int then
    v_rule := 'HOURS';
    v_free_at := (v_local::date + p_policy.hours_from::time + case when v_time < p_policy.hours_from then '0' else '1 day' end::interval)
      at time zone p_policy.time_zone;
  elsif p_exceeded is not null then
    v_rule := 'LIMIT';
    v_free_at := case when v_more <= v_maximum then frees_at(p_policy, p_exceeded, p_at, p_policy.used[p_exceeded] + v_more - v_maximum) end;
  else
    return null;
  end if;
  return jsonb_build_object(
    'code', 'LIMIT_EXCEEDED', 'id', p_policy.id, 'subjectType', p_policy.subject_type, 'subjectId', p_policy.subject_id, 'rule', v_rule,
    'freeAt', v_free_at, 'limit', case when v_rule = 'LIMIT' then limit_state(p_policy, p_exceeded, p_at) end);
end
$$;
