import { describe, expect, test } from 'vitest';
import { usdToEur } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { countedGateway, often } from '../setup/statements.ts';

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const counting = await countedGateway(t);
const payer = async () => {
  const made = await t.platform.makeScene(10_000n);
  for (let paid = 0; paid < 3; paid++) await t.platform.pay(made);
  return made;
};
for (let made = 0; made < 11; made++) await payer();
const scene = await payer();
// Each quote has a transaction, so the last customer now has four transactions.
const quoteId = (await t.platform.quote(usdToEur(scene))).id;

/** Runs a query. Returns its data and statements, and checks that both are the same once its plan is cached. */
async function counted(query: string, variables: object = {}): Promise<{ data: Data; statements: string[] }> {
  const ask = async () => {
    const { result, statements } = await counting.statements.during(() => counting.platform.ask(query, variables));
    return { data: result, statements: statements.toSorted() };
  };
  const first = await ask();
  for (let again = 0; again < often; again++) expect(await ask()).toEqual(first);
  return first;
}

/** Runs a query that must take one statement, and returns its data. */
async function inOne(query: string, variables?: object): Promise<Data> {
  const { data, statements } = await counted(query, variables);
  expect(statements).toHaveLength(1);
  return data;
}

const source = 'source { ... on AccountSource { account { id currency { code } } } }';
const destination = 'destination { ... on AccountDestination { account { id currency { code } } } }';

const cursors = await t.platform.ask(
  `query ($id: ID!) { transactions(first: 20) { edges { node { id } } pageInfo { endCursor } }
     customer(id: $id) { transactions(first: 1) { edges { cursor } } accounts(first: 1) { edges { cursor } } } }`,
  { id: scene.customerId },
);
/** The variables of all queries below. */
const given = {
  transaction: cursors.transactions.edges[0].node.id,
  customer: scene.customerId,
  account: scene.usd,
  quote: quoteId,
  after: cursors.transactions.pageInfo.endCursor,
  afterPayment: cursors.customer.transactions.edges[0].cursor,
  afterAccount: cursors.customer.accounts.edges[0].cursor,
} as const;

const node = (name: keyof typeof given, selection: string) =>
  [`query ($${name}: ID!) { node(id: $${name}) { ${selection} } }`, ({ node }: Data) => node.id, given[name]] as const;
const nodes = (list: Data): Data[] => list.edges.map((edge: Data) => edge.node);

test.each<readonly [what: string, query: string, shown: (data: Data) => unknown, expected: unknown]>([
  ['a transaction with its customer', ...node('transaction', '... on Transaction { id customer { id name } }')],
  [
    'a quote with its accounts and its transaction',
    ...node('quote', `... on Quote { id ${source} ${destination} transaction { id status } customer { id } }`),
  ],
  [
    '20 transactions with source, destination, quote and customer',
    `{ transactions(first: 20) { edges { node { id ${source} ${destination} quote { id } customer { id } } } } }`,
    ({ transactions }) => nodes(transactions)[0]?.source.account.id,
    scene.usd,
  ],
  [
    '10 customers with 5 accounts and 5 transactions each',
    `{ customers(first: 10) { edges { node { id name
       accounts(first: 5) { edges { node { id currency { code } ... on InternalAccount { balance { amount } } } } pageInfo { hasNextPage } }
       transactions(first: 5) { edges { node { id status } } pageInfo { hasNextPage } } } } } }`,
    ({ customers }) =>
      nodes(customers).map(({ accounts, transactions }) => [accounts.edges.length, transactions.edges.length]),
    [[5, 4], ...Array(9).fill([5, 3])],
  ],
  [
    'a page deep in a list, by its cursor',
    'query ($after: String!) { transactions(first: 10, after: $after) { edges { node { id customer { id } } } pageInfo { hasNextPage } } }',
    ({ transactions }) => transactions.edges.length,
    10,
  ],
  [
    'several nested lists with counts or a previous page',
    `query ($afterPayment: String!, $afterAccount: String!) { customers(first: 1) { edges { node { id
       transactions(first: 1, after: $afterPayment) { totalCount pageInfo { hasPreviousPage } edges { node { id } } }
       accounts(first: 1, after: $afterAccount) { pageInfo { hasPreviousPage } edges { node { id } } }
       quotes { totalCount edges { node { id } } } } } } }`,
    ({ customers: { edges } }) => [
      ...[edges[0].node.transactions.totalCount, edges[0].node.transactions.pageInfo.hasPreviousPage],
      edges[0].node.quotes.totalCount,
    ],
    [4, true, 1],
  ],
  [
    'nested lists that are counted or paged by cursors, without fields of their rows',
    `query ($customer: ID!) { customer(id: $customer) { accounts(first: 1) { edges { cursor } } quotes { totalCount }
     transactions(first: 1) { pageInfo { hasNextPage endCursor } } } }`,
    ({ customer }) => customer,
    {
      accounts: { edges: [{ cursor: given.afterAccount }] },
      quotes: { totalCount: 1 },
      transactions: { pageInfo: { hasNextPage: true, endCursor: given.afterPayment } },
    },
  ],
  [
    'several lists in the same query',
    '{ transactions(first: 2) { edges { node { id } } } customers(first: 2) { edges { node { id } } } more: customers(first: 3) { totalCount } }',
    ({ more }) => more.totalCount,
    12,
  ],
])('one statement reads %s', async (_what, query, shown, expected) => {
  expect(shown(await inOne(query, given))).toEqual(expected);
});

