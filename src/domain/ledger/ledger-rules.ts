import { paymentRules } from './payment-rules.ts';
import type { Rule } from './rule.ts';

const taken = "(case l.currency when '' then 1 else u.amount end)";
/** The time at which a payment stops counting against the limit `l` (window_start.sql, frees_at.sql). */
const windowEnd = `case l.period
  when 'PAYMENT' then u.used_at
  when 'LAST_24_HOURS' then u.used_at + interval '24 hours'
  when 'LAST_30_DAYS' then u.used_at + interval '720 hours'
  else (date_trunc(l.period, u.used_at at time zone p.time_zone) + ('1 ' || l.period)::interval - interval '1 microsecond') at time zone p.time_zone
    + interval '1 microsecond' end`;

/** These rules check all records of counted payments, not only new ones, because old records are deleted anyway. */
export const policyRules: readonly Rule[] = [
  {
    rule: 'a policy has counted the amount that a payment sends, and still counts it unless the payment was not delivered or was returned',
    offenders: () => `select u.platform_id, u.policy_id, u.transaction_id, u.amount, u.currency, u.released_at, t.status
      from policy_use u left join transaction t on t.platform_id = u.platform_id and t.id = u.transaction_id
      where (u.amount, u.currency) is distinct from (t.sent_amount, t.sent_currency)
        or u.released_at is not null and t.status not in ('FAILED', 'REJECTED', 'EXPIRED', 'REFUNDED')`,
  },
  {
    rule: 'no policy window was ever exceeded by the payments allowed since the policy was set',
    // Each payment counts from the moment when it was allowed until its window ends or the policy releases it.
    offenders: () => `select platform_id, policy_id, transaction_id, period, currency, maximum, used from (
        select u.platform_id, u.policy_id, u.transaction_id, l.period, l.currency, l.maximum, e.more > 0 and u.used_at > p.updated_at as is_allowed,
          case l.period when 'PAYMENT' then e.more
            else sum(e.more) over (partition by p.platform_id, p.id, l.number order by e.at, e.more) end as used
        from policy p cross join unnest(p.limit_periods, p.limit_currencies, p.limit_maxima) with ordinality as l(period, currency, maximum, number)
        join policy_use u on u.platform_id = p.platform_id and u.policy_id = p.id and l.currency in ('', u.currency)
        cross join lateral (values
          (u.used_at, ${taken}),
          (greatest(u.used_at, least(u.released_at, ${windowEnd})), -${taken})) as e(at, more)
      ) s where is_allowed and used > maximum`,
  },
  {
    rule: 'the stored usage of a policy window is the sum of the payments that count in it',
    offenders: () => `select p.platform_id, p.id as policy_id, l.*, s.used as counted
      from policy p cross join unnest(p.limit_periods, p.limit_currencies, p.used, p.summed_at) as l(period, currency, used, summed_at)
      cross join window_start(l.period, p.time_zone, l.summed_at) as since cross join lateral (
        select coalesce(sum(${taken}), 0) as used from policy_use u
        where u.platform_id = p.platform_id and u.policy_id = p.id and u.released_at is null
          and u.used_at >= since and l.currency in ('', u.currency)) s
      where l.used <> s.used
        -- Older rows may have been deleted, so they are not compared.
        and since > clock_timestamp() - interval '31 days'`,
  },
];

