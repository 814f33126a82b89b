import type { Bugs } from './plant.ts';

/**
 * Bugs in the dealings with providers of rails: their webhooks, deposits, identity checks, locks, and reconciliation.
 */
export const providerBugs: Bugs = {
  'test/rails/upstream-webhooks.test.ts': {
    'an unsigned webhook of a provider is stored': {
      file: 'src/rails/upstream/upstream-webhooks.ts',
      find: 'if (error instanceof WebhookVerificationError) return undefined;',
      put: 'if (error instanceof WebhookVerificationError) return { id };',
      test: 'a webhook without a valid signature for this platform is refused and not stored',
    },
    'wrong signatures of webhooks are not counted': {
      file: 'src/api/http/provider-webhooks.ts',
      find: 'if (!isWrong) attempt?.succeed();',
      put: 'attempt?.succeed();\n      if (!isWrong) return;',
      test: 'a webhook without a valid signature for this platform is refused and not stored',
    },
    "strangers at a provider's address keep its webhooks out": {
      file: 'src/api/http/provider-webhooks.ts',
      find: 'if (received) this.#proven.set(sender, true);',
      put: 'if (received) this.#proven.set(sender, true);\n      else this.#proven.delete(sender);',
      test: 'strangers who share the address of a provider do not keep its webhooks out',
    },
    'a webhook whose process died waits forever': {
      file: 'src/infra/database/leases.ts',
      find: "set ${until} = clock_ms() + $2::float8 * interval '1 millisecond'",
      put: 'set ${until} = case when $2::float8 < 0 then clock_ms() end',
      test: 'a webhook is not done before its processing is',
    },
    "a provider's report of an identity whose check was final changes nothing": {
      file: 'src/domain/customers/identity-checks.ts',
      find: 'select platform_id, id, clock_ms() from customer where platform_id = $1 and id = $2 and not is_deleted',
      put: "select platform_id, id, clock_ms() from customer where platform_id = $1 and id = $2 and kyc_status = 'PENDING_REVIEW'",
      test: 'a pending identity check is decided when its provider reports it, and follows later changes',
    },
    "a provider's report of an identity that is still being checked changes nothing": {
      file: 'src/domain/providers/work-on-webhooks.ts',
      find: "if (one.kind === 'identity') await wake",
      put: "if (one.kind === 'identity' && !platformId) await wake",
      test: 'a pending identity check is decided when its provider reports it, and follows later changes',
    },
  },
  'test/database/leases.test.ts': {
    'the row due last is leased first': {
      file: 'src/infra/database/leases.ts',
      find: 'order by ${dueAt} limit $1',
      put: 'order by ${dueAt} desc limit $1',
      test: 'rows of $table are leased in order of their due time, each to one worker, until its lease ends',
    },
  },
  'test/rails/upstream-deposits.test.ts': {
    'one deposit that cannot be stored blocks all others': {
      file: 'src/domain/providers/find-deposits.ts',
      find: "deposits.filter((deposit) => deposit.state === 'SETTLED' && isSound(deposit));\n  if",
      put: "deposits.filter((deposit) => deposit.state === 'SETTLED');\n  if",
      test: 'a deposit that cannot be stored does not block others, and is examined again',
    },
    "a payer's memo may contain text that the database cannot store": {
      file: 'src/domain/orders/rail-answer.ts',
      find: 'return readableText(value);',
      put: 'value',
      test: 'a deposit that cannot be stored does not block others, and is examined again',
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
      test: 'a deposit that cannot be credited waits for a person, who decides whose it is',
    },
    'a person may assign a deposit to a deleted customer': {
      file: 'src/domain/providers/decide-deposits.ts',
      find: 'if (account.customer?.isDeleted)',
      put: 'if (!id)',
      test: 'a deposit that cannot be credited waits for a person, who decides whose it is',
    },
    'a deposit is credited in a different currency': {
      file: 'src/domain/providers/decide-deposits.ts',
      find: 'if (account.currency !== currency) {',
      put: 'if (account.currency === currency && !id) {',
      test: 'a deposit that cannot be credited waits for a person, who decides whose it is',
    },
    'a deposit is decided twice': {
      file: 'src/domain/providers/decide-deposits.ts',
      find: "const where = { platformId, id: uuid, status: 'UNATTRIBUTED' } as const;",
      put: 'const where = { platformId, id: uuid };',
      test: 'a deposit that cannot be credited waits for a person, who decides whose it is',
    },
  },
  'test/rails/rate-locks.test.ts': {
    'a quote is created although the rail locked a different amount': {
      file: 'src/domain/quotes/lock-rate.ts',
      find: "if (given.kind === 'locked') checkLock(request, amount, given.lock, given.validMs);",
      put: "if (given.kind === 'locked') checkLock(request, given.lock.sent, { ...given.lock, received: given.lock.sent }, given.validMs);",
      test: 'a lock that differs from the request produces no quote: %s',
    },
  },
  'test/rails/upstream-quotes.test.ts': {
    'a refused lock is reported as if the service were unavailable': {
      file: 'src/domain/quotes/lock-rate.ts',
      find: "throw new Refusal('INVALID_BANK_ACCOUNT', answer.explanation",
      put: "throw new Refusal('SERVICE_UNAVAILABLE', answer.explanation",
      test: "a quote that upstream refuses is refused here, with upstream's reason",
    },
  },
  'test/rails/reconciliation.test.ts': {
    'an explained balance hides every later difference': {
      file: 'src/domain/reconciliation/balances.ts',
      find: 'return beyondLow <=',
      put: 'return known !== undefined || beyondLow <=',
      test: 'a balance difference is reported with both sides until it is explained; then only a new one is',
    },
    'a balance difference is reported again after it was explained': {
      file: 'src/domain/reconciliation/balances.ts',
      find: 'beyondLow <= (known?.beyondHigh ?? 0n) && beyondHigh >= (known?.beyondLow ?? 0n)',
      put: 'beyondLow <= 0n && beyondHigh >= 0n',
      test: 'a balance difference is reported with both sides until it is explained; then only a new one is',
    },
    "the gateway's moves between its upstream accounts are reported as differences": {
      file: 'src/rails/upstream/upstream-movements.ts',
      find: 'hasBegun(one) && !isWithin(one)',
      put: 'hasBegun(one)',
      test: "the gateway's own moves upstream are not differences; unknown payments that leave the account are",
    },
    "money that leaves upstream under one of the gateway's memos is not compared": {
      file: 'src/rails/upstream/upstream-movements.ts',
      find: ' && isOwn(source) && isOwn(destination)',
      put: ' && isOwn(source)',
      test: "the gateway's own moves upstream are not differences; unknown payments that leave the account are",
    },
    'a failed upstream payment of an unknown order is reported as a difference': {
      file: 'src/domain/reconciliation/differences.ts',
      find: "state !== 'FAILED' && (state",
      put: '(state',
      test: "the gateway's own moves upstream are not differences; unknown payments that leave the account are",
    },
  },
  'test/rails/settling-cases.test.ts': {
    "a customer bears a provider's deviation": {
      file: 'src/domain/settlement/settle-case.ts',
      find: 'planDelivery(order, {',
      put: 'planDelivery({ ...order, transaction: { ...order.transaction, receivedAmount: outcome.amount ?? null } }, {',
      test: 'whatever a provider moves, customers get what was promised, and DIFFERENCES makes the books agree',
    },
    'a difference in an incoming amount is booked with the sign of an outgoing one': {
      file: 'src/domain/commands/movements.ts',
      find: "side === 'out' ? is.amount - was.amount : was.amount - is.amount",
      put: 'is.amount - was.amount',
      test: 'whatever a provider moves, customers get what was promised, and DIFFERENCES makes the books agree',
    },
    'the excess of a payout over what arrived is not noticed': {
      file: 'src/domain/settlement/cases.ts',
      find: 'if (arrived === amount && taken === amount) return undefined;',
      put: 'if (arrived === amount) return undefined;',
      test: 'a payout that took more is COMPLETED as promised; entries, act and case list show the difference',
    },
    'the reconciliation reports a settled difference': {
      file: 'src/domain/reconciliation/differences.ts',
      find: "case when o.kind = 'PAYOUT' then c.moved_out else c.moved_in end, case",
      put: 'null::bigint, case',
      test: 'a payout that took more is COMPLETED as promised; entries, act and case list show the difference',
    },
    'the database books any difference': {
      file: 'prisma/functions/commit/check_difference.sql',
      find: 'or v_booked is distinct from (case',
      put: 'or false and v_booked is distinct from (case',
      test: "the database books a difference only for an open case, and never on a customer's account",
    },
  },
  'test/rails/secrets.test.ts': {
    'the error of a failing provider contains the credentials': {
      file: 'src/rails/upstream/upstream-client.ts',
      find: 'const content = jsonIn(text, what);',
      put: 'const content = jsonIn(text, what);\n    if (statusCode >= 500) throw new Error(credentials);',
      test: 'no secret of a provider is logged, measured, traced or returned, even while secrets rotate',
    },
    "a provider's refusal repeats the credentials": {
      file: 'src/rails/upstream/upstream-client.ts',
      find: '[credentials, secret].reduce(hide, message)',
      put: 'message',
      test: 'no secret of a provider is logged, measured, traced or returned, even while secrets rotate',
    },
    "the parser's message shows part of an answer that is not JSON": {
      file: 'src/rails/upstream/upstream-client.ts',
      find: 'if (content === undefined) throw',
      put: 'if (content === undefined) JSON.parse(text);\n      if (content === undefined) throw',
      test: 'no secret of a provider is logged, measured, traced or returned, even while secrets rotate',
    },
  },
  'test/payments/robustness.test.ts': {
    'a rail is asked about all due orders concurrently': {
      file: 'src/domain/settlement/settlement.ts',
      find: 'new Slots(askedAtOnce)',
      put: 'new Slots(askedAtOnce * 100)',
      test: 'a slow rail is asked about at most 32 orders concurrently, so that none waits for its connection',
    },
  },
};
