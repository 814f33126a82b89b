-- The part of check_plan for accounts whose balances a plan changes. No balance may fall below zero or exceed its
-- bound. The balance of a frozen account, or of a frozen customer's account, may not fall. Freezing also locks the
-- account, so a payment precedes the freeze only if it locks the account first. If a plan credits money and sends it
-- on, the balance does not count as falling. A deleted customer's balance may not rise for any reason (decision 36);
-- deletion also locks the account. A balance has the same bound as an amount, 9,000,000,000,000,000 smallest units,
-- which a JSON number represents exactly. New money must fit below the bound even if the same plan sends it on, because
-- a refund would return it to this account. An exempt leg (a refund, or the platform's fee for a delivered payment) may
-- exceed the bound, because refusing it would not undo the payment. Each such payment adds at most its own amount to
-- the excess, but many payments can be in flight at once. So a higher bound applies to exempt legs:
-- 9,000,000,000,000,000,000, a thousand times the usual one. A refund beyond that is held in SUSPENSE
-- (src/domain/settlement/outcomes.ts), so no balance reaches 2^63 and no refund is retried forever. p_moved contains
-- the amounts that the batch's earlier groups will add to balances, as {account: amount}. It may be null if no two
-- groups move money on the same account.
create or replace function check_balances(p_platform uuid, p_journals jsonb, p_moved jsonb) returns jsonb
  language plpgsql
as $$
declare
  v_account record;
begin
  if not p_journals @? '$[*].legs[*].account' then
    return null;
  end if;
  for v_account in
    select a.id, a.posted + coalesce((p_moved ->> a.id::text)::bigint, 0) as posted, a.currency, a.customer_id, a.frozen_at, c.frozen_at as owner_frozen_at, c.is_deleted as owner_is_deleted,
      m.change, m.coming, m.bound
    from (
      select l.account, sum(l.amount) as change,
        -- Exempt legs count only if there is no new money. Otherwise, the lower bound applies, and a balance within it
        -- is far below the bound for exempt legs.
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
