import type { Bugs } from './plant.ts';

/** Bugs in the code that decides about money: locks, idempotency keys, journals, balances and the feed. */
export const ledgerBugs: Bugs = {
  'test/access/database-wall.test.ts': {
    'a plan inserts rows of other platforms': {
      file: 'prisma/functions/commit/apply_plans.sql',
      find: "if p_plans @? '$[*] ? (@.plan.insert.*[*].platform_id != @.platform)' then",
      put: 'if false then',
      test: 'a plan cannot insert a row of another platform',
    },
  },
  'test/ledger/locks.test.ts': {
    'a plan does not lock the quotes that it moves': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: 'perform from quote where platform_id = any (v_platforms) and id = any (v_changed) order by platform_id, id for no key update;',
      put: 'null;',
      test: 'a plan waits for a transaction that %s, and is refused for the new state',
    },
    'a plan does not lock the transactions that it moves': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: `perform from transaction where platform_id = any (v_platforms) and id = any (v_changed)
    order by platform_id, id for no key update;`,
      put: 'null;',
      test: 'a plan waits for a transaction that %s, and is refused for the new state',
    },
    'a plan does not lock the internal accounts that it debits and credits': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: 'perform from account where platform_id = any (v_platforms) and id = any (v_changed) order by platform_id, id for no key update;',
      put: 'null;',
      test: 'a plan waits for other changes of the account that it credits, and then sees its balance',
    },
    'a plan does not lock the orders that it closes': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: `perform from rail_order where platform_id = any (v_platforms) and id = any (v_changed)
    order by platform_id, id for no key update;`,
      put: 'null;',
      test: 'a plan waits for a transaction that %s, and is refused for the new state',
    },
    'a plan does not lock the customers who take part': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: 'perform from customer where platform_id = any (v_platforms) and id = any (v_active) order by platform_id, id for share;',
      put: 'null;',
      test: 'a plan waits for a transaction that %s, and is refused for the new state',
    },
    'the balance of a frozen account falls': {
      file: 'prisma/functions/commit/check_balances.sql',
      find: 'if v_account.change < 0 and v_account.frozen_at is not null then',
      put: 'if false then',
      test: 'a plan waits for the freeze of the account that it debits, and then takes nothing from it',
    },
    'a deletion does not lock the accounts of its customer': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: "legs[*].account')) || v_emptied;",
      put: "legs[*].account'));",
      test: 'a deletion waits for a credit to the customer, and then is refused with the balance',
    },
    'a decision that waited past the deadline counts': {
      file: 'src/domain/approvals/approvals.ts',
      find: ", approval: 'before' as const, ...move",
      put: ', ...move',
      test: 'a decision that waits for a lock until its deadline has passed is refused',
    },
    'the deadline is compared with the start of the database transaction': {
      file: 'prisma/functions/commit/check_transactions.sql',
      find: 'clock_timestamp() >= t.approval_due_at',
      put: 'now() >= t.approval_due_at',
      test: 'a decision that waits for a lock until its deadline has passed is refused',
    },
    'a platform that answers "later" after the deadline has answered': {
      file: 'src/domain/orders/orders.ts',
      find: 'and t.approval_due_at > clock_timestamp())',
      put: ')',
      test: 'a platform that answers "later" after the deadline has not answered',
    },
    'a quote is created from a lookup that expired while it waited': {
      file: 'prisma/functions/commit/check_lookups.sql',
      find: 'clock_timestamp()',
      put: 'now()',
      test: 'a quote whose lookup expires while it waits is refused',
    },
    "a change overwrites a customer's name that has meanwhile changed": {
      file: 'src/domain/customers/customer-changes.ts',
      find: '...(columns.name === customer.name && { name: undefined, searchName: undefined }),',
      test: "a change that repeats a customer's name does not undo a concurrent change of it",
    },
    'the journal of an adjustment is dated before its account is locked': {
      file: 'prisma/functions/commit/apply_plans.sql',
      find: 'v_id := to_jsonb(uuid_v7());',
      put: "v_id := to_jsonb(overlay(uuid_v7()::text placing '00' from 7 for 2));",
      test: 'an adjustment that waited for its account is dated after the entries before it',
    },
    'a plan does not lock the external accounts that take part': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: `kind = 'EXTERNAL' and id = any (v_active)
    order by platform_id, id for share;`,
      put: `kind = 'EXTERNAL' and id = any (v_active)
    order by platform_id, id;`,
      test: 'a plan waits for a transaction that %s, and is refused for the new state',
    },
    'calls with one idempotency key do not wait for each other': {
      file: 'prisma/functions/commit/lock_plans.sql',
      find: 'perform lock_claims(p_plans);',
      put: 'null;',
      test: 'a call waits for the first one with its key, and then gets the same answer',
    },
  },
  'test/payments/freezing.test.ts': {
    'a freeze of a customer does not lock its accounts': {
      file: 'prisma/functions/commit/set_frozen.sql',
      find: `    perform from account where platform_id = v_platform and customer_id = p_id and kind = 'INTERNAL'
    order by platform_id, id for no key update;
`,
      test: 'of an account, or of a customer whose payment locks only the account, is decided by the lock',
    },
  },
  'test/payments/cancel-quote.test.ts': {
    'a cancelled quote reports its original expiry': {
      file: 'prisma/functions/commit/check_quotes.sql',
      find: 'least(q.expires_at, q.updated_at)',
      put: 'q.expires_at',
      test: 'a cancelled quote expires immediately, with its transaction, and can no longer be executed',
    },
    'an identity check is decided by its platform outside the sandbox': {
      file: 'src/domain/sandbox/set-kyc-status.ts',
      find: 'simulationOf(payments, caller);',
      test: 'in the sandbox a platform decides whether a customer may move money',
    },
  },
  'test/payments/customer-deletion.test.ts': {
    'a customer is deleted whatever it holds': {
      file: 'prisma/functions/commit/check_deletion.sql',
      find: "if v_balances <> '[]' or",
      put: 'if',
      test: 'cannot be deleted, and the refusal lists the balances; once the money is paid out, it can',
    },
    'a customer is deleted while payments to it are under way': {
      file: 'prisma/functions/commit/check_deletion.sql',
      find: '(t.customer_id = p_customer or t.destination_account_id = any (v_accounts))',
      put: 't.customer_id = p_customer',
      test: 'cannot be deleted, whether it pays or is paid',
    },
    'a deleted customer receives money': {
      file: 'prisma/functions/commit/check_balances.sql',
      find: 'v_account.change > 0 and v_account.owner_is_deleted',
      put: 'false',
      test: 'accepts no deposit, not even a late one for its own quote',
    },
    'a return to a deleted customer is retried forever': {
      file: 'src/domain/settlement/refused-credit.ts',
      find: "return refusal.code === 'AMOUNT_OUT_OF_RANGE' || refusal.code === 'CUSTOMER_DELETED';",
      put: "return refusal.code === 'AMOUNT_OUT_OF_RANGE';",
      test: 'gets no money back: a payment returned by a bank is suspended until it is released to the platform',
    },
    'the refund of a deleted customer stays with it': {
      file: 'src/domain/settlement/suspense.ts',
      find: 'mergePlans(paid, planOnward(suspended))',
      put: 'paid',
      test: 'gets no money back: a payment returned by a bank is suspended until it is released to the platform',
    },
  },
  'test/ledger/audit.test.ts': {
    'the auditor leaves out payments that a policy has released': {
      file: 'src/domain/ledger/policy-rules.ts',
      find: "and u.currency = coalesce(l.value ->> 'currency', u.currency)",
      put: "and u.currency = coalesce(l.value ->> 'currency', u.currency) and u.released_at is null",
      test: 'an audit of all rows finds damage from before the checkpoint: %s',
    },
    'the auditor takes entries in any order of their times': {
      file: 'src/domain/ledger/ledger-rules.ts',
      find: 'where s.created_at < s.created_before and not',
      put: 'where false and not',
      test: 'an audit of all rows finds damage from before the checkpoint: %s',
    },
  },
  'test/payments/leases.test.ts': {
    'a repeat that finds its own outcome opens a case': {
      file: 'src/domain/settlement/cases.ts',
      find: 'const settled = isPull(order) ? pulled : status',
      put: 'const settled = isPull(order) ? false : status',
      also: [
        {
          file: 'src/domain/settlement/cases.ts',
          find: "const failed = !settled && ['FAILED', 'REJECTED', 'EXPIRED'].includes(status);",
          put: 'const failed = !settled;',
        },
      ],
      test: 'repeating a committed round whose answer was lost opens no case',
    },
    'a failure reported after a settled pull opens no case': {
      file: 'src/domain/settlement/cases.ts',
      find: 'isPull(order) ? pulled : status',
      put: "isPull(order) ? pulled && status === 'COMPLETED' : status",
      test: 'the second of two workers that conclude one pull opens a case only if its rail contradicts',
    },
    'an announcement waits for the slowest rail of its round': {
      file: 'src/domain/settlement/settlement.ts',
      find: 'const parts = [orders.filter(isToAnnounce), orders.filter((order) => !isToAnnounce(order))];',
      put: 'const parts = [orders];',
      test: 'a payment is announced to its receiver while the rail is slow to answer for another one',
    },
    'a quote that another process has expired is reported as one that cannot be expired': {
      file: 'src/domain/quotes/expiry.ts',
      find: " || refusal?.code === 'QUOTE_EXPIRED'",
      test: 'quotes expired by a commit whose answer was lost stay expired, and nothing is reported',
    },
  },
  'test/ledger/batches.test.ts': {
    'a deletion shares a batch with deposits and payments': {
      file: 'src/domain/ledger/batches.ts',
      find: 'if (customers?.some(({ set }) => set.isDeleted)) {',
      put: 'if (false) {',
      test: 'a deletion follows earlier money and payments, and precedes later ones',
    },
    'plans on one account share a batch': {
      file: 'src/domain/ledger/batches.ts',
      find: "for (const leg of legs) if ('account' in leg) addBoth(keys, rowKey('Account', leg.account));",
      put: 'for (const leg of legs) void leg;',
      test: 'plans on one account go into successive batches; the others need no batch of their own',
    },
  },
  'test/payments/transfer-internal.test.ts': {
    'a transfer between accounts does not arrive as a payment of its receiver': {
      file: 'src/domain/transfers/transfers.ts',
      find: 'return mergePlans(sent, arrived);',
      put: 'return mergePlans(sent, { journals: arrived.journals ?? [] });',
      test: 'from %s money moves immediately, with a payment on each side',
    },
    'any customer can pay another one, even if it may not move money': {
      file: 'src/domain/transfers/transfers.ts',
      find: 'to.customerId === null ? [] : ownersOf(from, to)',
      put: 'ownersOf(to)',
      test: 'a customer who may not move money can pay only the platform, and cannot be paid',
    },
  },
  'test/ledger/journal-legs.test.ts': {
    'one unit of the fees goes to LIQUIDITY, in a journal that balances': {
      file: 'src/domain/commands/movements.ts',
      find: 'const net = flow.sent - flow.fees;',
      put: 'flow = { ...flow, fees: flow.fees - 1n };\n  const net = flow.sent - flow.fees;',
      test: 'each kind of journal has exactly the legs of decision 58',
    },
    "a refund goes to the platform's fee account if there is a fee": {
      file: 'src/domain/commands/movements.ts',
      find: '{ account: flow.sourceAccountId, currency: flow.sendingCurrency, amount: flow.sent, exempt: true },',
      put: '{ account: flow.platformAccountId ?? flow.sourceAccountId, currency: flow.sendingCurrency, amount: flow.sent, exempt: true },',
      test: 'each kind of journal has exactly the legs of decision 58',
    },
  },
  'test/payments/failures.test.ts': {
    'a returned payment keeps the fee of the platform': {
      file: 'src/domain/settlement/outcomes.ts',
      find: 'platformAccountId: platformAccount?.canReturnFee ? platformAccount.id : undefined',
      put: 'platformAccountId: undefined',
      test: "takes back the platform's part of the fees",
    },
    'money that the rail has not returned is refunded': {
      file: 'src/domain/settlement/outcomes.ts',
      find: 'const stuck = failure.moneyStuck === true;',
      put: 'const stuck = false;',
      test: 'suffix 007: neither paid out nor refunded, the money waits in SUSPENSE',
    },
  },
  'test/ledger/specified.test.ts': {
    'refusals with the statuses 403 and 404 are stored under a key': {
      file: 'prisma/functions/commit/conclude_plan.sql',
      find: `
     and (p_refusal is null or p_refusal ->> 'code' not in ('USER_NOT_READY', 'CUSTOMER_FROZEN', 'ACCOUNT_FROZEN', 'LIMIT_EXCEEDED', 'APPROVAL_REQUIRED', 'FORBIDDEN', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND', 'LOOKUP_REQUEST_NOT_FOUND'))`,
      test: 'is what decision 6 says, for every refusal by the database',
    },
  },
  'test/payments/concurrency.test.ts': {
    'no refusal is stored under a key': {
      file: 'prisma/functions/commit/conclude_plan.sql',
      find: `
     and (p_refusal is null or p_refusal ->> 'code' not in ('USER_NOT_READY', 'CUSTOMER_FROZEN', 'ACCOUNT_FROZEN', 'LIMIT_EXCEEDED', 'APPROVAL_REQUIRED', 'FORBIDDEN', 'QUOTE_NOT_FOUND', 'TRANSACTION_NOT_FOUND', 'LOOKUP_REQUEST_NOT_FOUND'))`,
      put: '\n     and p_refusal is null',
      test: 'a refusal for lack of money remains the answer to its key after the account is funded',
    },
    'a key is accepted again with a different input': {
      file: 'prisma/functions/commit/first_answer.sql',
      find: "when r.request_hash <> decode(p_claim ->> 'hash', 'hex') then",
      put: 'when false then',
      test: '20 parallel callers with one key and different inputs: one takes effect, the others mismatch',
    },
  },
  'test/ledger/invariants.test.ts': {
    'a balance may go below zero': {
      file: 'prisma/functions/guards/is_sound_account.sql',
      find: 'return a.posted >= 0\n    and case',
      put: 'return case',
      test: 'never goes below zero',
    },
    'a journal need not balance': {
      file: 'prisma/functions/guards/check_journal.sql',
      find: ' or bool_or(c.sum <> 0)',
      test: 'is refused at its commit if it does not balance in each currency',
    },
    'a sealed journal accepts more legs': {
      file: 'prisma/functions/guards/check_legs.sql',
      find: ' and age(j.xmin) = 0)) then',
      put: ')) then',
      test: 'is sealed once committed: no late leg, change, deletion or truncation',
    },
  },
  'test/payments/balance-limit.test.ts': {
    'incoming money does not count towards the maximum balance': {
      file: 'prisma/functions/commit/check_capacity.sql',
      find: "t.status in ('PENDING', 'PROCESSING')",
      put: "t.status in ('COMPLETED')",
      test: 'counts towards the limit: of concurrent transfers-in those that fit are accepted, and all end',
    },
  },
  'test/payments/realtime-funding.test.ts': {
    'the feed numbers the events of a step in the opposite order': {
      file: 'prisma/functions/events/sequence_outbox.sql',
      find: 'row_number() over (partition by t.platform_id order by t.id)',
      put: 'row_number() over (partition by t.platform_id order by t.id desc)',
      test: 'appears as a change of balance before the payment proceeds',
    },
  },
  'test/events/list.test.ts': {
    'the feed skips a number with each step': {
      file: 'prisma/functions/events/sequence_outbox.sql',
      find: 'do update set sequence = h.sequence + excluded.sequence',
      put: 'do update set sequence = h.sequence + excluded.sequence + 1',
      test: 'the feed of each platform has every number from 1 to its end, despite concurrent writes',
    },
  },
  'test/rails/upstream-quotes.test.ts': {
    'a quote outlives its lock at the rail': {
      file: 'src/domain/quotes/quote-rows.ts',
      find: 'Math.floor(lock?.validMs ?? Number.POSITIVE_INFINITY)',
      put: 'Number.POSITIVE_INFINITY',
      test: 'a quote fixing the %s side is locked upstream first, and its payment executes the upstream quote',
    },
    'a rail takes an amount different from its lock, and no case is opened': {
      file: 'src/domain/settlement/cases.ts',
      find: 'outcome.amount === lock.received && outcome.sent === lock.sent',
      put: 'outcome.amount === lock.received',
      test: 'a payment for which upstream took a different amount waits for a person, or for the locked amount',
    },
    'money converted by a rail leaves in the receiving currency': {
      file: 'src/domain/commands/movements.ts',
      find: ': { currency: flow.sendingCurrency, amount: flow.lockedSent }',
      put: ': { currency: flow.receivingCurrency, amount: flow.received }',
      test: 'a quote fixing the %s side is locked upstream first, and its payment executes the upstream quote',
    },
    'an order that was executed before a restore waits forever': {
      file: 'src/rails/upstream/upstream-orders.ts',
      find: "new Set(['IDEMPOTENCY_MISMATCH', 'CONFLICT'])",
      put: 'new Set()',
      test: 'an order executed before a restore is found again, although its repeat locked a new quote',
    },
  },
  'test/ledger/audit-checkpoint.test.ts': {
    'an audit from a checkpoint starts at the time of the newest journal': {
      file: 'src/domain/ledger/rows-since.ts',
      find: 'least(m.journal_at, e.oldest, o.oldest)',
      put: 'm.journal_at',
      test: 'finds a journal that was an hour old when it committed',
    },
    'an audit continues from a checkpoint although the last one found broken rules': {
      file: 'src/domain/ledger/checkpoint.ts',
      find: "if (row.broken > 0) return 'the last audit found broken rules';",
      test: 'does not make the ledger look sound after another audit has found a broken rule',
    },
  },
  'test/ledger/audit-replica.test.ts': {
    'an audit reads from a standby that has not replayed the rows to cover': {
      file: 'src/domain/ledger/audit.ts',
      find: 'if (rows[0]?.done) return;',
      put: 'return;',
      test: 'a standby that does not replay, or another server, cannot be audited',
    },
  },
};
