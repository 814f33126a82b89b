-- The part of check_plan for external accounts that a plan changes. A deleted account cannot change, and a frozen
-- account cannot be deleted. A change without a status keeps the current one.
create or replace function check_accounts(p_platform uuid, p_moves jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_move record;
  v_account account;
  v_other uuid;
begin
  for v_move in
    select * from jsonb_to_recordset(p_moves) as m(id uuid, "from" text[], "to" external_account_status, "set" jsonb)
  loop
    select * into v_account from account where platform_id = p_platform and id = v_move.id and kind = 'EXTERNAL';
    if not found or not v_account.status::text = any (v_move."from") then
      return jsonb_build_object('code', 'CONFLICT', 'type', 'ExternalAccount', 'id', v_move.id, 'status', v_account.status);
    end if;
    if v_account.is_deleted then
      return jsonb_build_object('code', 'CONFLICT', 'id', v_move.id, 'status', 'DELETED');
    end if;
    if v_account.frozen_at is not null and (v_move."set" ->> 'is_deleted')::boolean then
      return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'EXTERNAL', 'id', v_move.id, 'customerId', v_account.customer_id);
    end if;
    -- The owner may have registered the same account again while this one was INACTIVE.
    select a.id into v_other from account a
    where a.platform_id = p_platform and a.kind = 'EXTERNAL' and a.status <> 'INACTIVE' and v_move."to" <> 'INACTIVE' and a.id <> v_account.id
      and a.customer_id is not distinct from v_account.customer_id and a.currency = v_account.currency
      and a.account_type = v_account.account_type and a.identifier = v_account.identifier
      and a.bank is not distinct from v_account.bank limit 1;
    if found then
      return jsonb_build_object('code', 'ACCOUNT_EXISTS', 'id', v_other);
    end if;
  end loop;
  return null;
end
$$;
