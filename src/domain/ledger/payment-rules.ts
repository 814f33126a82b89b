import { maxBalance } from '../../core/checks.ts';
import type { Rule, Scope } from './rule.ts';

/**
 * A payment's journals must add up, on every account, to the sums that its row and status require. This detects money
 * that was booked to the wrong account, even though every journal balances.
 */

/** `share` is the platform's share of the fees, paid out of FEES. `deposits` is the number of deposit journals. */
const booked = ({ journalsOfPayments }: Scope) => `booked as materialized (
  select j.platform_id, j.transaction_id, p.account_id, p.system, p.currency, sum(p.amount) as amount,
    coalesce(-sum(p.amount) filter (where j.kind = 'deposit' and p.system = 'OUTSIDE'), 0) as deposited,
    count(distinct j.id) filter (where j.kind = 'deposit' and p.system = 'OUTSIDE') as deposits,
    coalesce(-sum(p.amount) filter (where j.kind in ('delivery', 'return') and p.system = 'FEES'), 0) as share
  from ${journalsOfPayments} j join posting p on p.platform_id = j.platform_id and p.journal_id = j.id
  group by j.platform_id, j.transaction_id, p.account_id, p.system, p.currency
)`;

/**
 * Selects each payment with the facts that determine its legs.
 * - `funding_account_id`: the account that pays an outgoing payment. If the source is external, this is the internal
 *   account of the source's owner.
 * - `debited`: the account must have been debited. A transfer is debited when it is created, and a quote's payment when
 *   the quote is executed. A payment that awaits approval is debited if a policy reserves its money. A payment by pull
 *   is debited once the pull has settled and the payment has a PAYOUT order; if it fails earlier, it has no refund.
 * - `gone`: the payment has been debited, and the money has not been returned.
 * - `locked`: the amount that the rail takes, in the sending currency, if it converts the money itself.
 * - `waiting`: the amount that waits in CLEARING until the rail has moved it.
 * - `arrives_here`: the payment itself credits an internal account.
 */
const payment = ({ payments }: Scope) => `payment as materialized (
  select t.*, t.debited and not (t.ended_badly and t.refund_settled_at is not null) as gone,
    coalesce(t.locked, t.received_amount) as waiting,
    case when t.locked is null then t.received_currency else t.sent_currency end as waiting_currency
  from (
    select t.platform_id, t.id, t.type, t.status, t.sent_amount, t.sent_currency, t.received_amount, t.received_currency,
      coalesce(t.fees, 0) as fees, t.refund_reference, t.refund_amount, t.refund_settled_at, t.destination_account_id, t.settled_at,
      t.status in ('FAILED', 'REJECTED', 'REFUNDED', 'EXPIRED') as ended_badly,
      t.type = 'OUTGOING' and case
        when t.status = 'CREATED' then exists (
          select from journal j where j.platform_id = t.platform_id and j.transaction_id = t.id and j.kind = 'debit')
        when t.status = 'PENDING' then t.quote_id is null
        when t.status = 'PROCESSING' and s.kind = 'EXTERNAL' then exists (
          select from rail_order o where o.platform_id = t.platform_id and o.transaction_id = t.id and o.kind = 'PAYOUT')
        when t.status in ('PROCESSING', 'COMPLETED', 'REFUNDED') then true
        when t.status in ('FAILED', 'REJECTED', 'EXPIRED') then t.refund_reference is not null
        else false end as debited,
      coalesce(q.source_kind::text, s.kind::text) as paid_from, coalesce(q.platform_fee, 0) as platform_fee,
      (select (o.rate_lock ->> 'sent')::bigint from rail_order o where o.platform_id = t.platform_id and o.transaction_id = t.id
        and o.rate_lock is not null) as locked,
      case when s.kind = 'INTERNAL' then s.id else (
        select f.id from account f
        where f.platform_id = t.platform_id and f.kind = 'INTERNAL' and f.currency = t.sent_currency
          -- Unlike IS NOT DISTINCT FROM, both = and IS NULL can use the index.
          and case when s.id is null then t.customer_id else s.customer_id end = f.customer_id
        union all select f.id from account f
        where f.platform_id = t.platform_id and f.kind = 'INTERNAL' and f.currency = t.sent_currency
          and f.customer_id is null and case when s.id is null then t.customer_id else s.customer_id end is null) end as funding_account_id,
      s.kind as source_account_kind,
      d.kind = 'INTERNAL' and (t.type = 'INCOMING' or d.customer_id is not distinct from t.customer_id) as arrives_here,
      pa.id as platform_account_id,
      coalesce(b.deposited, 0) as deposited, coalesce(b.deposits, 0) as deposits, coalesce(b.share, 0) as share
    from ${payments} t
    left join quote q on q.platform_id = t.platform_id and q.id = t.quote_id
    left join account s on s.platform_id = t.platform_id and s.id = t.source_account_id
    left join account d on d.platform_id = t.platform_id and d.id = t.destination_account_id
    left join account pa on pa.platform_id = t.platform_id and pa.kind = 'INTERNAL' and pa.customer_id is null
      and pa.currency = t.sent_currency and q.platform_fee > 0
    left join (
      select platform_id, transaction_id, sum(deposited) as deposited, sum(deposits) as deposits, sum(share) as share
      from booked group by platform_id, transaction_id
    ) b on b.platform_id = t.platform_id and b.transaction_id = t.id
  ) t
)`;

