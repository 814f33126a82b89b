import type { Bugs } from './plant.ts';

/**
 * Bugs in the dealings with providers of rails: their webhooks, deposits, identity checks, locks, and reconciliation.
 */
export const providerBugs: Bugs = {
  'test/rails/upstream-webhooks.test.ts': {
    'a webhook of a provider that nobody has signed is stored': {
      file: 'src/rails/upstream/upstream-webhooks.ts',
      find: 'if (error instanceof WebhookVerificationError) return undefined;',
      put: 'if (error instanceof WebhookVerificationError) return { id };',
      test: 'what nobody has signed for this platform is refused, and nothing of it is stored',
    },
    'wrong signatures of webhooks are not counted': {
      file: 'src/api/http/provider-webhooks.ts',
      find: 'if (!isWrong) attempt?.succeed();',
      put: 'attempt?.succeed();\n      if (!isWrong) return;',
      test: 'what nobody has signed for this platform is refused, and nothing of it is stored',
    },
    "strangers at a provider's address keep its webhooks out": {
      file: 'src/api/http/provider-webhooks.ts',
      find: 'if (received) this.#proven.set(sender, true);',
      put: 'if (received) this.#proven.set(sender, true);\n      else this.#proven.delete(sender);',
      test: 'strangers who share the address of a provider do not keep its webhooks out',
    },
    'a webhook whose process died waits for ever': {
      file: 'src/infra/database/leases.ts',
      find: "set ${until} = clock_ms() + $2::float8 * interval '1 millisecond'",
      put: 'set ${until} = case when $2::float8 < 0 then clock_ms() end',
      test: 'a webhook that is worked on is not done before its work is',
    },
    "a provider's news of an identity whose check was final changes nothing": {
      file: 'src/domain/customers/identity-checks.ts',
      find: 'select platform_id, id, clock_ms() from customer where platform_id = $1 and id = $2 and not is_deleted',
      put: "select platform_id, id, clock_ms() from customer where platform_id = $1 and id = $2 and kyc_status = 'PENDING_REVIEW'",
      test: 'an identity that is still checked is decided when its provider says so, and changes when the provider changes it',
    },
    "a provider's news of an identity that is still checked changes nothing": {
      file: 'src/domain/providers/work-on-webhooks.ts',
      find: "if (one.kind === 'identity') await wake",
      put: "if (one.kind === 'identity' && !platformId) await wake",
      test: 'an identity that is still checked is decided when its provider says so, and changes when the provider changes it',
    },
  },
  'test/database/leases.test.ts': {
    'what is due last is leased first': {
      file: 'src/infra/database/leases.ts',
      find: 'order by ${dueAt} limit $1',
      put: 'order by ${dueAt} desc limit $1',
      test: 'rows of $table are leased in the order in which they are due, each to one worker, until its lease ends',
    },
  },
  'test/rails/upstream-deposits.test.ts': {
    'one deposit that cannot be stored keeps all others out': {
      file: 'src/domain/providers/find-deposits.ts',
      find: "deposits.filter((deposit) => deposit.state === 'SETTLED' && isSound(deposit));\n  if",
      put: "deposits.filter((deposit) => deposit.state === 'SETTLED');\n  if",
      test: 'a deposit that cannot be stored keeps no other from being credited, and is looked at again',
    },
    'what a payer writes may be what the database cannot store': {
      file: 'src/domain/orders/rail-answer.ts',
      find: 'return readableText(value);',
      put: 'value',
      test: 'a deposit that cannot be stored keeps no other from being credited, and is looked at again',
    },
    'a deposit for a deleted customer is credited': {
      file: 'src/domain/providers/find-deposits.ts',
      find: '\n     and not c.is_deleted\n',
      put: '\n',
      also: [
        {
          file: 'prisma/functions/commit/check_balances.sql',
          find: 'v_account.change > 0 and v_account.owner_is_deleted',
          put: 'false',
        },
      ],
      test: 'what nobody can be credited with waits for a person, who says whose it is',
    },
    'a person may give a deposit to a deleted customer': {
      file: 'src/domain/providers/decide-deposits.ts',
      find: 'if (account.customer?.isDeleted)',
      put: 'if (!id)',
      test: 'what nobody can be credited with waits for a person, who says whose it is',
    },
    'a deposit is credited in another currency': {
      file: 'src/domain/providers/decide-deposits.ts',
      find: 'if (account.currency !== currency) {',
      put: 'if (account.currency === currency && !id) {',
      test: 'what nobody can be credited with waits for a person, who says whose it is',
    },
    'a deposit is decided twice': {
      file: 'src/domain/providers/decide-deposits.ts',
      find: "const where = { platformId, id: uuid, status: 'UNATTRIBUTED' } as const;",
      put: 'const where = { platformId, id: uuid };',
      test: 'what nobody can be credited with waits for a person, who says whose it is',
    },
  },
  'test/rails/rate-locks.test.ts': {
    'a rail locks another amount than it was asked for, and the quote is made': {
      file: 'src/domain/quotes/lock-rate.ts',
      find: "if (given.kind === 'locked') checkLock(request, amount, given.lock, given.validMs);",
      put: "if (given.kind === 'locked') checkLock(request, given.lock.sent, { ...given.lock, received: given.lock.sent }, given.validMs);",
      test: 'a lock that is not what was asked for makes no quote: %s',
    },
  },
  'test/rails/upstream-quotes.test.ts': {
    'a refusal of a lock is answered as if the service were away': {
      file: 'src/domain/quotes/lock-rate.ts',
      find: "throw new Refusal('INVALID_BANK_ACCOUNT', answer.explanation",
      put: "throw new Refusal('SERVICE_UNAVAILABLE', answer.explanation",
      test: 'a quote that upstream refuses is refused here, with its reason',
    },
  },
  'test/rails/reconciliation.test.ts': {
    'a balance that a person has explained hides every later difference': {
      file: 'src/domain/reconciliation/balances.ts',
      find: 'return beyondLow <=',
      put: 'return known !== undefined || beyondLow <=',
      test: 'a balance that differs is named with both sides, until a person has said why; then only another difference is',
    },
    'a balance that differs is named again though a person has said why': {
      file: 'src/domain/reconciliation/balances.ts',
      find: 'beyondLow <= (known?.beyondHigh ?? 0n) && beyondHigh >= (known?.beyondLow ?? 0n)',
      put: 'beyondLow <= 0n && beyondHigh >= 0n',
      test: 'a balance that differs is named with both sides, until a person has said why; then only another difference is',
    },
    'what the gateway moves between its accounts upstream is named as a difference': {
      file: 'src/rails/upstream/upstream-movements.ts',
      find: 'hasBegun(one) && !isWithin(one)',
      put: 'hasBegun(one)',
      test: 'what the gateway moves upstream between accounts of its own is no difference; money that leaves under the same memo is, and so is that of an unknown order, unless it failed',
    },
    "money that leaves upstream under a memo of the gateway's own is not compared": {
      file: 'src/rails/upstream/upstream-movements.ts',
      find: ' && isOwn(source) && isOwn(destination)',
      put: ' && isOwn(source)',
      test: 'what the gateway moves upstream between accounts of its own is no difference; money that leaves under the same memo is, and so is that of an unknown order, unless it failed',
    },
    'a payment that failed upstream, of an order that was never known here, is named as a difference': {
      file: 'src/domain/reconciliation/differences.ts',
      find: "state !== 'FAILED' && (state",
      put: '(state',
      test: 'what the gateway moves upstream between accounts of its own is no difference; money that leaves under the same memo is, and so is that of an unknown order, unless it failed',
    },
  },
  'test/rails/settling-cases.test.ts': {
    'a customer bears what a provider has moved otherwise': {
      file: 'src/domain/settlement/settle-case.ts',
      find: 'planDelivery(order, {',
      put: 'planDelivery({ ...order, transaction: { ...order.transaction, receivedAmount: outcome.amount ?? null } }, {',
      test: 'whatever a provider moves, customers pay and get what was promised, the difference is on DIFFERENCES, and the books agree with the provider',
    },
    'a difference of what came in is booked with the sign of what was taken': {
      file: 'src/domain/commands/movements.ts',
      find: "side === 'out' ? is.amount - was.amount : was.amount - is.amount",
      put: 'is.amount - was.amount',
      test: 'whatever a provider moves, customers pay and get what was promised, the difference is on DIFFERENCES, and the books agree with the provider',
    },
    'what a payout took beyond what has arrived is not noticed': {
      file: 'src/domain/settlement/cases.ts',
      find: 'if (arrived === amount && taken === amount) return undefined;',
      put: 'if (arrived === amount) return undefined;',
      test: 'a payout that took more is COMPLETED as it was promised; its entries, its act and the list of cases say what the difference was',
    },
    'the reconciliation names a difference that a person has settled': {
      file: 'src/domain/reconciliation/differences.ts',
      find: "case when o.kind = 'PAYOUT' then c.moved_out else c.moved_in end, case",
      put: 'null::bigint, case',
      test: 'a payout that took more is COMPLETED as it was promised; its entries, its act and the list of cases say what the difference was',
    },
    'the database books any difference': {
      file: 'prisma/functions/commit/check_difference.sql',
      find: 'or v_booked is distinct from (case',
      put: 'or false and v_booked is distinct from (case',
      test: 'the database books no difference but that of an open case, and no leg of it on an account',
    },
  },
  'test/rails/secrets.test.ts': {
    'the error of a provider that fails has the credentials': {
      file: 'src/rails/upstream/upstream-client.ts',
      find: 'const content = jsonIn(text, what);',
      put: 'const content = jsonIn(text, what);\n    if (statusCode >= 500) throw new Error(credentials);',
      test: 'no secret of a provider is printed, measured, traced or answered, whatever the provider does, also while they rotate',
    },
    "a provider's refusal repeats the credentials": {
      file: 'src/rails/upstream/upstream-client.ts',
      find: '[credentials, secret].reduce(hide, message)',
      put: 'message',
      test: 'no secret of a provider is printed, measured, traced or answered, whatever the provider does, also while they rotate',
    },
    "an answer that is no JSON is shown in the parser's words": {
      file: 'src/rails/upstream/upstream-client.ts',
      find: 'if (content === undefined) throw',
      put: 'if (content === undefined) JSON.parse(text);\n      if (content === undefined) throw',
      test: 'no secret of a provider is printed, measured, traced or answered, whatever the provider does, also while they rotate',
    },
  },
  'test/payments/robustness.test.ts': {
    'a rail is asked about all due orders at once': {
      file: 'src/domain/settlement/settlement.ts',
      find: 'new Slots(askedAtOnce)',
      put: 'new Slots(askedAtOnce * 100)',
      test: 'a slow rail is asked about at most 32 orders concurrently, so that none waits for its connection',
    },
  },
};
