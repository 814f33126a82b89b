import type { Rule, Scope } from './rule.ts';

/**
 * The auditor's rules about orders between two clusters (decision 91), by the books of this one. What both books say together
 * `clusters compare` finds.
 */

/** The orders of payments, each with its payment. */
const orders = ({ payments }: Scope) =>
  `cluster_order o join ${payments} t on t.platform_id = o.platform_id and t.id = o.transaction_id`;

/**
 * The kinds of the journals that a payment has, by the direction of its order and its status. What comes back waits in suspense
 * first where it cannot be taken.
 */
const journalsOf = `(values
  ('SENT', 'PROCESSING', '{debit}'::text[]),
  ('SENT', 'COMPLETED', '{debit,delivery}'),
  ('SENT', 'FAILED', '{debit,refund}'),
  ('SENT', 'FAILED', '{debit,suspension}'),
  ('SENT', 'FAILED', '{debit,refund,resumption,suspension}'),
  ('SENT', 'REJECTED', '{debit,refund}'),
  ('SENT', 'REJECTED', '{debit,suspension}'),
  ('SENT', 'REJECTED', '{debit,refund,resumption,suspension}'),
  ('SENT', 'REFUNDED', '{debit,delivery,refund,return}'),
  ('SENT', 'REFUNDED', '{debit,delivery,return,suspension}'),
  ('SENT', 'REFUNDED', '{debit,delivery,refund,resumption,return,suspension}'),
  ('RECEIVED', 'PENDING', '{}'),
  ('RECEIVED', 'PROCESSING', '{}'),
  ('RECEIVED', 'COMPLETED', '{deposit}'),
  ('RECEIVED', 'COMPLETED', '{arrival,delivery}'),
  ('RECEIVED', 'FAILED', '{}'),
  ('RECEIVED', 'REJECTED', '{}'),
  ('RECEIVED', 'EXPIRED', '{}')
) as r(direction, status, kinds)`;

/** The auditor's rules about orders between clusters. */
export const clusterRules: readonly Rule[] = [
  {
    rule: 'an order between two clusters is that of its payment here: of its direction, its amount and its currency, and sent under its id',
    ofPayments: true,
    offenders: (scope) => `select o.platform_id, o.order_id, o.cluster, o.direction, o.amount, o.currency,
        t.id as transaction_id, t.type, t.received_amount, t.received_currency
      from ${orders(scope)}
      where (t.type = 'OUTGOING') is distinct from (o.direction = 'SENT')
        or (o.amount, o.currency) is distinct from (t.received_amount, t.received_currency)
        -- Of a platform that has moved away the orders to rails are gone.
        or exists (select from rail_order r where r.platform_id = t.platform_id and r.transaction_id = t.id)
          and not exists (select from rail_order r where r.platform_id = t.platform_id and r.transaction_id = t.id
            and case o.direction when 'SENT' then r.kind = 'PAYOUT' and r.id = o.order_id else r.kind = 'COLLECTION' end)`,
  },
  {
    rule: 'the payment of an order between two clusters has the journals that its status requires, each of the amount of the order',
    ofPayments: true,
    offenders: (scope) => `select o.platform_id, o.order_id, o.cluster, o.direction, o.amount, o.currency,
        t.id as transaction_id, t.status, b.kinds, b.amounts
      from ${orders(scope)}
      cross join lateral (
        select coalesce(array_agg(j.kind::text order by j.kind), '{}') as kinds, array_agg(abs(p.amount) || ' ' || p.currency) as amounts
        from ${scope.journalsOfPayments} j join posting p on p.platform_id = j.platform_id and p.journal_id = j.id
        where j.platform_id = t.platform_id and j.transaction_id = t.id
          and p.system = case o.direction when 'SENT' then 'CLEARING'::system_account else 'OUTSIDE' end
      ) b
      where (o.amount || ' ' || o.currency) <> any (b.amounts) or not exists (
        select from ${journalsOf} where (r.direction, r.status, r.kinds) = (o.direction::text, t.status::text, b.kinds))`,
  },
  {
    rule: 'the payment of an order between two clusters skips no status: it ends after it was sent, and arrives after it was approved',
    ofPayments: true,
    offenders: ({
      eventsOfPayments,
    }) => `select e.platform_id, o.order_id, o.cluster, o.direction, e.transaction_id, e.previous_status, e.status
      from ${eventsOfPayments} e
      join cluster_order o on o.platform_id = e.platform_id and o.transaction_id = e.transaction_id
      where e.type in ('OUTGOING_PAYMENT', 'INCOMING_PAYMENT') and e.previous_status is distinct from 'PROCESSING'
        and e.status = any (case o.direction when 'SENT' then '{COMPLETED,FAILED,REJECTED}' else '{COMPLETED}' end::text[])`,
  },
  {
    rule: 'an order of another cluster has become a payment here, or was refused',
    offenders: () => `select o.platform_id, o.order_id, o.cluster, o.amount, o.currency
      from platform p join cluster_order o on o.platform_id = p.id and o.transaction_id is null
      where o.refusal is null`,
  },
];
