import type { Bug } from './plant.ts';

const anyPeriod = {
  file: 'test/payments/statements.test.ts',
  title: 'the opening balance and the entries of any period make its closing balance, and periods join',
};
const anyPlan = { file: 'test/graphql/plans.test.ts', title: 'an index serves $name' };
const flatBelow = {
  file: 'test/graphql/plans.test.ts',
  title: '$name reads rows of its parent alone, and no more than the page has',
};
const everyFilter = {
  file: 'test/graphql/paging.test.ts',
  title: 'every filter alone finds the rows that have its value, and no other',
};

/** Bugs in lists and statements. */
export const listBugs: readonly Bug[] = [
  {
    bug: 'an entry at the end of a period belongs to it',
    file: 'prisma/functions/account_version_before.sql',
    find: 'uuid_v7_time(p.journal_id) < p_moment',
    put: 'uuid_v7_time(p.journal_id) <= p_moment',
    caughtBy: anyPeriod,
  },
  {
    bug: 'what goes out is among what comes in',
    file: 'src/graphql/schema/customers/statement.ts',
    find: "credits: t.field({ type: StatementSum, description: 'What came in.', ...planned(sumRead('>')) })",
    put: "credits: t.field({ type: StatementSum, description: 'What came in.', ...planned(sumRead('<')) })",
    caughtBy: anyPeriod,
  },
  {
    bug: 'the balance after an entry is shown to whoever sees the payment',
    file: 'src/graphql/schema/payments/transaction-history.ts',
    find: 'unless: isHidden,',
    put: "unless: () => ['false'],",
    caughtBy: {
      file: 'test/payments/statements.test.ts',
      title: "an app sees its own customer's statement, and no other; the token of a payment no balance",
    },
  },
  {
    bug: 'the payments of an account are sought on both sides at once, which no index serves',
    file: 'src/graphql/schema/customers/statement.ts',
    find: "const onEitherSide = referringBy('source_account_id', 'destination_account_id');",
    put: "const onEitherSide = ({ row }: Record<string, string>, x: string) => [[[x, '.platform_id = ', row, '.platform_id and (', x, '.source_account_id = ', row, '.id or ', x, '.destination_account_id = ', row, '.id)'].join('')]];",
    caughtBy: flatBelow,
  },
  {
    bug: "in the order of changes, the rows of a customer are sought among the platform's",
    file: 'src/database/list-rows.ts',
    find: 'rows} offset 0)',
    put: 'rows})',
    caughtBy: flatBelow,
  },
  {
    bug: 'a table is read to its end for a customer with few rows, where most have many',
    file: 'src/database/list-rows.ts',
    find: ' and ${alias}.${column} between ${value} and ${value}`',
    put: '`',
    caughtBy: flatBelow,
  },
  {
    bug: 'in the order of changes, the row of the cursor comes again',
    file: 'src/core/paging.ts',
    find: '{ id: { [operator]: id } }',
    put: "{ id: { [strict + 'e']: id } }",
    caughtBy: {
      file: 'test/graphql/paging.test.ts',
      title:
        'in the order of changes, rows that change meanwhile are met again, and none is missed; newest first, none is met twice',
    },
  },
  {
    bug: 'a payment whose quote waits for its execution counts as executed',
    file: 'src/payments/filters.ts',
    find: "AND: [{ status: { not: 'PENDING' } }, { status: { not: 'EXPIRED' } }]",
    put: "AND: [{ status: { not: 'EXPIRED' } }]",
    caughtBy: everyFilter,
  },
  {
    bug: 'an account is found on one side of a payment only',
    file: 'src/payments/filters.ts',
    find: 'OR: [fromAccount(name), toAccount(name)]',
    put: 'OR: [fromAccount(name)]',
    caughtBy: everyFilter,
  },
  {
    bug: 'a plan for any value serves the rare ones',
    file: 'src/database/database.ts',
    find: "isPlannedAnew ? '' : names.nameOf(text)",
    put: 'isPlannedAnew ? names.nameOf(text) : names.nameOf(text)',
    caughtBy: anyPlan,
  },
  {
    bug: 'no index has the reasons of failures',
    file: 'prisma/migrations',
    find: 'create index transaction_failure_reason on transaction (platform_id, failure_reason, id)',
    put: 'create index transaction_failed on transaction (platform_id, created_at, id)',
    caughtBy: anyPlan,
  },
];
