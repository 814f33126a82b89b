-- The part of check_plan for accounts that a plan's payment will credit later. It prevents payments that are certain
-- to fail. Returns the refusal for the first account whose balance would exceed its bound (check_balances), or null.
-- Payments in flight count only if the balance plus the amount exceeds a tenth of the bound. Takes no lock, because the
-- bound is enforced when the money is credited, and a payment that does not fit fails then.
create or replace function check_capacity(p_platform uuid, p_capacity jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select jsonb_build_object('code', 'AMOUNT_OUT_OF_RANGE', 'id', a.id, 'limit', '9000000000000000',
                              'balance', a.posted::text, 'coming', c.coming::text, 'currency', a.currency)
    from jsonb_to_recordset(p_capacity) as r(account uuid, amount bigint)
    join account a on a.platform_id = p_platform and a.id = r.account,
    lateral (
      select r.amount + case when a.posted + r.amount <= 900000000000000 then 0 else (
        -- Finds payments in flight through their open orders, which are few even if the account has a long history.
        select coalesce(sum(t.received_amount), 0)
        from rail_order o join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
        where o.due_at is not null and o.platform_id = p_platform and t.destination_account_id = a.id
          and t.status in ('PENDING', 'PROCESSING')) end as coming
    ) c
    where a.posted + c.coming > 9000000000000000 limit 1);
end
$$;
