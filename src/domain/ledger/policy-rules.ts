import type { Rule } from './rule.ts';

/** How much of a policy's limit `l` a payment uses up. */
const taken = "(case l.currency when '' then 1 else u.amount end)";
/**
 * The end of the window of `l` in which a payment was counted; a rolling window ends for each payment separately
 * (window_start.sql).
 */
const windowEnd = `case l.period
  when 'PAYMENT' then u.used_at
  when 'LAST_24_HOURS' then u.used_at + interval '24 hours'
  when 'LAST_30_DAYS' then u.used_at + interval '720 hours'
  else (date_trunc(l.period, u.used_at at time zone p.time_zone) + ('1 ' || l.period)::interval) at time zone p.time_zone end`;

/** The auditor's rules about policies. They check everything that policies have counted, since little of it is old. */
export const policyRules: readonly Rule[] = [
  {
    rule: 'a policy has counted the amount that a payment sends, and still counts it unless the payment was not delivered or was returned',
    offenders: () => `select u.platform_id, u.policy_id, u.transaction_id, u.amount, u.currency, u.released_at, t.status
      from policy_use u left join transaction t on t.platform_id = u.platform_id and t.id = u.transaction_id
      where (u.amount, u.currency) is distinct from (t.sent_amount, t.sent_currency)
        or u.released_at is not null and t.status not in ('FAILED', 'REJECTED', 'EXPIRED', 'REFUNDED')`,
  },
  {
    rule: 'no window of a policy was ever exceeded by the payments that it has allowed since it was set',
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
    rule: 'the stored usage of a window of a policy is the sum of the payments that count in it',
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
