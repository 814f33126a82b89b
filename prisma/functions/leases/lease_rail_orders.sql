-- Leases up to p_limit due orders for p_lease_ms, and returns them with all the data that their outcomes may need. No
-- other worker takes them meanwhile. The statement is planned once per connection. It joins the tables by key, in the
-- sequence in which they are written: an order needs about twenty rows out of millions, and letting the planner choose
-- the sequence took far longer than the joins.
create or replace function lease_rail_orders(p_limit int, p_lease_ms bigint) returns table (
  platform_id uuid, id uuid, kind rail_order_kind, attempts int, scenario jsonb, environment environment, new_id uuid,
  leased_until text, age_ms float8, transaction json, platform_fee bigint, sender_information jsonb,
  sender_uma_address text, source json, destination json, funding_account_id uuid, platform_account_id uuid,
  can_return_fee boolean, receiver_platform_id uuid, receiver_customer_id uuid, receiver_is_active boolean,
  deposit_account_id uuid, incoming json, incoming_destination json, approval_left_ms float8,
  approval_deferred boolean, rate_lock jsonb
)
  language plpgsql
  set plan_cache_mode = 'force_generic_plan'
  set join_collapse_limit = 1
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
begin
  return query
  with leased as (
    update rail_order o set due_at = clock_ms() + p_lease_ms * interval '1 millisecond', attempts = o.attempts + 1
    where o.ctid = any (array(
      select d.ctid from rail_order d where d.due_at <= v_now order by d.due_at limit p_limit for update skip locked))
    returning o.*
  )
  select o.platform_id, o.id, o.kind, o.attempts, o.scenario, p.environment, uuid_v7(),
    o.due_at::text, date_part('epoch', clock_timestamp() - o.created_at) * 1000,
    to_json(t), q.platform_fee, q.sender_information, c.uma_address,
    case when s.id is not null then account_party(s) end,
    case when d.id is not null then account_party(d) end,
    -- The source account if it is internal; otherwise, its owner's internal account in the sent currency.
    case when s.kind = 'INTERNAL' then s.id else coalesce(
      (select f.id from account f where f.platform_id = t.platform_id and f.kind = 'INTERNAL' and f.currency = t.sent_currency
         and f.customer_id = case when s.id is null then t.customer_id else s.customer_id end),
      (select f.id from account f where f.platform_id = t.platform_id and f.kind = 'INTERNAL' and f.currency = t.sent_currency
         and f.customer_id is null and case when s.id is null then t.customer_id else s.customer_id end is null),
      t.source_account_id) end,
    -- A frozen account is not debited unless the same plan credits it with more.
    pa.id, pa.posted >= q.platform_fee and (pa.frozen_at is null or pa.id = s.id),
    r.platform_id, r.id, not r.is_deleted and r.kyc_status in ('APPROVED', 'MANUALLY_APPROVED') and r.frozen_at is null
      and case when rd.id is null then ri.frozen_at else rd.frozen_at end is null,
    coalesce(rd.id, ri.id),
    case when i.id is not null then to_json(i) end,
    case when ia.id is not null then account_party(ia) end,
    date_part('epoch', coalesce(i.approval_due_at, t.approval_due_at) - clock_timestamp()) * 1000,
    o.approval_deferred, o.rate_lock
  from leased o
  join platform p on p.id = o.platform_id
  join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
  left join quote q on q.platform_id = t.platform_id and q.id = t.quote_id
  left join customer c on c.platform_id = t.platform_id and c.id = t.customer_id
  left join account s on s.platform_id = t.platform_id and s.id = t.source_account_id
  left join account d on d.platform_id = t.platform_id and d.id = t.destination_account_id
  left join account pa on pa.platform_id = t.platform_id and pa.kind = 'INTERNAL' and pa.customer_id is null
    and pa.currency = t.sent_currency and q.platform_fee > 0
  left join lookup l on l.platform_id = q.platform_id and l.id = q.lookup_id
  left join customer r on r.platform_id = l.receiver_platform_id and r.id = l.receiver_customer_id
  left join account rd on rd.platform_id = r.platform_id and rd.customer_id = r.id and rd.default_uma_deposit_account
    and rd.status = 'ACTIVE' and rd.currency = t.received_currency
  left join account ri on ri.platform_id = r.platform_id and ri.customer_id = r.id and ri.kind = 'INTERNAL'
    and ri.currency = t.received_currency
  left join arrival ar on ar.sender_platform_id = t.platform_id and ar.sender_transaction_id = t.id
  left join transaction i on i.platform_id = ar.platform_id and i.id = ar.transaction_id
  left join account ia on ia.platform_id = i.platform_id and ia.id = i.destination_account_id
  order by o.id;
end
$$;