export const ledgerRules: readonly Rule[] = [
  {
    rule: 'all postings of a currency sum to zero',
    offenders: ({ postings }) =>
      `select platform_id, currency, sum(amount) as sum from ${postings} p group by platform_id, currency having sum(amount) <> 0`,
  },
  {
    rule: 'every journal has at least two legs and sums to zero per currency',
    offenders: (
      scope,
    ) => `select j.platform_id, j.id, coalesce(sum(p.legs), 0) as legs, jsonb_object_agg(p.currency, p.amount) filter (where p.amount <> 0) as sums
      from ${scope.journals} j left join (select platform_id, journal_id, currency, sum(amount) as amount, count(*) as legs from ${scope.postings} p group by 1, 2, 3) p
        on p.platform_id = j.platform_id and p.journal_id = j.id
      group by j.platform_id, j.id having coalesce(sum(p.legs), 0) < 2 or bool_or(p.amount <> 0)`,
  },
  {
    rule: "an account's balance is the sum of its postings",
    offenders: (
      scope,
    ) => `select a.platform_id, a.id, a.posted, coalesce(b.posted, 0) + coalesce(p.amount, 0) as postings
      from account a
      left join ${scope.balances} b on b.platform_id = a.platform_id and b.account_id = a.id
      left join (select platform_id, account_id, sum(amount) as amount from ${scope.accountLegs} p group by platform_id, account_id) p
        on p.platform_id = a.platform_id and p.account_id = a.id
      where a.posted <> coalesce(b.posted, 0) + coalesce(p.amount, 0)`,
  },
  {
    rule: 'the chain of balances after each posting is unbroken',
    offenders: ({ accountLegs, balances }) => `select * from (
        select p.platform_id, p.account_id, p.account_version, p.amount, p.balance_after,
          lag(p.balance_after, 1, coalesce(b.posted, 0)) over (partition by p.platform_id, p.account_id order by p.account_version) as balance_before
        from ${accountLegs} p left join ${balances} b on b.platform_id = p.platform_id and b.account_id = p.account_id
      ) chain where balance_before + amount <> balance_after`,
  },
  {
    rule: "an account's entries are dated in the order of its balances, except where the clock was set back",
    // Each change in a balance also has a dated event. If these dates go back too, the clock was set back.
    offenders: ({ accountLegs }) => `select s.* from (
        select p.platform_id, p.account_id, p.journal_id, p.account_version, j.created_at,
          coalesce(lag(p.account_version) over w, b.account_version) as version_before,
          coalesce(lag(j.created_at) over w, b.created_at) as created_before
        from (select platform_id, account_id, journal_id, account_version,
            account_version = min(account_version) over (partition by platform_id, account_id) as is_first from ${accountLegs} p) p
        join journal j on j.platform_id = p.platform_id and j.id = p.journal_id
        left join lateral (
          select q.account_version, k.created_at from posting q join journal k on k.platform_id = q.platform_id and k.id = q.journal_id
          where p.is_first and q.platform_id = p.platform_id and q.account_id = p.account_id and q.account_version < p.account_version
          order by q.account_version desc limit 1) b on true
        window w as (partition by p.platform_id, p.account_id order by p.account_version)
      ) s
      where s.created_at < s.created_before and not coalesce((
        select (max(e.occurred_at) filter (where e.version = s.account_version))
          < max(e.occurred_at) filter (where e.version = s.version_before)
        from (select platform_id, account_id, version, occurred_at from stored_event
              union all select platform_id, account_id, version, occurred_at from outbox) e
        where e.platform_id = s.platform_id and e.account_id = s.account_id and e.version in (s.account_version, s.version_before)), false)`,
  },
  {
    rule: 'no balance was below zero after any posting',
    offenders: ({ postings }) =>
      `select platform_id, account_id, account_version, balance_after from ${postings} p where balance_after < 0`,
  },
  {
    rule: 'a posting is in the currency of its account',
    offenders: ({ postings }) => `select p.platform_id, p.journal_id, p.leg, p.currency, a.currency as account_currency
      from ${postings} p join account a on a.platform_id = p.platform_id and a.id = p.account_id where a.currency <> p.currency`,
  },
  {
    rule: 'the statuses of a quote and its transaction agree',
    ofPayments: true,
    offenders: ({ quotes }) => `select q.platform_id, q.id, q.status, t.status as transaction_status
      from ${quotes} q join transaction t on t.platform_id = q.platform_id and t.id = q.transaction_id
      where t.quote_id is distinct from q.id or (q.status::text <> t.status::text
        and not (q.status = 'FAILED' and t.status = 'REJECTED') and not (q.status = 'COMPLETED' and t.status = 'REFUNDED')
        and not (q.status in ('PENDING', 'PROCESSING') and t.status = 'CREATED'))`,
  },
  {
    rule: 'the feed of each platform has no gaps',
    offenders: (
      scope,
    ) => `select f.platform_id, f.sequence as head, m.sequence as known, count(e.sequence) as events, max(e.sequence) as last
      from feed_head f
      left join ${scope.marks} m on m.platform_id = f.platform_id
      left join stored_event e on e.platform_id = f.platform_id and e.sequence > coalesce(m.sequence, 0)
      group by f.platform_id, f.sequence, m.sequence
      having count(e.sequence) <> f.sequence - coalesce(m.sequence, min(e.sequence) - 1, f.sequence)
        or f.sequence > coalesce(m.sequence, 0) and max(e.sequence) is distinct from f.sequence`,
  },
  {
    rule: 'each change to a transaction has one event, and the changes follow the allowed moves',
    ofPayments: true,
    offenders: ({ eventsOfPayments }) => `select * from (
        select platform_id, transaction_id, version, status, previous_status,
          -- A refund held in suspense is paid after the payment has ended, without changing the payment's status.
          snapshot ->> 'refund_settled_at' is not null and lag(snapshot ->> 'refund_settled_at') over w is null as refund_paid,
          lag(status) over w as status_before, lag(version, 1, 0) over w as version_before
        from ${eventsOfPayments} e where type in ('OUTGOING_PAYMENT', 'INCOMING_PAYMENT')
        window w as (partition by platform_id, transaction_id order by sequence)
      ) story
      where version <> version_before + 1 or previous_status is distinct from status_before
        or (previous_status is not null and not (previous_status = status and refund_paid)
          and (previous_status || ' > ' || status = any (status_moves('transaction'))) is not true)`,
  },
  {
    rule: "each credited deposit at a provider has exactly one payment, for the deposit's amount and to its account",
    ofPayments: true,
    offenders: (
      scope,
    ) => `select d.platform_id, d.id as deposit_id, d.reference, d.amount, d.currency, t.id as transaction_id, t.status
      from ${scope.deposits} d left join transaction t on t.platform_id = d.platform_id and t.id = d.transaction_id
      where d.status = 'CREDITED' and ((t.type, t.status) is distinct from ('INCOMING'::transaction_type, 'COMPLETED'::transaction_status)
        or (t.received_amount, t.received_currency, t.destination_account_id) is distinct from (d.amount, d.currency, d.account_id))`,
  },
  {
    rule: 'each adjustment is booked once, with the proposed amount, and was approved by someone other than its proposer; ADJUSTMENTS has no other postings',
    offenders: (
      scope,
    ) => `select coalesce(d.platform_id, j.platform_id) as platform_id, d.id as adjustment_id, d.status, d.amount, j.journal_id, j.legs
      from (
        select b.platform_id, b.journal_id, jsonb_agg(jsonb_build_array(p.account_id, p.system, p.currency, p.amount) order by p.leg) as legs
        from (select platform_id, journal_id from ${scope.postings} p where system = 'ADJUSTMENTS'
              union select platform_id, id from ${scope.journals} j where kind = 'adjustment'
              union select platform_id, journal_id from adjustment where status = 'APPROVED') b
        join posting p on p.platform_id = b.platform_id and p.journal_id = b.journal_id group by b.platform_id, b.journal_id
      ) j
      full join (select * from adjustment where status = 'APPROVED') d on d.platform_id = j.platform_id and d.journal_id = j.journal_id
      left join journal k on k.platform_id = j.platform_id and k.id = j.journal_id
      where k.kind is distinct from 'adjustment' or k.transaction_id is not null or same_person(d.proposed_by, d.decided_by) is not false
        or j.legs is distinct from jsonb_build_array(jsonb_build_array(d.account_id, null, d.currency, d.amount),
          jsonb_build_array(null, 'ADJUSTMENTS', d.currency, -d.amount))`,
  },
  {
    rule: 'DIFFERENCES has only differences from payments that an operator settled although the provider moved a different amount',
    offenders: (scope) => `select b.platform_id, b.journal_id, j.kind, j.transaction_id, c.order_id, c.closed_by
      from (select platform_id, journal_id from ${scope.postings} p where system = 'DIFFERENCES'
            union select platform_id, id from ${scope.journals} j where kind = 'difference') b
      join journal j on j.platform_id = b.platform_id and j.id = b.journal_id
      left join rail_case c on c.platform_id = j.platform_id and c.transaction_id = j.transaction_id and c.kind = 'OTHER_AMOUNT'
        and c.closed_by is not null and (c.moved_out is not null or c.moved_in is not null)
      where j.kind <> 'difference' or c.order_id is null or not exists (
        select from posting p where p.platform_id = j.platform_id and p.journal_id = j.id and p.system = 'DIFFERENCES')
        or exists (select from posting p where p.platform_id = j.platform_id and p.journal_id = j.id and p.account_id is not null)`,
  },
  ...policyRules,
  ...paymentRules,
];
