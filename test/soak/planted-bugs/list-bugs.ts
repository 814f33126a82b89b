import type { Bugs } from './plant.ts';

/** Bugs in lists and statements. */
export const listBugs: Bugs = {
  'test/payments/statements.test.ts': {
    'the balance of an unfinished period is a closing balance': {
      file: 'src/domain/statements/camt053.ts',
      find: "to < period.to ? 'ITBD' : 'CLBD'",
      put: "to > period.to ? 'ITBD' : 'CLBD'",
      test: 'an entry that returns money is a reversal, and an unfinished period has no closing balance',
    },
    'a refund is not a reversal': {
      file: 'src/domain/statements/camt053.ts',
      find: "new Set(['refund', ",
      put: 'new Set([',
      test: 'an entry that returns money is a reversal, and an unfinished period has no closing balance',
    },
    'an entry at the end of a period belongs to it': {
      file: 'prisma/functions/events/account_version_before.sql',
      find: 'uuid_v7_time(p.journal_id) < p_moment',
      put: 'uuid_v7_time(p.journal_id) <= p_moment',
      test: 'the opening balance and the entries of any period give its closing balance, and periods join',
    },
    'outgoing payments are listed as incoming': {
      file: 'src/api/graphql/schema/customers/statement.ts',
      find: "credits: t.fromQuery(StatementSum, statementSum('>')",
      put: "credits: t.fromQuery(StatementSum, statementSum('<')",
      test: 'the opening balance and the entries of any period give its closing balance, and periods join',
    },
    'the balance after an entry is shown to anyone who sees the payment': {
      file: 'src/api/graphql/schema/payments/transaction-history.ts',
      find: "seen: ['account', visibleAccounts],",
      put: 'seen: undefined as never,',
      test: "an app sees only its own customer's statement; a token bound to a payment sees no balance",
    },
  },
  'test/graphql/stock.test.ts': {
    'the Prisma plug-in rereads the row of an event, and shows its current state': {
      file: 'src/api/graphql/reading/plugin.ts',
      find: '(isElsewhere && isStock(context) ? resolver : own)',
      put: 'resolver',
      test: 'a payment that has changed is shown as of each event, in streams and in lists',
    },
    'the Prisma plug-in reads the rows of several platforms in one statement': {
      file: 'src/api/graphql/reading/stock.ts',
      find: 'findUnique: (args: { readonly where: Row }) => findFirst?.(flat(args)),',
      test: "the Prisma plug-in finds each platform's row, even when two platforms read in the same tick",
    },
  },
  'test/graphql/plans.test.ts': {
    'the payments of an account are searched on both sides in one condition, without an index': {
      file: 'src/api/graphql/reading/kinds.ts',
      find: 'columns.map((column) => [`${alias}.platform_id = ${row}.platform_id and ${oneOfFew(alias, column, `${row}.id`)}`]);',
      put: "[[`${alias}.platform_id = ${row}.platform_id and (${columns.map((column) => `${alias}.${column} = ${row}.id`).join(' or ')})`]];",
      test: '$name reads only rows of its parent, and no more than the page has',
    },
    "in the order of changes, a customer's rows are searched among the platform's": {
      file: 'src/infra/database/list-rows.ts',
      find: 'matching} offset 0)',
      put: 'matching})',
      test: '$name reads only rows of its parent, and no more than the page has',
    },
    'a whole table is read for a customer with few rows if most have many': {
      file: 'src/infra/database/list-rows.ts',
      find: ' and ${alias}.${column} between ${value} and ${value}`',
      put: '`',
      test: '$name reads only rows of its parent, and no more than the page has',
    },
    'Postgres plans twenty lists below a parent in each run': {
      file: 'src/infra/database/list-rows.ts',
      find: "if (below.length > 0) binds.planning ??= 'once';",
      put: '',
      test: '$name reads only rows of its parent, and no more than the page has',
    },
    'the entries of an account are read through an index that is not on the account': {
      file: 'src/api/graphql/reading/statement-reads.ts',
      find: "${oneOfFew(alias, 'account_id', `${row}.id`)}",
      put: '${alias}.account_id = ${row}.id',
      test: '$name reads only rows of its parent, and no more than the page has',
    },
    'a generic plan serves rare values': {
      file: 'src/infra/database/connections/statement-names.ts',
      find: "if (planning === 'anew') return '';",
      put: '',
      test: 'an index serves $name',
    },
    'no index covers failure reasons': {
      file: 'prisma/migrations',
      find: 'create index transaction_failure_reason on transaction (platform_id, failure_reason, id)',
      put: 'create index transaction_failed on transaction (platform_id, created_at, id)',
      test: 'an index serves $name',
    },
  },
  'test/graphql/paging.test.ts': {
    'in the order of changes, the row of the cursor is repeated': {
      file: 'src/core/paging.ts',
      find: '{ id: { [operator]: id } }',
      put: "{ id: { [strict + 'e']: id } }",
      test: 'in the order of changes, none is missed; newest first, none is met twice',
    },
    'a payment whose quote waits for its execution counts as executed': {
      file: 'src/domain/commands/filters.ts',
      find: "AND: [{ status: { not: 'PENDING' } }, { status: { not: 'EXPIRED' } }]",
      put: "AND: [{ status: { not: 'EXPIRED' } }]",
      test: 'each filter alone finds exactly the rows that have its value',
    },
    'an account is found on one side of a payment only': {
      file: 'src/domain/commands/filters.ts',
      find: 'OR: [fromAccount(name), toAccount(name)]',
      put: 'OR: [fromAccount(name)]',
      test: 'each filter alone finds exactly the rows that have its value',
    },
  },
  'test/graphql/list-bounds.test.ts': {
    'a list in an argument may be as long as a body': {
      file: 'src/api/graphql/wrong-value.ts',
      find: 'value.length > maxListLength',
      put: 'value.length > 1_000_000',
      test: 'a list with one value too many is refused, naming it and its limit: $root $name',
    },
  },
  'test/graphql/cost.test.ts': {
    'equal values of a filter are bound one by one': {
      file: 'src/infra/database/conditions.ts',
      find: '[...new Set(value as readonly unknown[])]',
      put: '[...(value as readonly unknown[])]',
      test: 'each value of a list in arguments costs 1, and equal values are bound once',
    },
    'a count costs as much as a column': {
      file: 'src/api/graphql/schema/list.ts',
      find: "extensions: { costs: 'all' }, ",
      test: 'makes a document expensive, and twenty of them are refused: %s',
    },
    'the same total under two aliases is read twice': {
      file: 'src/api/graphql/reading/sql.ts',
      find: 'this.#shared.findIndex((one) => one.meaning === meaning)',
      put: '-1',
      test: 'is read once when a document has it under several names, whatever its selections',
    },
  },
  'test/database/statement.test.ts': {
    'parameters beyond 65,535 wrap around in the message that binds them': {
      file: 'src/infra/database/connections/hosts.ts',
      find: 'values.length > maxParameters',
      put: 'values.length > 10 * maxParameters',
      test: 'a statement with more parameters than the protocol allows is refused before it is sent',
    },
  },
  'test/payments/customers.test.ts': {
    "a name is searched by its own language's lower case only": {
      file: 'src/core/texts.ts',
      find: 'for (const capital of letter.toLowerCase().toUpperCase()) folded += capital.toLowerCase();',
      put: 'folded += letter.toLowerCase();',
      test: 'a name is found by its prefix in any case of any script, composed or not, over both APIs',
    },
  },
  'test/events/live-lists.test.ts': {
    'a new name cannot be found': {
      file: 'prisma/functions/commit/apply_owner_changes.sql',
      find: 'search_name = v_customer.search_name, ',
      put: '',
      test: 'a list by name is followed in any case and composition of the name and the filter',
    },
  },
};
