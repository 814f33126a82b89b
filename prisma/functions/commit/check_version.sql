-- The part of check_plan for the row version that the caller of a command expects. If the version differs, the row
-- has changed since the caller read it. lock_plans has locked the row, like every row that a plan changes.
create or replace function check_version(p_platform uuid, p_expected jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_id uuid := p_expected ->> 'id';
  v_version int;
begin
  case p_expected ->> 'type'
    when 'Customer' then select version into v_version from customer where platform_id = p_platform and id = v_id;
    when 'Account' then select version into v_version from account where platform_id = p_platform and id = v_id;
    when 'Quote' then select version into v_version from quote where platform_id = p_platform and id = v_id;
    when 'Transaction' then select version into v_version from transaction where platform_id = p_platform and id = v_id;
  end case;
  return case when v_version <> (p_expected ->> 'version')::bigint then
    jsonb_build_object('code', 'OTHER_VERSION', 'type', p_expected ->> 'type', 'id', v_id, 'version', v_version) end;
end
$$;