const expected = `expected as (
  select p.platform_id, p.id, e.account_id, e.system, e.currency, e.amount
  from payment p cross join lateral (values
    (p.funding_account_id, null::system_account, p.sent_currency, p.deposited - case when p.gone then p.sent_amount else 0 end),
    (p.platform_account_id, null, p.sent_currency, p.share),
    (null, 'OUTSIDE', p.sent_currency, -p.deposited),
    (null, 'FEES', p.sent_currency, case when not p.gone then 0 when p.locked is null then p.fees else p.sent_amount - p.locked end - p.share),
    (null, 'LIQUIDITY', p.sent_currency, case when p.gone and p.locked is null then p.sent_amount - p.fees else 0 end),
    (null, 'LIQUIDITY', p.received_currency, case when p.gone and p.locked is null then -p.received_amount else 0 end),
    (null, 'CLEARING', p.waiting_currency,
      case when p.debited and p.status in ('CREATED', 'PENDING', 'PROCESSING') then p.waiting else 0 end),
    (null, 'SUSPENSE', p.waiting_currency, case when p.gone and p.ended_badly then p.waiting else 0 end),
    (case when p.arrives_here then p.destination_account_id end, case when p.arrives_here then null else 'OUTSIDE'::system_account end,
      case when p.arrives_here then p.received_currency else p.waiting_currency end,
      case when p.status <> 'COMPLETED' then 0 when p.arrives_here then p.received_amount else p.waiting end),
    -- Money that the rail converts for an internal account goes out in one currency, and comes back in the other.
    (null, 'OUTSIDE', p.sent_currency, case when p.status = 'COMPLETED' and p.arrives_here then coalesce(p.locked, 0) else 0 end),
    (null, 'OUTSIDE', p.received_currency,
      case when p.status = 'COMPLETED' and p.arrives_here and p.locked is not null then -p.received_amount else 0 end)
  ) as e(account_id, system, currency, amount)
  where p.type = 'OUTGOING' and e.amount <> 0
  union all
  select p.platform_id, p.id, e.account_id, e.system, p.received_currency, e.amount
  from payment p cross join lateral (values
    (p.destination_account_id, null::system_account, p.received_amount),
    (null, 'OUTSIDE', -p.received_amount)
  ) as e(account_id, system, amount)
  where p.type = 'INCOMING' and p.status = 'COMPLETED' and p.arrives_here
  union all
  -- The difference between the moved and the promised amount, if an operator has settled the payment (decision 95).
  select p.platform_id, p.id, null, e.system, d.currency, e.sign * d.left_beyond
  from rail_case c
  join payment p on p.platform_id = c.platform_id and p.id = c.transaction_id
  join rail_order o on o.platform_id = c.platform_id and o.id = c.order_id
  cross join lateral (values
    (c.moved_out - p.waiting, p.waiting_currency),
    (case when o.kind = 'COLLECTION' and p.type = 'OUTGOING' then p.sent_amount else p.received_amount end - c.moved_in,
      case when o.kind = 'COLLECTION' and p.type = 'OUTGOING' then p.sent_currency else p.received_currency end)
  ) as d(left_beyond, currency)
  cross join lateral (values ('OUTSIDE'::system_account, 1), ('DIFFERENCES', -1)) as e(system, sign)
  where d.left_beyond <> 0
)`;

