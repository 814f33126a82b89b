-- Several plans that happen together or not at all, such as the two sides of a payment between platforms: a list of
-- {platform, plan}, without idempotency claims. All are checked before any is applied. Returns the first refusal, or null.
-- Planned as commit_plan is.
create or replace function commit_group(p_group jsonb) returns jsonb
  language plpgsql
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = off
as $$
declare
  v_item jsonb;
  v_refusal jsonb;
begin
  for v_item in select * from jsonb_array_elements(p_group) loop
    v_refusal := check_plan((v_item ->> 'platform')::uuid, v_item -> 'plan');
    if v_refusal is not null then
      return v_refusal;
    end if;
  end loop;
  for v_item in select * from jsonb_array_elements(p_group) loop
    perform apply_plan((v_item ->> 'platform')::uuid, v_item -> 'plan');
  end loop;
  return null;
end
$$;
