-- The part of check_plan for accounts whose balances a plan changes: none may go below zero, and none above its bound. The
-- balance of a frozen account, or of a frozen customer, does not fall. Whoever freezes one locks the account
-- first, so the lock decides whether a payment was before. What is credited and sent on in one plan is no fall.
-- The balance of a deleted customer does not rise, whatever the money is (decision 36). The deletion locks the account, too.
-- A balance is at most 9,000,000,000,000,000 smallest units, like an amount: a JSON number holds it exactly. The bound
-- is for new money and holds right after the credit, even where the same plan sends the money on: its refund would
-- leave it here.
-- An exempt leg (a refund, or the fee of the platform for a delivered payment) may exceed the bound, because refusing
-- it would undo nothing. Only money that was sent away and meanwhile replaced by new money can exceed it, so by one
-- payment at a time. But a thousand payments can be under way at once. So exempt legs stop at
-- 9,000,000,000,000,000,000, a thousand times the bound. Then a refund waits in SUSPENSE
-- (src/domain/settlement/refused-credit.ts), no balance comes near 2^63, and no retry goes on for ever.
create or replace function check_balances(p_platform uuid, p_journals jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_account record;
begin
  if not p_journals @? '$[*].legs[*].account' then
    return null;
  end if;
  for v_account in
    select a.id, a.posted, a.currency, a.customer_id, a.frozen_at, c.frozen_at as owner_frozen_at, c.is_deleted as owner_is_deleted,
      m.change, m.coming, m.bound
    from (
      select l.account, sum(l.amount) as change,
        -- Where the new money fits, exempt legs stay far below their own bound.
        coalesce(sum(l.amount) filter (where l.amount > 0 and l.exempt is not true), sum(l.amount) filter (where l.amount > 0)) as coming,
        case when bool_or(l.amount > 0 and l.exempt is not true) then 9000000000000000 else 9000000000000000000 end as bound
      from jsonb_to_recordset(jsonb_path_query_array(p_journals, '$[*].legs[*] ? (exists (@.account))'))
        as l(account uuid, amount numeric, exempt boolean)
      group by l.account
    ) m
    join account a on a.platform_id = p_platform and a.id = m.account
    left join customer c on c.platform_id = a.platform_id and c.id = a.customer_id
    order by a.id
  loop
    if v_account.change < 0 and v_account.frozen_at is not null then
      return jsonb_build_object('code', 'ACCOUNT_FROZEN', 'kind', 'INTERNAL', 'id', v_account.id, 'customerId', v_account.customer_id);
    end if;
    if v_account.change < 0 and v_account.owner_frozen_at is not null then
      return jsonb_build_object('code', 'CUSTOMER_FROZEN', 'id', v_account.customer_id);
    end if;
    if v_account.change > 0 and v_account.owner_is_deleted then
      return jsonb_build_object('code', 'CUSTOMER_DELETED', 'id', v_account.customer_id);
    end if;
    if v_account.change < 0 and v_account.posted + v_account.change < 0 then
      return jsonb_build_object('code', 'INSUFFICIENT_BALANCE', 'id', v_account.id, 'currency', v_account.currency,
                                'spendable', v_account.posted::text, 'needed', (-v_account.change)::text);
    end if;
    if v_account.posted + v_account.coming > v_account.bound then
      return jsonb_build_object('code', 'AMOUNT_OUT_OF_RANGE', 'id', v_account.id, 'currency', v_account.currency,
                                'limit', v_account.bound::text, 'balance', v_account.posted::text, 'coming', v_account.coming::text);
    end if;
  end loop;
  return null;
end
$$;
