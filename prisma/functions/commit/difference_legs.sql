-- Compares the amounts promised for an order with those that the provider has taken from the platform's account (p_out)
-- and paid into it (p_in), and returns legs for the difference (decision 95). If more money was taken than promised,
-- the excess is debited to DIFFERENCES; if more was received, the excess is credited. Returns an empty list if both
-- amounts are as promised.
create or replace function difference_legs(p_platform uuid, p_order uuid, p_out bigint, p_in bigint) returns jsonb
  language sql stable
as $$
  select coalesce(jsonb_agg(jsonb_build_object('system', l.system, 'currency', l.currency, 'amount', l.amount::text) order by d.side, l.leg), '[]')
  from rail_order o
  join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
  left join account a on a.platform_id = t.platform_id and a.id = t.destination_account_id,
  lateral (select o.kind = 'COLLECTION' and t.type = 'OUTGOING' as is_pull) p,
  lateral (
    -- Money taken for a payout, in the currency from which it is paid.
    select 1 as side, case when o.rate_lock is null then t.received_currency else t.sent_currency end as currency,
      p_out - coalesce((o.rate_lock ->> 'sent')::bigint, t.received_amount) as more
    where o.kind = 'PAYOUT'
    union all
    -- Money received from a collection, or from a conversion by the rail into an internal account.
    select 2, case when p.is_pull then t.sent_currency else t.received_currency end,
      case when p.is_pull then t.sent_amount else t.received_amount end - p_in
    where o.kind = 'COLLECTION' or o.rate_lock is not null and a.kind = 'INTERNAL'
  ) d,
  lateral (values (1, 'OUTSIDE', d.currency, d.more), (2, 'DIFFERENCES', d.currency, -d.more)) as l(leg, system, currency, amount)
  where o.platform_id = p_platform and o.id = p_order and d.more is distinct from 0
$$;