export const paymentRules: readonly Rule[] = [
  {
    rule: "on every account, a payment's postings sum to what its row and status require (a row's `booked` against its `required`)",
    ofPayments: true,
    offenders: (scope) => `with ${booked(scope)}, ${payment(scope)}, ${expected}
      select platform_id, transaction_id, account_id, system, currency, sum(booked) as booked, sum(required) as required from (
        select platform_id, transaction_id, account_id, system, currency, amount as booked, 0::numeric as required from booked
        union all select platform_id, id, account_id, system, currency, 0, amount from expected
      ) legs
      group by platform_id, transaction_id, account_id, system, currency having sum(booked) <> sum(required)`,
  },
  {
    rule: 'a payment takes at most one deposit, which is for the amount due, or for any amount if the payment was not executed',
    ofPayments: true,
    offenders: (scope) => `with ${booked(scope)}, ${payment(scope)}
      select platform_id, id as transaction_id, status, paid_from, deposits, deposited, sent_amount from payment
      where deposits > 1 or type = 'OUTGOING' and not case
        when paid_from = 'REALTIME_FUNDING' and debited then deposited in (sent_amount, 2 * sent_amount)
        when paid_from = 'REALTIME_FUNDING' and status in ('FAILED', 'EXPIRED') then deposited >= 0
        when source_account_kind = 'EXTERNAL' and debited then deposited = sent_amount
        else deposited = 0 end`,
  },
  {
    rule: "the platform's part of the fees is paid in full when the payment is delivered, if the platform's account can hold it",
    ofPayments: true,
    offenders: (scope) => `with ${booked(scope)}, ${payment(scope)}
      select platform_id, id as transaction_id, status, platform_fee, share from payment p
      where share <> 0 and (share <> platform_fee or status not in ('COMPLETED', 'REFUNDED'))
        or share <> platform_fee and status = 'COMPLETED' and platform_account_id is not null and not exists (
          select from posting l where l.platform_id = p.platform_id and l.account_id = p.platform_account_id
            and l.balance_after > ${maxBalance} - p.platform_fee)`,
  },
  {
    rule: 'a refund is the full sent amount of an outgoing payment that did not arrive, and is booked once it is paid',
    ofPayments: true,
    offenders: (
      scope,
    ) => `select platform_id, id as transaction_id, type, status, sent_amount, refund_reference, refund_amount, refund_settled_at
      from ${scope.payments} t
      where refund_reference is not null
          and (type <> 'OUTGOING' or status not in ('FAILED', 'REJECTED', 'REFUNDED', 'EXPIRED') or refund_amount is distinct from sent_amount)
        or status in ('FAILED', 'REJECTED', 'REFUNDED', 'EXPIRED') and (refund_settled_at is not null) is distinct from exists (
          select from journal j where j.platform_id = t.platform_id and j.transaction_id = t.id and j.kind = 'refund')`,
  },
  {
    rule: 'a transfer between internal accounts has one journal (two if its money was reserved), is COMPLETED at once or when it is approved, and arrives with the same amount',
    ofPayments: true,
    offenders: (
      scope,
    ) => `select t.platform_id, t.id as transaction_id, t.type, t.status, t.sent_amount, j.journals, j.transfers,
        i.id as arrived_as, i.status as arrived_status, i.received_amount as arrived_amount
      from ${scope.payments} t
      left join account s on s.platform_id = t.platform_id and s.id = t.source_account_id
      left join account d on d.platform_id = t.platform_id and d.id = t.destination_account_id
      left join arrival a on a.sender_platform_id = t.platform_id and a.sender_transaction_id = t.id
      left join transaction i on i.platform_id = a.platform_id and i.id = a.transaction_id
      cross join lateral (
        select count(*) as journals, count(*) filter (where j.kind = 'transfer') as transfers
        from journal j where j.platform_id = t.platform_id and j.transaction_id = t.id) j
      where (j.transfers > 0 or (t.type = 'OUTGOING' and t.quote_id is null and d.kind = 'INTERNAL'))
        and not coalesce(t.type = 'OUTGOING' and t.quote_id is null
          and s.kind = 'INTERNAL' and d.kind = 'INTERNAL' and s.currency = d.currency and s.id <> d.id and j.transfers <= 1
          and case when t.status in ('CREATED', 'REJECTED', 'EXPIRED') then t.approval_due_at is not null and i.id is null
            -- If the money was reserved, the debit and the delivery are separate journals.
            else t.status = 'COMPLETED' and j.journals = 2 - j.transfers and (j.transfers = 1 or t.decided_by_id is not null)
          and i.type = 'INCOMING' and i.status = 'COMPLETED' and i.destination_account_id = t.destination_account_id
          and (i.received_amount, i.received_currency) = (t.sent_amount, t.sent_currency) end, false)`,
  },
  {
    rule: 'a payment that needed approval began only after it was approved by a token that is neither the requesting token nor related to it',
    ofPayments: true,
    offenders: ({
      payments,
      eventsOfPayments,
    }) => `select t.platform_id, t.id as transaction_id, t.status, t.created_by, t.decided_by_id
      from ${payments} t
      where t.created_by is not null and t.status not in ('CREATED', 'REJECTED', 'EXPIRED') and case when t.decided_by_id is null
        then (t.platform_id, t.id) in (select e.platform_id, e.transaction_id from ${eventsOfPayments} e where e.status = 'CREATED')
        else t.decided_by_id = any (makers_of(t.platform_id, t.created_by))
          or split_part(t.created_by, ':', 2)::uuid = any (token_makers(t.platform_id, t.decided_by_id)) end`,
  },
  {
    rule: 'a journal without a payment is money that arrived from outside at an internal account, or an adjustment',
    offenders: (
      scope,
    ) => `select j.platform_id, j.id as journal_id, j.kind, p.leg, p.account_id, p.system, p.currency, p.amount
      from ${scope.journals} j join ${scope.postings} p on p.platform_id = j.platform_id and p.journal_id = j.id
      where j.transaction_id is null and j.kind <> 'adjustment' and not case when p.account_id is null then p.system = 'OUTSIDE' and p.amount < 0 else p.amount > 0 end`,
  },
];
