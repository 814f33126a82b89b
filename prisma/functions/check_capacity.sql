-- The part of check_plan for accounts that the payment of a plan will credit later, so that a payment that cannot end
-- well does not begin. Returns the refusal for the first account whose balance would then exceed its bound
-- (check_balance), or null. Payments under way are counted only where amount and balance come near the bound. No lock
-- is taken: the bound is enforced when the money is credited, and a payment that does not fit then fails.
create or replace function check_capacity(p_platform uuid, p_capacity jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  v_credit record;
  v_posted bigint;
  v_currency text;
  v_coming numeric;
begin
  for v_credit in select * from jsonb_to_recordset(p_capacity) as r(account uuid, amount bigint) loop
    select posted, currency into v_posted, v_currency from account where platform_id = p_platform and id = v_credit.account;
    v_coming := v_credit.amount;
    if v_posted + v_coming > 900000000000000 then
      -- Through the open orders, which are few, however long the history of the account is.
      v_coming := v_coming + (
        select coalesce(sum(t.received_amount), 0)
        from rail_order o join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
        where o.due_at is not null and o.platform_id = p_platform and t.destination_account_id = v_credit.account
          and t.status in ('PENDING', 'PROCESSING'));
    end if;
    if v_posted + v_coming > 9000000000000000 then
      return jsonb_build_object('code', 'AMOUNT_OUT_OF_RANGE', 'id', v_credit.account, 'limit', '9000000000000000',
                                'balance', v_posted::text, 'coming', v_coming::text, 'currency', v_currency);
    end if;
  end loop;
  return null;
end
$$;
