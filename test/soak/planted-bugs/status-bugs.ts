import type { Bugs } from './plant.ts';

/** Bugs in what decides about statuses: the tables of moves, the expiry, and the orders for the rail. */
export const statusBugs: Bugs = {
  'test/ledger/specified.test.ts': {
    'PROCESSING may become PENDING again': {
      file: 'prisma/migrations',
      find: "('PROCESSING', 'COMPLETED'), ('PROCESSING', 'REJECTED'), ('PROCESSING', 'FAILED'),",
      put: "('PROCESSING', 'COMPLETED'), ('PROCESSING', 'REJECTED'), ('PROCESSING', 'FAILED'), ('PROCESSING', 'PENDING'),",
      test: 'a transaction has the moves of decision 57, and no others',
    },
    'a quote may be executed again after it has failed': {
      file: 'prisma/migrations',
      find: "('PROCESSING', 'COMPLETED'), ('PROCESSING', 'FAILED');",
      put: "('PROCESSING', 'COMPLETED'), ('PROCESSING', 'FAILED'), ('FAILED', 'PROCESSING');",
      test: 'a quote has the moves of decision 50, and no others',
    },
    'an INACTIVE account outside may go under review': {
      file: 'prisma/migrations',
      find: "('INACTIVE', 'ACTIVE');",
      put: "('INACTIVE', 'ACTIVE'), ('INACTIVE', 'UNDER_REVIEW');",
      test: 'an external account has the moves of decision 42, and no others',
    },
  },
  'test/ledger/invariants.test.ts': {
    'a transaction may move along no move': {
      file: 'prisma/functions/guard_transaction.sql',
      find: 'from transaction_move m where m."from" = old.status and m."to" = new.status) then',
      put: 'from transaction_move m) then',
      test: 'of a %s',
    },
  },
  'test/payments/expiry.test.ts': {
    'the expiry takes a quote that is PROCESSING': {
      file: 'src/payments/quotes/quote-end.ts',
      find: 'quotes: [{ id: quote.id, ...end,',
      put: "quotes: [{ id: quote.id, ...end, from: ['PENDING', 'PROCESSING'],",
      test: 'an expiry that comes after the execution is refused, and changes nothing',
    },
    'the expiry takes a quote that is PROCESSING, and its transaction': {
      file: 'src/payments/quotes/quote-end.ts',
      find: 'quotes: [{ id: quote.id, ...end,',
      put: "quotes: [{ id: quote.id, ...end, from: ['PENDING', 'PROCESSING'],",
      also: [
        {
          file: 'src/payments/quotes/quote-end.ts',
          find: 'id: quote.transactionId, ...end,',
          put: "id: quote.transactionId, ...end, from: ['PENDING', 'PROCESSING'],",
        },
      ],
      test: 'an expiry that comes after the execution is refused, and changes nothing',
    },
    'the expiry finds quotes of every status': {
      file: 'src/payments/quotes/expiry.ts',
      find: "where status = 'PENDING' and expires_at <= (select clock_timestamp())",
      put: 'where expires_at <= (select clock_timestamp())',
      test: 'the expiry finds no quote that has moved on',
    },
  },
  'test/ledger/locks.test.ts': {
    'the start of the transaction decides whether a quote has expired': {
      file: 'prisma/functions/check_quotes.sql',
      find: "(v_status = 'PENDING' and v_move ->> 'expiry' = 'before' and clock_timestamp() >= v_expires_at)",
      put: "(v_status = 'PENDING' and v_move ->> 'expiry' = 'before' and now() >= v_expires_at)",
      test: 'a quote that expires while its execution waits is not executed',
    },
    'an expired quote is executed': {
      file: 'prisma/functions/check_quotes.sql',
      find: "(v_status = 'PENDING' and v_move ->> 'expiry' = 'before' and clock_timestamp() >= v_expires_at)",
      put: 'false',
      test: 'a quote that expires while its execution waits is not executed',
    },
  },
  'test/payments/deposit-races.test.ts': {
    'a deposit for a quote that has expired is credited each time': {
      file: 'prisma/functions/check_expired.sql',
      find: '\n       or exists (select from journal j where j.platform_id = p_platform and j.transaction_id = v_transaction)',
      test: 'takes one deposit of those that have planned before the first was committed',
    },
  },
  'test/database/leases.test.ts': {
    'a lease of orders ends at once': {
      file: 'prisma/functions/lease_rail_orders.sql',
      find: "set due_at = clock_ms() + p_lease_ms * interval '1 millisecond',",
      put: 'set due_at = clock_ms(),',
      test: 'rows of $table are leased in the order in which they are due, each to one worker, until its lease ends',
    },
    'no order is leased': {
      file: 'prisma/functions/lease_rail_orders.sql',
      find: 'order by d.due_at limit p_limit for update skip locked',
      put: 'order by d.due_at limit 0 for update skip locked',
      test: 'rows of $table are leased in the order in which they are due, each to one worker, until its lease ends',
    },
  },
  'test/payments/pull.test.ts': {
    'an order that has its outcome is settled again': {
      file: 'prisma/functions/check_orders.sql',
      find: '\n  if found then',
      put: '\n  if false then',
      test: 'a pull that two workers both saw settle is credited once',
    },
  },
  'test/payments/suspense.test.ts': {
    'a refund in suspense is released as often as somebody asks': {
      file: 'prisma/functions/check_transactions.sql',
      find: " or ((v_move ->> 'pays_refund')::boolean and not v_refund_waits)",
      test: 'is not paid by a release that was planned before another one',
    },
  },
  'test/payments/customers.test.ts': {
    'a customer who may not move money pays': {
      file: 'prisma/functions/check_active_customers.sql',
      find: "if v_is_deleted or v_kyc_status not in ('APPROVED', 'MANUALLY_APPROVED') then",
      put: 'if v_is_deleted then',
      test: 'money moves from the moment of approval, which a new name brings',
    },
  },
};
