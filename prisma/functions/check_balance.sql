-- The part of check_balances for an account whose balance a plan may raise above its bound. Returns the refusal, or
-- null. Called under the lock of the account, and only where all credits together would exceed the bound, which is
-- rare.
-- A balance is at most 9,000,000,000,000,000 smallest units, like an amount: a JSON number holds it exactly. The bound
-- is for new money and holds right after the credit, even where the same plan sends the money on: its refund would
-- leave it here.
-- An exempt leg (a refund, or the fee of the platform for a delivered payment) may exceed the bound, because refusing
-- it would undo nothing. Only money that was sent away and meanwhile replaced by new money can exceed it, so by one
-- payment at a time. But a thousand payments can be under way at once. So exempt legs stop at
-- 9,000,000,000,000,000,000, a thousand times the bound. Then a refund waits in SUSPENSE
-- (src/payments/settlement/refused-credit.ts), no balance comes near 2^63, and no retry goes on for ever.
create or replace function check_balance(p_account uuid, p_posted bigint, p_journals jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  v_new numeric;
  v_all numeric;
  v_limit numeric;
  v_coming numeric;
begin
  select coalesce(sum(l.amount) filter (where l.exempt is not true), 0), coalesce(sum(l.amount), 0) into v_new, v_all
  from jsonb_array_elements(p_journals) j,
    jsonb_to_recordset(j -> 'legs') as l(account uuid, amount numeric, exempt boolean)
  where l.account = p_account and l.amount > 0;
  -- Where the new money fits, exempt legs stay far below their own bound.
  v_limit := case when v_new > 0 then 9000000000000000 else 9000000000000000000 end;
  v_coming := case when v_new > 0 then v_new else v_all end;
  if v_coming > 0 and p_posted + v_coming > v_limit then
    return jsonb_build_object('code', 'AMOUNT_OUT_OF_RANGE', 'id', p_account, 'limit', v_limit::text,
                              'balance', p_posted::text, 'coming', v_coming::text);
  end if;
  return null;
end
$$;
