import type { Bugs } from './plant.ts';

/** Bugs in the code that decides about statuses: the tables of transitions, the expiry, and the orders for the rail. */
export const statusBugs: Bugs = {
  'test/ledger/specified.test.ts': {
    'PROCESSING may become PENDING again': {
      file: 'prisma/functions/commit/status_moves.sql',
      find: "'PROCESSING > COMPLETED', 'PROCESSING > REJECTED',",
      put: "'PROCESSING > COMPLETED', 'PROCESSING > PENDING', 'PROCESSING > REJECTED',",
      test: 'a transaction has exactly the moves of decision 57',
    },
    'a quote may be executed again after it has failed': {
      file: 'prisma/functions/commit/status_moves.sql',
      find: "'PROCESSING > EXPIRED']\n    when 'transaction'",
      put: "'PROCESSING > EXPIRED', 'FAILED > PROCESSING']\n    when 'transaction'",
      test: 'a quote has exactly the moves of decision 50',
    },
    'an INACTIVE external account may go under review': {
      file: 'prisma/functions/commit/status_moves.sql',
      find: "'INACTIVE > ACTIVE']",
      put: "'INACTIVE > ACTIVE', 'INACTIVE > UNDER_REVIEW']",
      test: 'an external account has exactly the moves of decision 42',
    },
  },
  'test/ledger/invariants.test.ts': {
    'a transaction may make any transition': {
      file: 'prisma/functions/guards/guard_transaction.sql',
      find: "(old.status || ' > ' || new.status = any (status_moves('transaction'))) is not true then",
      put: 'false then',
      test: 'of a %s',
    },
  },
  'test/payments/expiry.test.ts': {
    'the expiry takes a quote that is PROCESSING': {
      file: 'src/domain/quotes/expiry.ts',
      find: 'quotes: [{ id: quote.id, ...end,',
      put: "quotes: [{ id: quote.id, ...end, from: ['PENDING', 'PROCESSING'],",
      test: 'an expiry that runs after the execution is refused, and changes nothing',
    },
    'the expiry takes a quote that is PROCESSING, and its transaction': {
      file: 'src/domain/quotes/expiry.ts',
      find: 'quotes: [{ id: quote.id, ...end,',
      put: "quotes: [{ id: quote.id, ...end, from: ['PENDING', 'PROCESSING'],",
      also: [
        {
          file: 'src/domain/quotes/expiry.ts',
          find: 'id: quote.transactionId, ...end,',
          put: "id: quote.transactionId, ...end, from: ['PENDING', 'PROCESSING'],",
        },
      ],
      test: 'an expiry that runs after the execution is refused, and changes nothing',
    },
    'the expiry finds quotes of every status': {
      file: 'src/domain/quotes/expiry.ts',
      find: "where status = 'PENDING' and expires_at <= (select clock_timestamp())",
      put: 'where expires_at <= (select clock_timestamp())',
      test: 'the expiry ignores quotes that have moved on',
    },
  },
  'test/ledger/locks.test.ts': {
    'the start of the transaction decides whether a quote has expired': {
      file: 'prisma/functions/commit/check_quotes.sql',
      find: "when q.status = 'PENDING' and m.expiry = 'before' and clock_timestamp() >= q.expires_at then",
      put: "when q.status = 'PENDING' and m.expiry = 'before' and now() >= q.expires_at then",
      test: 'a plan waits for a transaction that %s, and is refused for the new state',
    },
    'an expired quote is executed': {
      file: 'prisma/functions/commit/check_quotes.sql',
      find: "when q.status = 'PENDING' and m.expiry = 'before' and clock_timestamp() >= q.expires_at then",
      put: 'when false then',
      test: 'a plan waits for a transaction that %s, and is refused for the new state',
    },
  },
  'test/payments/deposit-races.test.ts': {
    'a deposit for a quote that has expired is credited each time': {
      file: 'prisma/functions/commit/check_expired.sql',
      find: '\n      or exists (select from journal j where j.platform_id = p_platform and j.transaction_id = q.transaction_id)',
      test: 'accepts one of several deposits that were planned before the first was committed',
    },
  },
  'test/database/leases.test.ts': {
    'a lease of orders expires immediately': {
      file: 'prisma/functions/leases/lease_rail_orders.sql',
      find: "set due_at = clock_ms() + p_lease_ms * interval '1 millisecond',",
      put: 'set due_at = clock_ms(),',
      test: 'rows of $table are leased in order of their due time, each to one worker, until its lease ends',
    },
    'no order is leased': {
      file: 'prisma/functions/leases/lease_rail_orders.sql',
      find: 'order by d.due_at limit p_limit for update skip locked',
      put: 'order by d.due_at limit 0 for update skip locked',
      test: 'rows of $table are leased in order of their due time, each to one worker, until its lease ends',
    },
  },
  'test/payments/pull.test.ts': {
    'an order that has its outcome is settled again': {
      file: 'prisma/functions/commit/check_orders.sql',
      find: ' and o.due_at is null',
      put: ' and false',
      test: 'a pull that two workers both see settle is credited once',
    },
  },
  'test/payments/suspense.test.ts': {
    'a refund in suspense is released each time that it is requested': {
      file: 'prisma/functions/commit/check_transactions.sql',
      find: ' or m.pays_refund and (t.refund_reference is null or t.refund_settled_at is not null)',
      test: 'is not paid twice by a release that was planned before another one',
    },
  },
  'test/payments/customers.test.ts': {
    'a customer who may not move money pays': {
      file: 'prisma/functions/commit/check_active_customers.sql',
      find: "and (c.is_deleted or c.kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') or",
      put: 'and (c.is_deleted or',
      test: 'let money move from the moment of approval, which a new name can bring',
    },
  },
};
