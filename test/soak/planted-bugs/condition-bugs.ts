import type { Bug } from './plant.ts';

const payments = (name: string) => `src/payments/${name}.ts`;
const price = (title: string) => ({ file: 'test/payments/locked-pricing.test.ts', title });
const found = (title: string) => ({ file: 'test/rails/found-deposits.test.ts', title });
const checked = (title: string) => ({ file: 'test/payments/account-checks.test.ts', title });
const settled = (title: string) => ({ file: 'test/rails/settled-amounts.test.ts', title });
const books = (title: string) => ({ file: 'test/rails/books.test.ts', title });
const rates = (title: string) => ({ file: 'test/payments/exchange-rates.test.ts', title });
const lookup = (title: string) => ({ file: 'test/payments/uma.test.ts', title });
const difference = (title: string) => ({ file: 'test/rails/differences.test.ts', title });
const lock = payments('pricing/locked-pricing');
const limits = payments('pricing/receiving-limits');
const deposits = payments('providers/find-deposits');
const moves = payments('accounts/account-moves');
const totals = payments('reconciliation/totals');
const beyond = price('%s, and not beyond it');
const most = price('is at most the most that can be moved, on either side');
const anyLimits = price('are the least and the most that a quote takes, and there are none where it takes nothing');
const single = price('can leave a single amount, of one conversion and of several');
const rest = price('leaves the fee of the platform here: the rail locks the rest');
const stored = found('a deposit %s is stored, one beyond it is not, and the provider is asked about it again');