describe('the statement for the rows also reads', () => {
  test.each(['transactions', 'quotes', 'customers', 'accounts'])(
    'the totalCount of %s, and whether there are rows before a cursor',
    async (list) => {
      const rows = 'edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage } totalCount';
      const first = (await inOne(`{ ${list}(first: 1) { ${rows} } }`))[list];
      expect(first.pageInfo.hasPreviousPage).toBe(false);
      const after = first.edges[0].cursor;
      const next = await inOne(`query ($after: String!) { ${list}(first: 1, after: $after) { ${rows} } }`, { after });
      expect(next[list].pageInfo.hasPreviousPage).toBe(true);
      expect(next[list].totalCount).toBe(first.totalCount);
    },
  );

  test('the timelines of all transactions in a list', async () => {
    const query = '{ transactions(first: 20) { edges { node { id version timeline { status } } } } }';
    // After this read, all events are sequenced, so the next read does not have to be repeated.
    await t.platform.ask(query);
    const data = await inOne(query);
    expect(data.transactions.edges).toHaveLength(20);
    for (const { node } of data.transactions.edges) expect(node.timeline).toHaveLength(node.version);
  });

  test('whether there are more rows, if nothing else about a page is requested', async () => {
    const asked = [
      ['(first: 2)', 'hasNextPage', true],
      ['(first: 2)', 'hasPreviousPage', false],
      ['(last: 2)', 'hasNextPage', false],
      ['(last: 2)', 'hasPreviousPage', true],
    ] as const;
    for (const [args, has, is] of asked) {
      const data = await inOne(`{ transactions${args} { pageInfo { ${has} } } }`);
      expect([args, has, data.transactions.pageInfo[has]]).toEqual([args, has, is]);
    }
  });

  test('the subjects of a page of events, as they were and as they are', async () => {
    const data = await inOne(
      `{ events(last: 20) { totalCount edges { cursor node { id type
         subject { id ... on Transaction { version status } ... on InternalAccount { customer { id } } }
         transaction { id customer { id } } quote { id transaction { status } } customer { id name } } } } }`,
    );
    const events: Data[] = data.events.edges.map(({ node }: Data) => node);
    expect(events).toHaveLength(20);
    expect(events.find(({ type }) => type === 'QUOTE_STATUS')).toMatchObject({
      subject: { id: quoteId },
      quote: { id: quoteId, transaction: { status: 'PENDING' } },
      customer: { id: scene.customerId },
    });
  });
});

test("the end of the viewer's feed costs a statement; the viewer's other fields and the currencies cost none", async () => {
  expect((await counted('{ viewer { kind } currencies { code } }')).statements).toEqual([]);
  expect((await counted('{ viewer { kind feedCursor } }')).statements).toEqual([expect.stringMatching(/feed_head/)]);
});

test('queries whose root fields differ only in their aliases send the same statement', async () => {
  const query = (one: string, other: string) =>
    `{ ${one}: transactions(first: 1) { totalCount } kind: __typename ${other}: customers(first: 2) { totalCount } end: __typename }`;
  const [first, second] = [await counted(query('a', 'b')), await counted(query('transactions', 'customers'))];
  expect(second.statements).toEqual(first.statements);
  const { a, b } = first.data;
  expect(Object.entries(second.data)).toEqual([
    ['transactions', a],
    ['kind', 'Query'],
    ['customers', b],
    ['end', 'Query'],
  ]);
});

test('several nodes are read in one statement, regardless of their types', async () => {
  const { apiTokens } = await t.platform.ask('{ apiTokens(first: 1) { edges { node { id } } } }');
  const lookup = await t.platform.lookUp('$success.usd@sandbox.uma.money');
  const records = [apiTokens.edges[0].node.id, lookup.id];
  const ids = [scene.usd, scene.customerId, 'Nothing:1', quoteId, ...records, scene.eur, scene.usd];
  const { data, statements } = await counted(
    'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on InternalAccount { customer { id } } } }',
    { ids },
  );
  expect(data.nodes.map((node: Data) => node?.id ?? null)).toEqual(ids.map((id) => (id === 'Nothing:1' ? null : id)));
  // An id that is requested twice is read once.
  expect(statements).toEqual([expect.stringMatching(/\.id in \(\$\d+, \$\d+\)/)]);
});
