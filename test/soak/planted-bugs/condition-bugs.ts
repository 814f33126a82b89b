import type { Bugs } from './plant.ts';

/** Bugs in a single condition of the payments: weakened by one, or omitted. */
export const conditionBugs: Bugs = {
  'test/payments/exchange-rates.test.ts': {
    "exchange rates omit the platform's fixed fee": {
      file: 'src/domain/pricing/exchange-rates.ts',
      find: '        platformFee,\n',
      put: '        platformFee: { ...platformFee, fixedFee: 0n },\n',
      test: 'an indicative rate equals that of a quote if the platform charges %s',
    },
    'all fees of an exchange rate are fixed': {
      file: 'src/domain/pricing/exchange-rates.ts',
      find: 'fixedFees: { amount: price.fixedFees,',
      put: 'fixedFees: { amount: price.feesIncluded,',
      test: 'the fixed fees of a rate do not grow with the amount',
    },
  },
  'test/payments/pricing.test.ts': {
    'one unit above the maximum is received': {
      file: 'src/domain/pricing/pricing.ts',
      find: 'receive < 1n || receive > maxAmount',
      put: 'receive < 1n || receive > maxAmount + 1n',
      test: 'allow a computed receiving amount of the maximum, and not a unit more',
    },
  },
  'test/payments/locked-pricing.test.ts': {
    'a lock sends nothing, or delivers nothing': {
      file: 'src/domain/pricing/locked-pricing.ts',
      find: 'lock.sent < 1n || lock.received < 1n',
      put: 'lock.sent < 0n || lock.received < 0n',
      test: 'if it %s, and invalid one step beyond',
    },
    'the fees of a lock equal the amount that it sends': {
      file: 'src/domain/pricing/locked-pricing.ts',
      find: 'lock.fees >= lock.sent',
      put: 'lock.fees > lock.sent',
      test: 'if it %s, and invalid one step beyond',
    },
    'a lock without a reference is valid': {
      file: 'src/domain/pricing/locked-pricing.ts',
      find: "if (lock.reference === '') throw",
      put: "if (lock.reference === 'never') throw",
      test: 'if it %s, and invalid one step beyond',
    },
    'a lock with no duration is valid': {
      file: 'src/domain/pricing/locked-pricing.ts',
      find: 'if (!(validMs > 0))',
      put: 'if (!(validMs >= 0))',
      test: 'only for a positive duration',
    },
    'a lock sends one unit above the maximum': {
      file: 'src/domain/pricing/locked-pricing.ts',
      find: 'if (send > maxAmount || lock',
      put: 'if (send > maxAmount + 1n || lock',
      test: 'never exceeds the maximum amount, on either side',
    },
    'a lock delivers one unit above the maximum': {
      file: 'src/domain/pricing/locked-pricing.ts',
      find: '|| lock.received > maxAmount) {',
      put: '|| lock.received > maxAmount + 1n) {',
      test: 'never exceeds the maximum amount, on either side',
    },
    "a lock's fees below the listed fixed ones count as the listed ones": {
      file: 'src/domain/pricing/locked-pricing.ts',
      find: '(lock.fees > listedFixedFee ? lock.fees - listedFixedFee : 0n)',
      put: '(lock.fees - listedFixedFee)',
      test: 'with rail fees of %s, of which 10 are listed as fixed, counts %s as fixed',
    },
    "the platform's share of a lock is also charged on the rail's fixed fee": {
      file: 'src/domain/pricing/locked-pricing.ts',
      find: 'sent > rate.serviceFixedFee ? sent - rate.serviceFixedFee : 0n',
      put: 'sent',
      test: "charges the platform's share on what is left after the rail's fixed fee, if anything is",
    },
    "the rail also locks the platform's fee": {
      file: 'src/domain/pricing/locked-pricing.ts',
      find: 'lockedAmount - listed.platformFee : lockedAmount',
      put: 'lockedAmount : lockedAmount',
      test: "keeps the platform's fee out of the amount that the rail locks",
    },
    "a lock's fixed fees lack the platform's": {
      file: 'src/domain/pricing/locked-pricing.ts',
      find: 'const fixedFees = serviceFixedFee + request.platformFee.fixedFee;',
      put: 'const fixedFees = serviceFixedFee;',
      test: "keeps the platform's fee out of the amount that the rail locks",
    },
    'the minimum receiving amount needs one unit more than the minimum sending amount': {
      file: 'src/domain/pricing/receiving-limits.ts',
      find: 'const least = minSendingAmount - 1n;',
      put: 'const least = minSendingAmount;',
      test: 'are the minimum and maximum that a quote accepts, and are absent if it accepts nothing',
    },
    'the minimum receiving amount needs less than the minimum sending amount': {
      file: 'src/domain/pricing/receiving-limits.ts',
      find: 'roundDown(worth(least)) + 1n',
      put: 'roundDown(worth(least))',
      test: 'are the minimum and maximum that a quote accepts, and are absent if it accepts nothing',
    },
    'nothing can be received although a single amount could': {
      file: 'src/domain/pricing/receiving-limits.ts',
      find: 'return min <= max ? { min, max } : undefined;',
      put: 'return min < max ? { min, max } : undefined;',
      test: 'can coincide in a single amount, for one conversion and for several',
    },
    'several limits that leave one amount are treated as leaving none': {
      file: 'src/domain/pricing/receiving-limits.ts',
      find: 'return range.min <= range.max ? range',
      put: 'return range.min < range.max ? range',
      test: 'can coincide in a single amount, for one conversion and for several',
    },
  },
  'test/rails/found-deposits.test.ts': {
    'a deposit above the maximum balance is considered storable': {
      file: 'src/domain/providers/find-deposits.ts',
      find: 'amount >= 1n && amount <= maxAmount &&',
      put: 'amount >= 1n && amount <= maxAmount + 1n &&',
      test: 'a deposit %s is stored; one beyond is not, and the provider is asked about it again',
    },
    'a deposit at an account without a name is considered storable': {
      file: 'src/domain/providers/find-deposits.ts',
      find: 'text.length >= 1 && text.length <= longestName',
      put: 'text.length >= 0 && text.length <= longestName',
      test: 'a deposit %s is stored; one beyond is not, and the provider is asked about it again',
    },
    'a query for deposits starts where the last one ended, and misses late ones': {
      file: 'src/domain/providers/find-deposits.ts',
      find: 'depositsFrom.getTime() - overlapMs',
      put: 'depositsFrom.getTime()',
      test: 'a query starts two minutes before the last known deposit, and the next at the last one at most',
    },
    'a query for deposits starts before the previous one': {
      file: 'src/domain/providers/find-deposits.ts',
      find: 'deposits_from = greatest(deposits_from, $2)',
      put: 'deposits_from = $2',
      test: 'a query never starts before the previous one, whatever is still under way',
    },
    'a deposit that stays under way makes all later queries long': {
      file: 'src/domain/providers/find-deposits.ts',
      find: 'Math.max(oldestUnderWay, latest - longestUnderWayMs)',
      put: 'oldestUnderWay',
      test: 'a deposit that is under way for %i days is queried for %i of them',
    },
    'a report of a deposit that arrives during a query is lost': {
      file: 'src/infra/database/leases.ts',
      find: ' and l.${dueAt} = d.leased_until',
      test: 'a report of a deposit that arrives during a query makes the next query due immediately',
    },
    "a payer's memo is stored in full": {
      file: 'src/domain/providers/find-deposits.ts',
      find: 'left(d.memo, 1000)',
      put: 'd.memo',
      test: "a payer's memo is stored up to 1,000 characters",
    },
    'a deposit is attributed to an account of another platform': {
      file: 'src/domain/providers/decide-deposits.ts',
      find: "where: { platformId, id: name.id, kind: 'INTERNAL' }",
      put: "where: { id: name.id, kind: 'INTERNAL' }",
      test: 'a deposit is never credited to an account of another platform, or to an external one',
    },
  },
  'test/payments/account-checks.test.ts': {
    'a deleted external account is checked forever': {
      file: 'src/domain/accounts/external-account-changes.ts',
      find: '      checks: [{ accountId: id, dueInMs: null }],\n',
      test: 'a deleted account is no longer checked',
    },
    'an account that its rail reports as INACTIVE is registered': {
      file: 'src/domain/accounts/external-accounts.ts',
      find: "!check.accepted || check.status === 'INACTIVE'",
      put: '!check.accepted',
      test: 'registering an account that the rail reports as INACTIVE is refused',
    },
    'an account goes back to PENDING if its rail says so': {
      file: 'src/domain/accounts/account-moves.ts',
      find: 'reported !== status && statusSources[reported].includes(status) ? reported : status',
      put: 'reported',
      test: 'an account does not go back to PENDING, whatever the rail reports',
    },
    "a rail's answer about an account counts after the account has changed": {
      file: 'src/domain/accounts/account-moves.ts',
      find: ", expected: { type: 'Account', id: account.id, version: account.version }",
      test: "a rail's answer about an account that has since changed is discarded, and the rail is asked again",
    },
    'an account created in the future is new': {
      file: 'src/domain/accounts/account-moves.ts',
      find: 'then 86400000',
      put: 'then 0',
      test: 'an account created in the future is reported to the rail with the maximum age',
    },
  },
  'test/rails/settled-amounts.test.ts': {
    'a provider can have moved a negative or too large amount, and not zero': {
      file: 'src/domain/settlement/settle-case.ts',
      find: 'side.amount >= 0n && side.amount <= maxAmount',
      put: 'side.amount !== 0n',
      test: 'a payout that took %s is not settled: such an amount needs investigation',
    },
    'a payout that took nothing cannot be settled': {
      file: 'src/domain/settlement/settle-case.ts',
      find: 'side.amount >= 0n &&',
      put: 'side.amount > 0n &&',
      test: 'a payout that took %s is settled, and its difference is booked',
    },
    'a receiver on this installation is reported as short by what the provider did not deliver': {
      file: 'src/domain/settlement/settle-case.ts',
      find: "order.kind === 'PAYOUT' && order.destination?.kind !== 'INTERNAL'",
      put: "order.kind === 'PAYOUT'",
      test: 'if less arrives than promised, a receiver %s',
    },
  },
  'test/payments/pull.test.ts': {
    'a payment that is pulled first is expected at the time of the pull': {
      file: 'src/domain/quotes/execution.ts',
      find: 'expectedMs(rail, railRequest) + payMs',
      put: 'expectedMs(rail, railRequest)',
      test: 'is expected only once the money is pulled and paid out',
    },
  },
  'test/events/endings.test.ts': {
    'a payment is final while its bank may return it': {
      file: 'prisma/functions/events/is_final.sql',
      find: 'and o.transaction_id = p_id and o.due_at is not null',
      put: 'and o.transaction_id = p_id and o.due_at is null',
      test: 'a stream until FINAL lasts while a bank may return the money, and ends with or without a return',
    },
    'a bank may return a payment that has not left': {
      file: 'src/domain/settlement/outcomes.ts',
      find: "!incoming && order.destination?.kind !== 'INTERNAL'",
      put: '!incoming',
      test: 'a payment to an account here cannot be returned: it is final when it is COMPLETED',
    },
  },
  'test/payments/failing-orders.test.ts': {
    'a pull for a payment to a UMA address cannot end by hand': {
      file: 'src/domain/settlement/fail-order.ts',
      find: 'if (!isPull(order) && waitsForPlatform(order)) {',
      put: 'if (waitsForPlatform(order)) {',
      test: 'a pull for a payment to a UMA address, not yet up for a decision, ends by command',
    },
  },
  'test/rails/books.test.ts': {
    'a movement at the end of a period belongs to it': {
      file: 'src/domain/reconciliation/totals.ts',
      find: 'at >= from && at < to',
      put: 'at >= from && at <= to',
      test: "a movement without an order counts from the period's first moment to the last before its end",
    },
    'the returned part of a collection counts as received again': {
      file: 'src/domain/reconciliation/totals.ts',
      find: 'returnOf !== undefined || (order',
      put: '(order',
      test: 'collected money counts as received, and as paid if it was returned',
    },
    'movements under way count in the totals of a period': {
      file: 'src/domain/reconciliation/totals.ts',
      find: "if (!isInPeriod || state !== 'SETTLED') continue;",
      put: "if (!isInPeriod || state === 'FAILED') continue;",
      test: 'unsettled orders and movements do not count',
    },
    'balances at the edge of the known difference disagree': {
      file: 'src/domain/reconciliation/balances.ts',
      find: 'beyondLow <= (known?.beyondHigh ?? 0n)',
      put: 'beyondLow < (known?.beyondHigh ?? 0n)',
      test: 'with a known difference of 5 to 9, %s to %s beyond the books agree: %s',
    },
  },
  'test/payments/approval.test.ts': {
    'a sender reads receiver information that was not requested': {
      file: 'src/domain/approvals/approvals.ts',
      find: 'requestedInformation: withValues(requested, known)',
      put: 'requestedInformation: Object.entries(known).map(([name, value]) => ({ name, mandatory: false, value }))',
      test: "gives its sender the platform's facts about the receiver in preference to the customer's record",
    },
    "a platform's facts about a receiver do not take precedence over the record": {
      file: 'src/domain/approvals/approvals.ts',
      find: '{ ...informationOf(customer), ...given }',
      put: '{ ...given, ...informationOf(customer) }',
      test: "gives its sender the platform's facts about the receiver in preference to the customer's record",
    },
  },
  'test/payments/uma.test.ts': {
    'a lookup ignores the fees of the sending platform': {
      file: 'src/domain/receivers/lookups.ts',
      find: 'coalesce(f.fixed_fee, 0)::text',
      put: '0::text',
      test: 'states limits that a quote respects, from every currency that the sender holds',
    },
    'a deleted customer can look up receivers': {
      file: 'src/domain/receivers/lookups.ts',
      find: ' and not s.is_deleted',
      test: 'its sender is an existing customer of the platform, by id, by address, or by both',
    },
  },
  'test/payments/able-receivers.test.ts': {
    "a lookup offers a deposit account's currency that the receiver's platform does not have": {
      file: 'src/domain/receivers/lookups.ts',
      find: 'depositCurrency && currencies.includes(depositCurrency) ?',
      put: 'depositCurrency ?',
      test: "a lookup offers only currencies of the receiver's platform, even if a deposit account has another",
    },
  },
  'test/payments/identity-checks.test.ts': {
    "an answer about a customer's former name counts": {
      file: 'src/domain/customers/identity-checks.ts',
      find: '(await endStatement(client, platformId, customer.id, leasedUntil)).length > 0;',
      put: '(await endStatement(client, platformId, customer.id, leasedUntil)).length >= 0;',
      test: 'an answer counts only for the checked name, an undeleted customer, and no newer pending check',
    },
  },
  'test/rails/differences.test.ts': {
    'unknown money that leaves a provider is not a difference until it has arrived': {
      file: 'src/domain/reconciliation/differences.ts',
      find: "state !== 'UNDER_WAY' || direction !== 'IN'",
      put: "state !== 'UNDER_WAY'",
      test: 'an order that is %s in our books, with %o at the provider: %o',
    },
    'money that a provider returns is not missed by the order that collected it': {
      file: 'src/domain/reconciliation/differences.ts',
      find: "movement.state === 'SETTLED' && returned.has(order.id) ?",
      put: 'false ?',
      test: 'an order that is %s in our books, with %o at the provider: %o',
    },
    "a provider's late booking is missing in a comparison": {
      file: 'src/domain/reconciliation/differences.ts',
      find: 'period.to.getTime() + laterMs',
      put: 'period.to.getTime()',
      test: 'a provider is asked for all pages, and for an hour after the period',
    },
    'a day whose differences are closed is compared for a month': {
      file: 'src/domain/reconciliation/daily.ts',
      find: 'x.closed_at is null and ',
      test: 'a missed day is compared for a week, one with an open difference for a month, each by one instance',
    },
  },
};
