-- The part of check_balances for an account whose balance a plan may bring beyond its bound: tells why it may not, or null. Asked
-- under the account's lock, and only where all that comes in would be too much, which is rare.
--
-- A balance is at most 9,000,000,000,000,000 smallest units, as an amount is: a JSON number carries it exactly. The bound is
-- for new money, and holds right after it has come in, also where the same plan sends it on: its refund would leave it here.
-- What is exempt (a leg marked so: a refund, or the platform's fee of a payment that has been delivered) may go
-- beyond, since refusing it would undo nothing. Only what was sent away and made up for with new money meanwhile can do that,
-- so each time by one payment at most; yet a thousand payments can be under way at once. So what is exempt stops at
-- 9,000,000,000,000,000,000, a thousand times the bound: then a refund waits in SUSPENSE (src/payments/settlement/full-account.ts), no
-- balance comes near 2^63, and nothing is tried for ever.
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
  -- Where the new money fits, what is exempt stays far below its own bound.
  v_limit := case when v_new > 0 then 9000000000000000 else 9000000000000000000 end;
  v_coming := case when v_new > 0 then v_new else v_all end;
  if v_coming > 0 and p_posted + v_coming > v_limit then
    return jsonb_build_object('code', 'AMOUNT_OUT_OF_RANGE', 'id', p_account, 'limit', v_limit::text,
                              'balance', p_posted::text, 'coming', v_coming::text);
  end if;
  return null;
end
$$;
