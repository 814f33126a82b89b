import type { Bugs } from './plant.ts';

/** Bugs in accounts, approvals, orders to rails and their settlement. */
export const settlementBugs: Bugs = {
  'src/domain/accounts/account-details.ts': {
    'payments/account-types › the sandbox accepts well-formed details, and both APIs warn of what PRODUCTION would refuse':
      {
        'details[name] ?? value)': 'value)',
      },
    'payments/account-types › PRODUCTION refuses it naming the field and the character or check digit, in both APIs alike':
      {
        'return expiry && expiry <= now ?': 'return expiry && expiry <= new Date(0) ?',
      },
    'payments/account-types › PRODUCTION accepts it as printed on invoices, and both APIs return the same canonical spelling':
      {
        'return [[name, formOf(field, details).canonical(value)]];': 'return [[name, field.canonical(value)]];',
      },
    'payments/account-types › the rail gets both the original name and the name as it transmits it': {
      'return name === undefined || !characters ? name : carriedName(name, characters).text;': 'return name;',
    },
    'payments/external-accounts › an account number ending in %s is verified as %s, with the names compared': {
      'return [explanation, compared].filter': 'return [explanation].filter',
    },
  },
  'src/domain/accounts/external-accounts.ts': {
    "access/grants › an app adds its customer's own account, and pays to it": {
      "return { ...input, customerId: input.customerId ?? publicId('Customer', bound.customerId) };":
        "return { ...input, platformAccountId: input.platformAccountId ?? publicId('Customer', bound.customerId) };",
    },
    'payments/account-checks › registering an account that the rail reports as INACTIVE is refused': {
      "!check.accepted || check.status === 'INACTIVE'": '!check.accepted',
    },
    'payments/external-account-changes › a deleted account remains in old payments, and is in no list and no new payment':
      {
        "to: 'INACTIVE', reason: 'deleted by the platform', set":
          "reason: 'deleted by the platform', set: { ...set, isDeleted: false }",
      },
    'payments/external-account-changes › a customer has one default deposit account: a new one replaces it, and it can be unset':
      {
        '...(defaultUmaDepositAccount != null && { defaultUmaDepositAccount }),':
          '...(defaultUmaDepositAccount && { defaultUmaDepositAccount }),',
      },
    'payments/external-account-changes › the platform’s own id can be set, keeps its value and can be removed': {
      '...(platformAccountId !== undefined && { platformAccountId }),':
        '...(platformAccountId && { platformAccountId }),',
    },
    'payments/account-checks › a deleted account is no longer checked': {
      '      checks: [{ accountId: id, dueInMs: null }],\n': '',
    },
    'payments/account-checks › an account does not go back to PENDING, whatever the rail reports': {
      'reported !== status && statusSources[reported].includes(status) ? reported : status': 'reported',
    },
    "payments/account-checks › a rail's answer about an account that has since changed is discarded, and the rail is asked again":
      {
        ", expected: { type: 'Account', id: account.id, version: account.version }": '',
      },
    'payments/account-checks › an account created in the future is reported to the rail with the maximum age': {
      'then 86400000': 'then 0',
    },
  },
  'src/domain/approvals/approvals.ts': {
    'ledger/locks › a decision that waits for a lock until its deadline has passed is refused': {
      ", approval: 'before' as const, ...move": ', ...move',
    },
    "payments/approval › gives its sender the platform's facts about the receiver in preference to the customer's record":
      {
        'requestedInformation: withValues(requested, known)':
          'requestedInformation: Object.entries(known).map(([name, value]) => ({ name, mandatory: false, value }))',
        '{ ...informationOf(customer), ...given }': '{ ...given, ...informationOf(customer) }',
      },
    'payments/four-eyes › a token without APPROVE cannot decide; APPROVE alone neither pays nor decides incoming payments':
      {
        "requirePermission(caller, 'APPROVE');": '',
      },
  },
  'src/domain/approvals/requests.ts': {
    'payments/four-eyes › expires if it is not decided in time': {
      "from: ['CREATED'], approval: 'before', makers": "from: ['CREATED'], makers",
    },
    'payments/four-eyes › can be rejected without having moved money (money reserved: %s)': {
      'journals: isReserved ? [refund(': 'journals: !waiting ? [refund(',
    },
    'payments/four-eyes › waits until a second person approves it (money reserved: %s)': {
      'return isReserved ? approved : {': 'return {',
    },
  },
  'src/domain/orders/order-ids.ts': {
    'database/restore › a payment repeated with the same key has the same order, so a provider does not pay twice': {
      'keyedOperation(caller, operation), key)': 'keyedOperation(caller, operation), fresh)',
    },
  },
  'src/domain/orders/orders.ts': {
    'ledger/locks › a platform that answers "later" after the deadline counts as not having answered': {
      'and t.approval_due_at > clock_timestamp())': ')',
    },
    'rails/upstream-webhooks › late, duplicate and reordered webhooks end a payment once, and do not end the watch for its return':
      {
        "($3 or t.status <> 'COMPLETED')": '($3 or true)',
      },
    'rails/upstream-deposits › a deposit that cannot be stored does not block other deposits, and is examined again': {
      'return readableText(value);': 'value',
    },
  },
  'src/domain/orders/scenario.ts': {
    'payments/approval › is the only payment whose scenario may decide on an approval': {
      'if (requested.approval !== undefined && !approval) {':
        'if (requested.approval !== undefined && !approval && step) {',
    },
  },
  'src/domain/providers/decide-deposits.ts': {
    'rails/upstream-deposits › a deposit that cannot be credited waits for a person, who decides whose it is': {
      'if (account.customer?.isDeleted)': 'if (!id)',
      'if (account.currency !== currency) {': 'if (account.currency === currency && !id) {',
      "const where = { platformId, id: uuid, status: 'UNATTRIBUTED' } as const;":
        'const where = { platformId, id: uuid };',
    },
    'rails/found-deposits › a deposit is never credited to an account of another platform, or to an external one': {
      "where: { platformId, id: name.id, kind: 'INTERNAL' }": "where: { id: name.id, kind: 'INTERNAL' }",
    },
  },
  'src/domain/providers/deposits.ts': {
    'rails/upstream-deposits › deposits without a webhook are found, including one that stays under way for a while': {
      'if (isOpen) oldestUnderWay': 'if (unsound.includes(deposit)) oldestUnderWay',
    },
    'rails/upstream-deposits › a deposit that cannot be stored does not block other deposits, and is examined again': {
      "deposits.filter((deposit) => deposit.state === 'SETTLED' && isSound(deposit));\n  if":
        "deposits.filter((deposit) => deposit.state === 'SETTLED');\n  if",
    },
    'rails/upstream-deposits › a deposit that cannot be credited waits for a person, who decides whose it is': {
      '\n     and not c.is_deleted\n': {
        put: '\n',
        also: [
          {
            file: 'prisma/functions/commit/check_balances.sql',
            find: 'v_account.change > 0 and v_account.owner_is_deleted',
            put: 'false',
          },
        ],
      },
    },
    'rails/found-deposits › a deposit %s is stored; one beyond is not, and the provider is asked about it again': {
      'amount >= 1n && amount <= maxAmount &&': 'amount >= 1n && amount <= maxAmount + 1n &&',
      'text.length >= 1 && text.length <= longestName': 'text.length >= 0 && text.length <= longestName',
    },
    'rails/found-deposits › a query starts two minutes before the last known deposit, and the next no later than the last one found':
      {
        'depositsFrom.getTime() - overlapMs': 'depositsFrom.getTime()',
      },
    'rails/found-deposits › a query never starts before the previous one, whatever is still under way': {
      'deposits_from = greatest(deposits_from, $2)': 'deposits_from = $2',
    },
    'rails/found-deposits › a deposit that is under way for %i days is queried for %i of them': {
      'Math.max(oldestUnderWay, latest - longestUnderWayMs)': 'oldestUnderWay',
    },
    "rails/found-deposits › a payer's memo is stored up to 1,000 characters": {
      'left(d.memo, 1000)': 'd.memo',
    },
  },
  'src/domain/providers/webhooks.ts': {
    'rails/upstream-webhooks › a pending identity check is decided when its provider reports it, and follows later changes':
      {
        "if (one.kind === 'identity') await wake": "if (one.kind === 'identity' && !platformId) await wake",
      },
    'rails/upstream-webhooks › late, duplicate and reordered webhooks end a payment once, and do not end the watch for its return':
      {
        'platform_id, webhook_id, body) values ($1, $2, $3) on conflict do nothing':
          'platform_id, webhook_id, body) values ($1, concat($2::text, uuid_v7()), $3)',
      },
  },
  'src/domain/reconciliation/balances.ts': {
    'rails/reconciliation › a balance difference is reported with both sides until it is explained; then only a new one is':
      {
        'return beyondLow <=': 'return known !== undefined || beyondLow <=',
        'beyondLow <= (known?.beyondHigh ?? 0n) && beyondHigh >= (known?.beyondLow ?? 0n)':
          'beyondLow <= 0n && beyondHigh >= 0n',
      },
    'rails/books › with a known difference of 5 to 9, %s to %s beyond the books agree: %s': {
      'beyondLow <= (known?.beyondHigh ?? 0n)': 'beyondLow < (known?.beyondHigh ?? 0n)',
    },
  },
  'src/domain/reconciliation/reconciliation.ts': {
    'rails/differences › a missed day is caught up within a week, one with an open difference within a month, each by one instance':
      {
        'x.closed_at is null and ': '',
      },
  },
  'src/domain/reconciliation/differences.ts': {
    "rails/reconciliation › the gateway's own moves upstream are not differences; unknown payments that leave the account are":
      {
        "state !== 'FAILED' && (state": '(state',
      },
    'rails/settling-cases › a payout that took more is COMPLETED as promised; entries, act and case list show the difference':
      {
        "case when o.kind = 'PAYOUT' then c.moved_out else c.moved_in end, case": 'null::bigint, case',
      },
    'rails/differences › an order that is %s in our books, with %o at the provider: %o': {
      "state !== 'UNDER_WAY' || direction !== 'IN'": "state !== 'UNDER_WAY'",
      "movement.state === 'SETTLED' && returned.has(order.id) ?": 'false ?',
    },
    'rails/differences › a provider is asked for all pages, and for an hour after the period': {
      'period.to.getTime() + laterMs': 'period.to.getTime()',
    },
    "rails/books › a movement without an order counts from the period's first moment to the last before its end": {
      'at >= from && at < to': 'at >= from && at <= to',
    },
    'rails/books › collected money counts as received, and as paid if it was returned': {
      'returnOf !== undefined || (order': '(order',
    },
    'rails/books › unsettled orders and movements do not count': {
      "if (!isInPeriod || state !== 'SETTLED') continue;": "if (!isInPeriod || state === 'FAILED') continue;",
    },
  },
  'src/domain/settlement/cases.ts': {
    'payments/leases › repeating a committed round whose answer was lost opens no case': {
      'const settled = isPull(order) ? pulled : status': {
        put: 'const settled = isPull(order) ? false : status',
        also: [
          {
            file: 'src/domain/settlement/cases.ts',
            find: "const failed = !settled && ['FAILED', 'REJECTED', 'EXPIRED'].includes(status);",
            put: 'const failed = !settled;',
          },
        ],
      },
    },
    'payments/leases › the second of two workers that conclude one pull opens a case only if its rail contradicts': {
      'isPull(order) ? pulled : status': "isPull(order) ? pulled && status === 'COMPLETED' : status",
    },
    'rails/upstream-quotes › a payment for which upstream took a different amount waits for a person, or for the locked amount':
      {
        'outcome.amount === lock.received && outcome.sent === lock.sent': 'outcome.amount === lock.received',
      },
    'rails/settling-cases › a payout that took more is COMPLETED as promised; entries, act and case list show the difference':
      {
        'if (arrived === amount && taken === amount) return undefined;': 'if (arrived === amount) return undefined;',
      },
    'rails/settling-cases › whatever a provider moves, customers get what was promised, and DIFFERENCES makes the books agree':
      {
        'planDelivery(order, {':
          'planDelivery({ ...order, transaction: { ...order.transaction, receivedAmount: outcome.amount ?? null } }, {',
      },
    'rails/settled-amounts › a payout that took %s is not settled: such an amount needs investigation': {
      'side.amount >= 0n && side.amount <= maxAmount': 'side.amount !== 0n',
    },
    'rails/settled-amounts › a payout that took %s is settled, and its difference is booked': {
      'side.amount >= 0n &&': 'side.amount > 0n &&',
    },
    'rails/settled-amounts › if less arrives than promised, a receiver %s': {
      "order.kind === 'PAYOUT' && order.destination?.kind !== 'INTERNAL'": "order.kind === 'PAYOUT'",
    },
  },
  'src/domain/settlement/order-by-hand.ts': {
    'payments/failing-orders › a worker that is faster than the person decides, and no worker takes the order meanwhile':
      {
        "set due_at = '-infinity'": 'set due_at = o.due_at',
      },
    'payments/failing-orders › a payment failed by command is refunded as if its rail refused it, and an act says who and why':
      {
        '      await recordAct(act, operator, facts);\n': '',
      },
    "payments/failing-orders › the rail's last report decides: a settled or failed order is refused, and the workers book it":
      {
        "if (!outcome) return 'the provider has no such payment';":
          "if (outcome?.kind !== 'pending') return 'the provider has no such payment';",
      },
    'payments/failing-orders › a payment whose rail reported a different amount is refused until a person has closed its case':
      {
        'if (open) throw new RefusedByHand': 'if (open?.closedAt) throw new RefusedByHand',
      },
    'payments/failing-orders › a pull for a payment to a UMA address, not yet up for a decision, ends by command': {
      'if (!isPull(order) && waitsForPlatform(order)) {': 'if (waitsForPlatform(order)) {',
    },
  },
  'src/domain/settlement/outcomes.ts': {
    "payments/failures › takes back the platform's part of the fees": {
      'platformAccountId: canReturnFee ? platformAccountId : null': 'platformAccountId: null',
    },
    'payments/failures › suffix 007: neither paid out nor refunded, the money waits in SUSPENSE': {
      'const stuck = failure.moneyStuck === true;': 'const stuck = false;',
    },
    'events/endings › a payment to an account here cannot be returned: it is final when it is COMPLETED': {
      "!incoming && order.destination?.kind !== 'INTERNAL'": '!incoming',
    },
    'payments/customer-deletion › gets no money back: a payment returned by a bank is suspended until it is released to the platform':
      {
        "return refusal.code === 'AMOUNT_OUT_OF_RANGE' || refusal.code === 'CUSTOMER_DELETED';":
          "return refusal.code === 'AMOUNT_OUT_OF_RANGE';",
      },
  },
  'src/domain/settlement/pay-request.ts': {
    'payments/approval › needs no decision if its scenario decides (step %s)': {
      'simulatedDecision(payments, order) ? 0 : payments.approvalMs': 'payments.approvalMs',
    },
  },
  'src/domain/settlement/settlement.ts': {
    'payments/leases › a payment is announced to its receiver while the rail is slow to answer for another one': {
      'const parts = [orders.filter(isToAnnounce), orders.filter((order) => !isToAnnounce(order))];':
        'const parts = [orders];',
    },
    'payments/robustness › a slow rail is asked about at most 32 orders concurrently, so that none waits for its connection':
      {
        'new Slots(askedAtOnce)': 'new Slots(askedAtOnce * 100)',
      },
    'payments/four-eyes › expires if it is not decided in time': {
      'order.approvalLeftMs !== null && order.approvalLeftMs > 0': 'order.approvalLeftMs !== null',
    },
  },
  'src/domain/settlement/suspense.ts': {
    'payments/customer-deletion › gets no money back: a payment returned by a bank is suspended until it is released to the platform':
      {
        'mergePlans(paid, planOnward(suspended))': 'paid',
      },
  },
};
