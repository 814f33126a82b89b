-- Freezes or unfreezes a customer or an account, and records the operator's act (decision 78). Returns null for an
-- unknown id; otherwise the platform, the time of the freeze, and whether this call changed anything. Takes locks in
-- the same order as lock_plans. Freezing a customer also locks its internal accounts, because a payment from such an
-- account may lock only the account.
create or replace function set_frozen(p_noun text, p_id uuid, p_frozen boolean, p_by text, p_reason text) returns jsonb
  language plpgsql
  security definer set search_path = public, pg_temp
as $$
declare
  v_platform uuid;
  v_customer customer;
  v_account account;
  v_before timestamptz;
  v_after timestamptz;
  v_type text;
begin
  if p_noun = 'CUSTOMER' then
    select c.platform_id into v_platform from platform p join customer c on c.platform_id = p.id and c.id = p_id;
    select * into v_customer from customer where platform_id = v_platform and id = p_id for no key update;
    if not found then
      return null;
    end if;
    perform from account where platform_id = v_platform and customer_id = p_id and kind = 'INTERNAL'
    order by platform_id, id for no key update;
    v_before := v_customer.frozen_at;
    v_type := 'Customer';
  else
    select a.platform_id into v_platform from platform p join account a on a.platform_id = p.id and a.id = p_id
      and a.kind::text = p_noun;
    select * into v_account from account where platform_id = v_platform and id = p_id for no key update;
    if not found then
      return null;
    end if;
    v_before := v_account.frozen_at;
    v_type := case p_noun when 'INTERNAL' then 'InternalAccount' else 'ExternalAccount' end;
  end if;
  if (v_before is not null) = p_frozen then
    return jsonb_build_object('platform', v_platform, 'since', v_before, 'changed', false);
  end if;
  v_after := case when p_frozen then clock_ms() end;
  if p_noun = 'CUSTOMER' then
    update customer set frozen_at = v_after where platform_id = v_platform and id = p_id;
  else
    update account set frozen_at = v_after where platform_id = v_platform and id = p_id;
  end if;
  insert into operator_act (platform_id, operator, act, subject, reason, before, after)
  values (v_platform, p_by, lower(case p_noun when 'CUSTOMER' then p_noun else 'ACCOUNT' end) || case when p_frozen then ' freeze' else ' thaw' end,
          v_type || ':' || p_id, p_reason, jsonb_build_object('frozenAt', v_before), jsonb_build_object('frozenAt', v_after));
  return jsonb_build_object('platform', v_platform, 'since', coalesce(v_after, v_before), 'changed', true);
end
$$;