/** Bugs in a single condition of the payments: loosened by one, or left out. */
export const conditionBugs: readonly Bug[] = [
  {
    bug: 'exchange rates leave out the fixed fee of the platform',
    file: payments('pricing/exchange-rates'),
    find: '        platformFee,\n',
    put: '        platformFee: { ...platformFee, fixedFee: 0n },\n',
    caughtBy: rates('a rate is that of a quote, where the platform charges %s'),
  },
  {
    bug: 'all fees of an exchange rate are fixed',
    file: payments('pricing/exchange-rates'),
    find: 'fixedFees: { amount: price.fixedFees,',
    put: 'fixedFees: { amount: price.feesIncluded,',
    caughtBy: rates('the fixed fees of a rate are those that do not grow with the amount'),
  },
  {
    bug: 'a unit more than the most is received',
    file: payments('pricing/pricing'),
    find: 'receive < 1n || receive > maxAmount',
    put: 'receive < 1n || receive > maxAmount + 1n',
    caughtBy: {
      file: 'test/payments/pricing.test.ts',
      title: 'a computed receiving amount may be the maximum, and not a unit more',
    },
  },
  {
    bug: 'a lock takes nothing, or delivers nothing',
    file: lock,
    find: 'lock.sent < 1n || lock.received < 1n',
    put: 'lock.sent < 0n || lock.received < 0n',
    caughtBy: beyond,
  },
  {
    bug: 'the fees of a lock are all that it takes',
    file: lock,
    find: 'lock.fees >= lock.sent',
    put: 'lock.fees > lock.sent',
    caughtBy: beyond,
  },
  {
    bug: 'a lock without a reference is sound',
    file: lock,
    find: "if (lock.reference === '') throw",
    put: "if (lock.reference === 'never') throw",
    caughtBy: beyond,
  },
  {
    bug: 'a lock that holds for no time is sound',
    file: lock,
    find: 'if (!(validMs > 0))',
    put: 'if (!(validMs >= 0))',
    caughtBy: price('for as long as it holds at all'),
  },
  {
    bug: 'a lock sends a unit more than the most',
    file: lock,
    find: 'if (send > maxAmount || lock',
    put: 'if (send > maxAmount + 1n || lock',
    caughtBy: most,
  },
  {
    bug: 'a lock delivers a unit more than the most',
    file: lock,
    find: '|| lock.received > maxAmount) {',
    put: '|| lock.received > maxAmount + 1n) {',
    caughtBy: most,
  },
  {
    bug: 'fees of a lock below those that are listed as fixed count as if they were these',
    file: lock,
    find: '(lock.fees > listedFixedFee ? lock.fees - listedFixedFee : 0n)',
    put: '(lock.fees - listedFixedFee)',
    caughtBy: price('counts of fees of %s at the rail, of which 10 are listed as fixed, %s as fixed'),
  },
  {
    bug: "the platform's share of a lock is charged on the fixed fee of the rail, too",
    file: lock,
    find: 'sent > rate.serviceFixedFee ? sent - rate.serviceFixedFee : 0n',
    put: 'sent',
    caughtBy: price(
      "charges the platform's share on what the rail takes less its fixed fee, if anything is left of it",
    ),
  },
  {
    bug: 'the rail locks the fee of the platform, too',
    file: lock,
    find: 'lockedAmount - listed.platformFee : lockedAmount',
    put: 'lockedAmount : lockedAmount',
    caughtBy: rest,
  },
  {
    bug: 'the fixed fee of the platform is missing in those of a lock',
    file: lock,
    find: 'const fixedFees = serviceFixedFee + request.platformFee.fixedFee;',
    put: 'const fixedFees = serviceFixedFee;',
    caughtBy: rest,
  },
  {
    bug: 'the least that can be received is what needs a unit more than the least that is sent',
    file: limits,
    find: 'const least = minSendingAmount - 1n;',
    put: 'const least = minSendingAmount;',
    caughtBy: anyLimits,
  },
  {
    bug: 'the least that can be received needs less than the least that is sent',
    file: limits,
    find: 'roundDown(worth(least)) + 1n',
    put: 'roundDown(worth(least))',
    caughtBy: anyLimits,
  },
  {
    bug: 'nothing can be received where one amount alone can',
    file: limits,
    find: 'return min <= max ? { min, max } : undefined;',
    put: 'return min < max ? { min, max } : undefined;',
    caughtBy: single,
  },
  {
    bug: 'several limits that leave one amount leave none',
    file: limits,
    find: 'return limits.min <= limits.max ? limits',
    put: 'return limits.min < limits.max ? limits',
    caughtBy: single,
  },
  {
    bug: 'a deposit of more than an account may hold is taken for one that can be stored',
    file: deposits,
    find: 'amount >= 1n && amount <= maxAmount &&',
    put: 'amount >= 1n && amount <= maxAmount + 1n &&',
    caughtBy: stored,
  },
  {
    bug: 'a deposit at an account without a name is taken for one that can be stored',
    file: deposits,
    find: 'text.length >= 1 && text.length <= longestName',
    put: 'text.length >= 0 && text.length <= longestName',
    caughtBy: stored,
  },
  {
    bug: 'a question for deposits begins where the one before ended, and misses what was shown late',
    file: deposits,
    find: 'depositsFrom.getTime() - overlapMs',
    put: 'depositsFrom.getTime()',
    caughtBy: found(
      'a question begins two minutes before the last deposit that is known, and the next one at the latest',
    ),
  },
  {
    bug: 'a question for deposits goes back before the one before',
    file: deposits,
    find: 'deposits_from = greatest(deposits_from, $2)',
    put: 'deposits_from = $2',
    caughtBy: found('a question does not begin before the one before, whatever is still under way'),
  },
  {
    bug: 'a deposit that stays under way keeps all later questions long',
    file: deposits,
    find: 'Math.max(oldestUnderWay, latest - longestUnderWayMs)',
    put: 'oldestUnderWay',
    caughtBy: found('a deposit that is under way for %i days is asked about for %i of them'),
  },
  {
    bug: 'news of a deposit that comes during a question is forgotten',
    file: 'src/database/leases.ts',
    find: ' and l.${dueAt} = d.leased_until',
    put: '',
    caughtBy: found('news of a deposit that comes while the provider is asked makes it be asked again at once'),
  },
  {
    bug: 'all that a payer writes is stored',
    file: deposits,
    find: 'left(d.memo, 1000)',
    put: 'd.memo',
    caughtBy: found('of what a payer writes 1,000 characters are stored'),
  },
  {
    bug: 'a deposit is attributed to an account of another platform',
    file: payments('providers/decide-deposits'),
    find: "where: { platformId, id: name.id, kind: 'INTERNAL' }",
    put: "where: { id: name.id, kind: 'INTERNAL' }",
    caughtBy: found('a deposit is credited to no account of another platform, and to none outside'),
  },
  {
    bug: 'a deleted external account is checked for ever',
    file: payments('accounts/external-account-changes'),
    find: '        checks: [{ accountId: id, dueInMs: null }],\n',
    put: '',
    caughtBy: checked('a deleted account is checked no more'),
  },
  {
    bug: 'an account that its rail calls INACTIVE is registered',
    file: payments('accounts/external-accounts'),
    find: "!check.accepted || check.status === 'INACTIVE'",
    put: '!check.accepted',
    caughtBy: checked('an account that the rail says is INACTIVE is not registered'),
  },
  {
    bug: 'an account goes back to PENDING where its rail says so',
    file: moves,
    find: 'reported !== status && statusSources[reported].includes(status) ? reported : status',
    put: 'reported',
    caughtBy: checked('an account does not go back to PENDING, whatever the rail says'),
  },
  {
    bug: 'what a rail says of an account counts after a change of it',
    file: moves,
    find: '    version: account.version,\n',
    put: '',
    caughtBy: checked(
      'what the rail says of an account as it was before a change is forgotten, and the rail is asked again',
    ),
  },
  {
    bug: 'an account of a time that has not come yet is new',
    file: moves,
    find: 'then 86400000',
    put: 'then 0',
    caughtBy: checked('an account of a time that has not come yet is as old as one can be for the rail'),
  },
  {
    bug: 'a provider has moved less than nothing, more than there can be, or never nothing',
    file: payments('settlement/settle-case'),
    find: 'side.amount >= 0n && side.amount <= maxAmount',
    put: 'side.amount !== 0n',
    caughtBy: settled('a payout that took %s waits for a person to find out more'),
  },
  {
    bug: 'a payout that took nothing cannot be settled',
    file: payments('settlement/settle-case'),
    find: 'side.amount >= 0n &&',
    put: 'side.amount > 0n &&',
    caughtBy: settled('a payout that took %s is settled, and its difference booked'),
  },
  {
    bug: 'a receiver here is said to lack what the provider has not brought',
    file: payments('settlement/settle-case'),
    find: "order.kind === 'PAYOUT' && order.destination?.kind !== 'INTERNAL'",
    put: "order.kind === 'PAYOUT'",
    caughtBy: settled('where less arrives than was promised, a receiver %s'),
  },
  {
    bug: 'a payment that is pulled first is expected when it is pulled',
    file: payments('quotes/start'),
    find: 'expectedMs(rail, railRequest) + payMs',
    put: 'expectedMs(rail, railRequest)',
    caughtBy: {
      file: 'test/payments/pull.test.ts',
      title: 'is expected once the money is pulled and paid out, and not before',
    },
  },
  {
    bug: 'a bank may return what has not left',
    file: payments('settlement/outcomes'),
    find: "!incoming && order.destination?.kind !== 'INTERNAL'",
    put: '!incoming',
    caughtBy: {
      file: 'test/events/endings.test.ts',
      title: 'what stays in an account here comes back from no bank: it is final when it is COMPLETED',
    },
  },
  {
    bug: 'a pull for a payment to a UMA address cannot end by hand',
    file: payments('settlement/fail-order'),
    find: 'if (!isPull(order) && waitsForPlatform(order)) {',
    put: 'if (waitsForPlatform(order)) {',
    caughtBy: {
      file: 'test/payments/failing-orders.test.ts',
      title: 'a pull for a payment to a UMA address ends by command: it is with the rail, and nobody decides on it yet',
    },
  },
  {
    bug: 'a movement at the end of a period belongs to it',
    file: totals,
    find: 'at >= from && at < to',
    put: 'at >= from && at <= to',
    caughtBy: books('a movement of no order counts from its first moment to the last before its end'),
  },
  {
    bug: 'what is given back of a collection is received again',
    file: totals,
    find: 'returnOf !== undefined || (order',
    put: '(order',
    caughtBy: books('what was collected is received, and paid where it was given back'),
  },
  {
    bug: 'movements under way are in the sums of a period',
    file: totals,
    find: "if (!isInPeriod || state !== 'SETTLED') continue;",
    put: "if (!isInPeriod || state === 'FAILED') continue;",
    caughtBy: books('nothing counts that has not settled'),
  },
  {
    bug: 'balances at the edge of what is known differ',
    file: payments('reconciliation/balances'),
    find: 'beyondLow <= (known?.beyondHigh ?? 0n)',
    put: 'beyondLow < (known?.beyondHigh ?? 0n)',
    caughtBy: books('where 5 to 9 are known beyond the books, %s to %s agree: %s'),
  },
  {
    bug: 'a sender reads what nobody has asked its receiver for',
    file: payments('approvals/approvals'),
    find: 'requestedInformation: withValues(requested, known)',
    put: 'requestedInformation: Object.entries(known).map(([name, value]) => ({ name, mandatory: false, value }))',
    caughtBy: {
      file: 'test/payments/approval.test.ts',
      title: 'tells its sender what the platform says of the receiver, before what the record of the customer has',
    },
  },
  {
    bug: 'a lookup leaves out the fees of the platform that sends',
    file: payments('receivers/lookups'),
    find: 'coalesce(f.fixed_fee, 0)::text',
    put: '0::text',
    caughtBy: lookup('names limits that a quote keeps, from every currency that the sender holds'),
  },
  {
    bug: 'a deleted customer looks receivers up',
    file: payments('receivers/lookups'),
    find: ' and not s.is_deleted',
    put: '',
    caughtBy: lookup('its sender is a living customer of the platform, by its id, by its address, or by both'),
  },
  {
    bug: 'a lookup offers the currency of a deposit account that the platform of its receiver does not have',
    file: payments('receivers/lookups'),
    find: 'depositCurrency && currencies.includes(depositCurrency) ?',
    put: 'depositCurrency ?',
    caughtBy: {
      file: 'test/payments/able-receivers.test.ts',
      title: 'a lookup offers the currencies of the platform of its receiver, not another one of a deposit account',
    },
  },
  {
    bug: 'an answer about a former name of a customer counts',
    file: payments('customers/identity-checks'),
    find: '(await endStatement(client, platformId, customer.id, leasedUntil)).length > 0;',
    put: '(await endStatement(client, platformId, customer.id, leasedUntil)).length >= 0;',
    caughtBy: {
      file: 'test/payments/identity-checks.test.ts',
      title:
        'an answer counts for the name that was checked, for who is not deleted, and where no newer question waits',
    },
  },
  {
    bug: 'money that leaves a provider for nobody here is no difference until it has arrived',
    file: payments('reconciliation/differences'),
    find: "state !== 'UNDER_WAY' || direction !== 'IN'",
    put: "state !== 'UNDER_WAY'",
    caughtBy: difference('an order that is %s here, with %o there: %o'),
  },
  {
    bug: 'money that a provider gives back is not missed by the order that it was collected for',
    file: payments('reconciliation/differences'),
    find: "movement.state === 'SETTLED' && returned.has(order.id) ?",
    put: 'false ?',
    caughtBy: difference('an order that is %s here, with %o there: %o'),
  },
  {
    bug: 'what a provider books late is missing in a comparison',
    file: payments('reconciliation/differences'),
    find: 'period.to.getTime() + laterMs',
    put: 'period.to.getTime()',
    caughtBy: difference('a provider is asked for all pages, and for an hour after the period'),
  },
  {
    bug: 'a day whose differences somebody has closed is compared for a month',
    file: payments('reconciliation/daily'),
    find: 'x.closed_at is null and ',
    put: '',
    caughtBy: difference(
      'a missed day is compared for a week, one with an open difference for a month, each by one at a time',
    ),
  },
  {
    bug: 'a platform says nothing of a receiver whose record says it',
    file: payments('approvals/approvals'),
    find: '{ ...informationOf(customer), ...given }',
    put: '{ ...given, ...informationOf(customer) }',
    caughtBy: {
      file: 'test/payments/approval.test.ts',
      title: 'tells its sender what the platform says of the receiver, before what the record of the customer has',
    },
  },
];
