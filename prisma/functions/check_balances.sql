-- The part of check_plan for accounts whose balances a plan changes: none may go below zero, and none above its bound
-- (check_balance). The balance of a frozen account, or of a frozen customer, does not fall. Whoever freezes one locks the account
-- first, so the lock decides whether a payment was before. What is credited and sent on in one plan is no fall.
-- The balance of a deleted customer does not rise, whatever the money is (decision 36). The deletion locks the account, too.
create or replace function check_balances(p_platform uuid, p_journals jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_legs jsonb;
  v_accounts uuid[] := '{}';
  v_changes bigint[] := '{}';
  v_account record;
  v_change numeric;
  v_gain numeric;
  v_refusal jsonb;
begin
  -- The change of each account, in one pass over the legs.
  for v_journal in 0 .. jsonb_array_length(p_journals) - 1 loop
    v_legs := p_journals -> v_journal -> 'legs';
    for v_at in 0 .. jsonb_array_length(v_legs) - 1 loop
      continue when not v_legs -> v_at ? 'account';
      v_accounts := v_accounts || (v_legs -> v_at ->> 'account')::uuid;
      v_changes := v_changes || (v_legs -> v_at ->> 'amount')::bigint;
    end loop;
  end loop;
  if cardinality(v_accounts) = 0 then
    return null;
  end if;
  -- By their keys: with a join, the planner would read all accounts of the platform.
  for v_account in
    select a.id, a.posted, a.currency, a.customer_id, a.frozen_at, c.frozen_at as owner_frozen_at, c.is_deleted as owner_is_deleted
    from account a left join customer c on c.platform_id = a.platform_id and c.id = a.customer_id
    where a.platform_id = p_platform and a.id = any (v_accounts) order by a.id
  loop
    v_change := 0;
    v_gain := 0;
    for v_at in 1 .. cardinality(v_changes) loop
      if v_accounts[v_at] = v_account.id then
        v_change := v_change + v_changes[v_at];
        v_gain := v_gain + greatest(v_changes[v_at], 0);
      end if;
    end loop;
    if v_change < 0 then
      if v_account.frozen_at is not null then
        return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'INTERNAL', 'id', v_account.id, 'customerId', v_account.customer_id);
      end if;
      if v_account.owner_frozen_at is not null then
        return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_account.customer_id);
      end if;
    end if;
    if v_change > 0 and v_account.owner_is_deleted then
      return jsonb_build_object('code', 'CUSTOMER_DELETED', 'id', v_account.customer_id);
    end if;
    if v_change < 0 and v_account.posted + v_change < 0 then
      return jsonb_build_object('code', 'INSUFFICIENT_BALANCE', 'id', v_account.id,
                                'spendable', v_account.posted::text, 'needed', (-v_change)::text,
                                'currency', v_account.currency);
    end if;
    if v_gain > 0 and v_account.posted + v_gain > 9000000000000000 then
      v_refusal := check_balance(v_account.id, v_account.posted, p_journals);
      if v_refusal is not null then
        return v_refusal || jsonb_build_object('currency', v_account.currency);
      end if;
    end if;
  end loop;
  return null;
end
$$;
