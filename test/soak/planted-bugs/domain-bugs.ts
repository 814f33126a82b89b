import type { Bugs } from './plant.ts';

/** Bugs in what commands do, and in ledger and prices. */
export const domainBugs: Bugs = {
  'src/domain/commands/command.ts': {
    'access/permissions › a domain command refuses a caller without its permission, even if the API has not done so': {
      'authorize(caller, command.operation);\n  const { database } = payments;': 'const { database } = payments;',
      'authorize(caller, command.operation);\n  const claim': 'const claim',
    },
    'payments/dry-run › a dry run is refused as the payment would be': {
      'const plan = withRow(command, await command.plan());':
        'const { expected: _expected, ...plan } = withRow(command, await command.plan());',
    },
    'graphql/refusals › in either form is the same input: a repeat gets the same answer, another amount is refused': {
      'input: await comparableInput(command)': 'input: command.input',
    },
    'payments/dry-run › a dry run of any payment states its price, and changes nothing': {
      'if (first) return toResult(first, command, caller);\n  const plan = withRow': 'const plan = withRow',
    },
    'payments/dry-run › a dry run states what policies would leave, and uses up nothing': {
      'policies.filter(({ subjectId }) => maySeePolicyOf(caller, subjectId))': 'policies',
    },
  },
  'src/domain/commands/filters.ts': {
    'graphql/paging › each filter alone finds exactly the rows that have its value': {
      "AND: [{ status: { not: 'PENDING' } }, { status: { not: 'EXPIRED' } }]": "AND: [{ status: { not: 'EXPIRED' } }]",
      'OR: [fromAccount(name), toAccount(name)]': 'OR: [fromAccount(name)]',
    },
    'attack/matrix › over GraphQL, objects named by %s look as if they never existed': {
      'ofCustomer(caller, { customer: { platformCustomerId } }),': '({ customer: { platformCustomerId } }),',
    },
    'payments/external-account-changes › a deleted account remains in old payments, and is in no list and no new payment':
      {
        'filter.isIncludingDeleted ? {} : { isDeleted: false },': '{},',
      },
    'payments/four-eyes › expires if it is not decided in time': {
      "    { failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' },\n": '',
    },
  },
  'src/domain/commands/metadata.ts': {
    'payments/metadata › apps see the metadata of the records that they see, and cannot write any': {
      "if (caller.kind === 'CLIENT') {": "if (caller.kind === 'CLIENT' && Object.keys(given).length > 20) {",
    },
    'payments/metadata › %s: refused with the path of the entry, in both APIs': {
      '/^[A-Za-z0-9][A-Za-z0-9_.-]*$/': '/./',
    },
  },
  'src/domain/commands/movements.ts': {
    'ledger/journal-legs › each kind of journal has exactly the legs of decision 58': {
      'const net = flow.sent - flow.fees;':
        'flow = { ...flow, fees: flow.fees - 1n };\n  const net = flow.sent - flow.fees;',
      '{ account: flow.sourceAccountId, currency: flow.sendingCurrency, amount: flow.sent, exempt: true },':
        '{ account: flow.platformAccountId ?? flow.sourceAccountId, currency: flow.sendingCurrency, amount: flow.sent, exempt: true },',
    },
    'rails/upstream-quotes › a quote fixing the %s side is locked upstream first, and its payment executes the upstream quote':
      {
        ': { currency: flow.sendingCurrency, amount: flow.lockedSent }':
          ': { currency: flow.receivingCurrency, amount: flow.received }',
      },
    'rails/settling-cases › whatever a provider moves, customers get what was promised, and DIFFERENCES makes the books agree':
      {
        "side === 'out' ? was.amount - is.amount : is.amount - was.amount": 'was.amount - is.amount',
      },
  },
  'src/domain/commands/plan-refusals.ts': {
    'graphql/refusals › insufficient funds: what is available and what is required, if the caller may see the balance':
      {
        " && caller.permissions.includes('VIEW')) return undefined;": ') return undefined;',
      },
    'access/hidden › reveals that the account holds too little, but not its balance': {
      [`if (seesAny('account', caller) && caller.permissions.includes('VIEW')) return undefined;
      return { code, message: 'the account does not hold enough' };`]: 'return undefined;',
    },
    'payments/same-account › a caller without VIEW learns that the account exists, but not which it is': {
      "      return { code: 'CONFLICT', message: 'this account already exists' };": '      return undefined;',
    },
  },
  'src/domain/commands/spending.ts': {
    'payments/policies › is checked for the token, its ancestors, the customer and the platform': {
      '...caller.makers]': '...caller.makers.slice(0, 1)]',
    },
  },
  'src/domain/customers/customers.ts': {
    "ledger/locks › a change that repeats a customer's name does not undo a concurrent change of it": {
      '...(columns.name === customer.name && { name: undefined, searchName: undefined }),': '',
    },
    'payments/metadata › an update replaces all metadata, an empty list clears it, and an omitted field keeps it': {
      '...(metadata !== undefined && { metadata }),': 'metadata: metadata ?? null,',
    },
    'payments/people › the new details of a customer are validated before the customer is looked up, in both APIs': {
      '    const details = input.details ?? undefined;\n':
        "    if (!customer) customerNotFound(at('customerId'));\n    const details = input.details ?? undefined;\n",
    },
  },
  'src/domain/customers/identity-checks.ts': {
    'rails/upstream-webhooks › a pending identity check is decided when its provider reports it, and follows later changes':
      {
        'select platform_id, id, clock_ms() from customer where platform_id = $1 and id = $2 and not is_deleted':
          "select platform_id, id, clock_ms() from customer where platform_id = $1 and id = $2 and kyc_status = 'PENDING_REVIEW'",
      },
    'payments/identity-checks › an answer counts only for the checked name, an undeleted customer, and no newer pending check':
      {
        '(await endStatement(client, platformId, customer.id, leasedUntil)).length > 0;':
          '(await endStatement(client, platformId, customer.id, leasedUntil)).length >= 0;',
      },
  },
  'src/domain/events/reads.ts': {
    'events/replays › replays that wait for the database do not delay live events, and queued ones share a read': {
      "this.#replays = database.openPool('feed-replay', replayConnections);": 'this.#replays = this.#live;',
    },
  },
  'src/domain/events/subscribers.ts': {
    'events/streams › an unchanged account shows its balance, then each change with the balance before and after': {
      'if (event.sequence <= subscriber.position) return false;':
        'if (event.sequence <= subscriber.position + 1n) return false;',
    },
  },
  'src/domain/ledger/audit.ts': {
    'ledger/audit-replica › a standby that does not replay, or another server, cannot be audited': {
      'if (rows[0]?.done) return;': 'return;',
    },
    'ledger/audit-checkpoint › does not make the ledger look sound after another audit has found a broken rule': {
      "if (row.broken > 0) return 'the last audit found broken rules';": '',
    },
  },
  'src/domain/ledger/batches.ts': {
    'ledger/batches › a deletion follows earlier money and payments, and precedes later ones': {
      'if (customers?.some(({ set }) => set.isDeleted)) {': 'if (false) {',
    },
    'ledger/batches › plans on one account share a batch, but none overtakes another': {
      "keys.inOrder.add(rowKey('Account', leg.account));": '',
    },
    'ledger/batches › a plan that depends on the balance of an account follows earlier money, and precedes later money':
      {
        "keys.writes.add(rowKey('Account', leg.account));": '',
      },
    'ledger/batches › a payment that policies may limit follows an earlier one that ends undelivered, and precedes a later one':
      { "keys.reads.add('counted payments');": '' },
    'ledger/together › plans that share a transaction have the same result as one after another, whatever they share': {
      "keys.inOrder.add('counted payments');": '',
    },
  },
  'src/domain/ledger/commit.ts': {
    'database/locked-tables › payments while a table is locked get "the database is busy", without accounts or keys: %s':
      {
        "(await isTableLocked(database)) ? 'table' : 'account'": "'account'",
      },
  },
  'src/domain/ledger/ledger-rules.ts': {
    'ledger/audit › an audit of all rows finds damage from before the checkpoint: %s': {
      'where s.created_at < s.created_before and not': 'where false and not',
      "u.policy_id = p.id and l.currency in ('', u.currency)":
        "u.policy_id = p.id and l.currency in ('', u.currency) and u.released_at is null",
    },
  },
  'src/domain/ledger/rows-since.ts': {
    'ledger/audit-checkpoint › finds a journal that was an hour old when it committed': {
      'least(m.journal_at, e.oldest, o.oldest)': 'm.journal_at',
    },
  },
  'src/domain/platforms/platforms.ts': {
    'access/same-tick › every REST read returns the same to a platform, whoever else asks in the same tick': {
      'return payments.database.prisma.platform.findFirstOrThrow({':
        'return payments.database.prisma.platform.findUniqueOrThrow({',
    },
    'access/expected-versions › a command with another version is refused even if it would change nothing': {
      "  checkVersion(settings, publicId('Platform', before.id), before.version);\n": '',
    },
  },
  'src/domain/policies/policies.ts': {
    'payments/policies › cannot be changed by a token that it limits, or by a descendant of one': {
      'subjectId: { in: [...caller.makers] }': 'subjectId: { in: [] }',
    },
    'payments/policies › a policy of %j is refused': {
      "['kinds', 'receiverAccountIds', 'receiverCountries', 'receiverUmaAddresses'] as const":
        "['kinds', 'receiverCountries', 'receiverUmaAddresses'] as const",
    },
    'access/mcp › a token that may move money needs a policy on amounts': {
      "currency !== ''": 'true',
    },
  },
  'src/domain/pricing/exchange-rates.ts': {
    'payments/exchange-rates › an indicative rate equals that of a quote if the platform charges %s': {
      '        platformFee,\n': '        platformFee: { ...platformFee, fixedFee: 0n },\n',
    },
    'payments/exchange-rates › the fixed fees of a rate do not grow with the amount': {
      'fixedFees: { amount: price.fixedFees,': 'fixedFees: { amount: price.feesIncluded,',
    },
  },
  'src/domain/pricing/locked-pricing.ts': {
    'payments/locked-pricing › if it %s, and invalid one step beyond': {
      'lock.sent < 1n || lock.received < 1n': 'lock.sent < 0n || lock.received < 0n',
      'lock.fees >= lock.sent': 'lock.fees > lock.sent',
      "if (lock.reference === '') throw": "if (lock.reference === 'never') throw",
    },
    'payments/locked-pricing › only for a positive duration': {
      'if (!(validMs > 0))': 'if (!(validMs >= 0))',
    },
    'payments/locked-pricing › never exceeds the maximum amount, on either side': {
      'if (send > maxAmount || lock': 'if (send > maxAmount + 1n || lock',
      '|| lock.received > maxAmount) {': '|| lock.received > maxAmount + 1n) {',
    },
    'payments/locked-pricing › with rail fees of %s, of which 10 are listed as fixed, counts %s as fixed': {
      '(lock.fees > listedFixedFee ? lock.fees - listedFixedFee : 0n)': '(lock.fees - listedFixedFee)',
    },
    "payments/locked-pricing › charges the platform's share on what is left after the rail's fixed fee, if anything is":
      {
        'sent > rate.serviceFixedFee ? sent - rate.serviceFixedFee : 0n': 'sent',
      },
    "payments/locked-pricing › keeps the platform's fee out of the amount that the rail locks": {
      'lockedAmount - listed.platformFee : lockedAmount': 'lockedAmount : lockedAmount',
      'const fixedFees = serviceFixedFee + request.platformFee.fixedFee;': 'const fixedFees = serviceFixedFee;',
    },
  },
  'src/domain/pricing/pricing.ts': {
    'payments/pricing › refuse a locked amount above the maximum (%s)': {
      'if (lockedAmount > maxAmount)': 'if (lockedAmount > maxAmount + 1n)',
    },
    'payments/pricing › allow a computed receiving amount up to the maximum, but not one unit more': {
      'receive < 1n || receive > maxAmount': 'receive < 1n || receive > maxAmount + 1n',
    },
    'proof/pricing › accepts exactly what priceQuote computes': {
      'return { exact, amount: roundUp(exact) };':
        'return { exact, amount: roundUp(exact) - (exact.numerator % exact.denominator === 0n ? 0n : 1n) };',
    },
    'payments/locked-pricing › are the minimum and maximum that a quote accepts, and are absent if it accepts nothing':
      {
        'const least = minSendingAmount - 1n;': 'const least = minSendingAmount;',
        'roundDown(worth(least)) + 1n': 'roundDown(worth(least))',
      },
    'payments/locked-pricing › can coincide in a single amount, for one conversion and for several': {
      'return min <= max ? { min, max } : undefined;': 'return min < max ? { min, max } : undefined;',
      'return range.min <= range.max ? range': 'return range.min < range.max ? range',
    },
  },
  'src/domain/quotes/execution.ts': {
    'payments/four-eyes › a payment whose quote it executed': {
      '...(createdBy && { set: { createdBy } }),': '',
    },
    'payments/pull › is expected to settle only once the money is pulled and paid out': {
      'expectedMs(rail, railRequest) + payMs': 'expectedMs(rail, railRequest)',
    },
  },
  'src/domain/quotes/expiry.ts': {
    'payments/leases › quotes expired by a commit whose answer was lost stay expired, and nothing is reported': {
      " || refusal?.code === 'QUOTE_EXPIRED'": '',
    },
    'payments/expiry › an expiry that runs after the execution is refused, and changes nothing': {
      'quotes: [{ id: quote.id, ...end': "quotes: [{ id: quote.id, ...end, from: ['PENDING', 'PROCESSING']",
    },
    'payments/expiry › the expiry ignores quotes that have moved on': {
      "where status = 'PENDING' and expires_at <= (select clock_timestamp())":
        'where expires_at <= (select clock_timestamp())',
    },
  },
  'src/domain/quotes/lock-rate.ts': {
    'rails/rate-locks › a lock that differs from the request produces no quote: %s': {
      "if (given.kind === 'locked') checkLock(request, amount, given.lock, given.validMs);":
        "if (given.kind === 'locked') checkLock(request, given.lock.sent, { ...given.lock, received: given.lock.sent }, given.validMs);",
    },
    "rails/upstream-quotes › a quote that upstream refuses is refused here, with upstream's reason": {
      "throw new Refusal('INVALID_BANK_ACCOUNT', answer.explanation":
        "throw new Refusal('SERVICE_UNAVAILABLE', answer.explanation",
    },
  },
  'src/domain/quotes/quotes.ts': {
    'payments/policies › counts a quote when it is executed, and one that a deposit funds when it is created': {
      "const isPayment = input.immediatelyExecute || source.kind === 'REALTIME_FUNDING';":
        'const isPayment = input.immediatelyExecute;',
    },
    'rails/rate-locks › a dry run does not request a lock from the rail': {
      'if (payments.validateOnly) return { price };': '',
    },
    'rails/upstream-quotes › a quote fixing the %s side is locked upstream first, and its payment executes the upstream quote':
      {
        'Math.floor(lock?.validMs ?? Number.POSITIVE_INFINITY)': 'Number.POSITIVE_INFINITY',
      },
    "payments/metadata › a quote's metadata is also its transaction's, and its receiver on this installation does not get it":
      {
        'counterpartyInformation: { ...to.information },':
          'counterpartyInformation: { ...to.information }, metadata: null,',
      },
  },
  'src/domain/receivers/lookups.ts': {
    'payments/lookups › a token has a bounded number of unexpired lookups, whatever other tokens have': {
      'if (found.isFull) {': 'if (found.isFull && caller.tokenId === undefined) {',
    },
    'payments/uma-limits › a receiver lookup states limits that a quote respects, in each pair of currencies': {
      'coalesce(f.fixed_fee, 0)::text': '0::text',
    },
    'payments/uma › its sender is an existing customer of the platform, by id, by address, or by both': {
      ' and not s.is_deleted': '',
    },
    "payments/able-receivers › a lookup offers only currencies of the receiver's platform, even if a deposit account has another":
      {
        'depositCurrency && currencies.includes(depositCurrency) ?': 'depositCurrency ?',
      },
  },
  'src/domain/sandbox/set-statuses.ts': {
    'payments/cancel-quote › in the sandbox a platform decides whether a customer may move money': {
      '    simulationOf(payments, caller);\n': '',
    },
  },
  'src/domain/statements/statement.ts': {
    'payments/statements › an entry that returns money is a reversal, and an unfinished period has no closing balance':
      {
        "to < period.to ? 'ITBD' : 'CLBD'": "to > period.to ? 'ITBD' : 'CLBD'",
        "new Set(['refund', ": 'new Set([',
      },
  },
  'src/domain/transfers/transfers.ts': {
    'payments/transfer-internal › from %s money moves immediately, with a payment on each side': {
      'return mergePlans(sent, arrived);': 'return mergePlans(sent, { journals: arrived.journals ?? [] });',
    },
    'payments/transfer-internal › a customer who cannot move money can pay only the platform, and cannot be paid': {
      'to.customerId === null ? [] : ownersOf(from, to)': 'ownersOf(to)',
    },
  },
};
