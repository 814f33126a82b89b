import {
  type GraphQLArgument,
  type GraphQLInputField,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
} from 'graphql';
import { schema } from '../../src/api/graphql/server/schema.ts';
import type { TestGateway } from './gateway.ts';
import { type FilledTable, manyOf, type Parents, planOf, type Size, type Templates } from './plans.ts';

const tables: Readonly<Record<string, FilledTable>> = {
  accounts: 'account',
  deliveries: 'webhook_delivery',
  ledgerEntries: 'posting',
  quotes: 'quote',
  transactions: 'transaction',
  transactionTotals: 'transaction',
};

/** A list field of a parent type. A list that takes a filter but is not paged returns totals. */
type ListBelow = (typeof listsBelow)[number];

/** The schema's lists below a parent. A field is a list if it is paged or takes a filter. */
export const listsBelow = Object.values(schema.getTypeMap())
  .filter((type) => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node'))
  .flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()).map((field) => ({ type, field })) : []))
  .filter(({ field: { args } }) => args.some(({ name }) => name === 'first' || name === 'filter'))
  .map(({ type, field: { name, args } }) => {
    const table = tables[name];
    if (!table) throw new Error(`test/setup/plans-below.ts has no table for ${type.name}.${name}`);
    const isPaged = args.some(({ name: arg }) => arg === 'first');
    // The cast is unchecked. For a type that is not in `Parents`, reading the list fails.
    return { name: `${type.name}.${name}`, parent: type.name as keyof Parents, field: name, args, isPaged, table };
  });

function filterFieldsOf(args: readonly GraphQLArgument[]): readonly GraphQLInputField[] {
  const type = getNamedType(args.find(({ name }) => name === 'filter')?.type);
  return isInputObjectType(type) ? Object.values(type.getFields()) : [];
}

/** Values for the filter fields that name a row's owner: the id of a parent, or a value that no parent has. */
const namesOf = ({ Customer, InternalAccount, ExternalAccount }: Parents): Readonly<Record<string, string>> => ({
  accountId: InternalAccount,
  customerId: Customer,
  platformCustomerId: 'filler-17',
  receiverAccountIdentifier: ExternalAccount,
  receivingAccountId: ExternalAccount,
  receivingUmaAddress: '$nobody@nobody.example',
  reference: 'filler-17',
  senderAccountIdentifier: InternalAccount,
  sendingAccountId: InternalAccount,
  sendingUmaAddress: '$nobody@nobody.example',
  umaAddress: '$nobody@nobody.example',
});

/** For each filter field that is not an enum, a value that few or no rows have. */
const filterValues = (parents: Parents): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(Object.entries(namesOf(parents)).map(([name, value]) => [name, `"${value}"`])),
  amount: '{ currency: "USD", min: 500, max: 503 }',
  createdAfter: '"2001-01-01T00:00:00Z"',
  createdBefore: '"1999-01-01T00:00:00Z"',
  currency: '"JPY"',
  executed: 'true',
  isIncludingDeleted: 'true',
  platformOwned: 'true',
  updatedAfter: '"2001-01-01T00:00:00Z"',
  updatedBefore: '"2001-01-01T00:00:00Z"',
});

/** Returns the arguments to try for a list; `isWhole` says whether the query may have to read all the parent's rows. */
function argumentsOf({ args, isPaged }: ListBelow, other: Parents, cursor: string | undefined) {
  const has = (name: string) => args.some((arg) => arg.name === name);
  const inPages = isPaged ? ['first: 5', 'last: 5', 'first: 5, sortOrder: ASC', 'last: 5, sortOrder: ASC'] : [];
  const sorted = inPages.filter((one) => has('sortOrder') || !one.includes('sortOrder'));
  const after = cursor === undefined ? [] : [`first: 5, after: "${cursor}"`, `last: 5, before: "${cursor}"`];
  const byChange = has('orderBy') ? ['first: 5, orderBy: UPDATED', 'last: 5, orderBy: UPDATED'] : [];
  const ofPeriod = has('from') ? ['first: 5, from: "2001-01-01T00:00:00Z", to: "2002-01-01T00:00:00Z"'] : [];
  const values = filterValues(other);
  const filtered = filterFieldsOf(args).flatMap((field) =>
    (enumValuesOf(field) ?? [values[field.name]]).map((value) => {
      if (value === undefined) throw new Error(`test/setup/plans-below.ts has no value for the filter ${field.name}`);
      return `${isPaged ? 'first: 5, ' : ''}filter: { ${field.name}: ${value} }`;
    }),
  );
  return [
    ...[...sorted, ...after].map((text) => ({ text, isWhole: false })),
    ...[...(isPaged ? [] : ['']), ...byChange, ...ofPeriod, ...filtered].map((text) => ({ text, isWhole: true })),
  ];
}

/** Returns two values of the field's enum, one of them rare, each in a list if the field takes a list. */
function enumValuesOf({ type }: GraphQLInputField): readonly string[] | undefined {
  const named = getNamedType(type);
  if (!isEnumType(named)) return undefined;
  const names = named.getValues().map(({ name }) => name);
  return [names.at(0), names.at(-1)].map((name) => (isListType(type) ? `[${name}]` : `${name}`));
}

const page = '{ edges { node { id } cursor } pageInfo { hasNextPage hasPreviousPage } }';

/** Returns the arguments for which the query reads too many rows, or leaves the choice of plan to Postgres. */
export async function readsTooMuch(
  t: TestGateway,
  list: ListBelow,
  { parents }: Templates,
  size: Exclude<Size, 'most'>,
  rows: number,
): Promise<string[]> {
  const { parent, field, isPaged, table } = list;
  const id = parents[size][parent];
  const documentOf = (args: string) =>
    `query ($id: ID!) { node(id: $id) { ... on ${parent} { ${field}${args && `(${args})`} ${isPaged ? page : '{ count }'} } } }`;
  const { node } = isPaged ? await t.platform.ask(documentOf('first: 3'), { id }) : {};
  const found: string[] = [];
  const known = { many: manyOf(rows), few: 3, none: 0 }[size];
  for (const { text, isWhole } of argumentsOf(list, parents.most, node?.[field].edges.at(-1)?.cursor)) {
    const query = documentOf(text);
    const { rowsRead, isPlannedAnew, isPlannedOnce } = await planOf(t, { query, table }, { id });
    // Enough for the parent's own accounts and for two index scans. Each scan reads a page of 5 rows, the next row, and
    // a row on the other side of the cursor.
    const most = 30 + (isWhole ? 2 * known : 0);
    if (!isPlannedAnew && !isPlannedOnce) found.push(`${size}, ${text}: Postgres chooses the kind of plan`);
    if (rowsRead > most) found.push(`${size}, ${text}: ${rowsRead} rows`);
  }
  return found;
}

/** The lists on Query whose filters can name a row's owner, and the equivalent REST lists. */
const rootLists = [
  { field: 'transactions', table: 'transaction', rest: '/transactions' },
  { field: 'quotes', table: 'quote', rest: '/quotes' },
  { field: 'customers', table: 'customer', rest: '/customers' },
  { field: 'accounts', table: 'account', rest: '/customers/external-accounts' },
] as const;

/** Returns the queries that read too many rows even though their filters name the rows' owner. */
export async function readsTooMuchByName(
  t: TestGateway,
  { parents }: Templates,
  size: Exclude<Size, 'most'>,
  rows: number,
): Promise<string[]> {
  const found: string[] = [];
  const known = { many: manyOf(rows), few: 3, none: 0 }[size];
  const look = async (query: string, table: FilledTable, most: number) => {
    const { rowsRead } = await planOf(t, { query, table }, {});
    if (rowsRead > most) found.push(`${size}, ${query}: ${rowsRead} rows`);
  };
  for (const { field, table, rest } of rootLists) {
    const args = schema.getQueryType()?.getFields()[field]?.args ?? [];
    const fields = filterFieldsOf(args);
    const status = fields.find(({ name }) => name === 'status');
    for (const [name, value] of Object.entries(namesOf(parents[size]))) {
      if (!fields.some((one) => one.name === name)) continue;
      const byName = `${name}: "${value}"`;
      const list = (given: string) => `{ ${field}(first: 5, ${given}) ${page} }`;
      await look(list(`filter: { ${byName} }`), table, 30);
      if (args.some((arg) => arg.name === 'orderBy'))
        await look(list(`orderBy: UPDATED, filter: { ${byName} }`), table, 30 + 2 * known);
      for (const one of (status && enumValuesOf(status)) ?? [])
        await look(list(`filter: { ${byName}, status: ${one} }`), table, 30 + 2 * known);
      if (field === 'transactions' || name === 'customerId')
        await look(`${rest}?limit=5&${name}=${encodeURIComponent(value)}`, table, 30);
    }
  }
  return found;
}
