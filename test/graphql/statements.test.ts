import { afterAll, describe, expect, test } from 'vitest';
import { lookUp, pay, quote, usdToEur } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { makeScene } from '../setup/scene.ts';
import { countedGateway, often } from '../setup/statements.ts';

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const counting = await countedGateway(t);
const payer = async () => {
  const made = await makeScene(t.platform, 10_000n);
  for (let paid = 0; paid < 3; paid++) await pay(t.platform, made);
  return made;
};
for (let made = 0; made < 11; made++) await payer();
const scene = await payer();
// Each quote has a transaction, so this one gives the last customer four.
const quoteId = (await quote(t.platform, usdToEur(scene))).id;
afterAll(() => counting.stop());

/** Runs a query. Returns its data and its statements, and checks that these are the same once its plan is cached. */
async function counted(query: string, variables: object = {}): Promise<{ data: Data; statements: string[] }> {
  const ask = async () => {
    const { result, statements } = await counting.statements.during(() => counting.platform.ask(query, variables));
    return { data: result, statements: statements.toSorted() };
  };
  const first = await ask();
  for (let again = 0; again < often; again++) expect(await ask()).toEqual(first);
  return first;
}

/** Runs a query that must cost one statement, and returns its data. */
async function inOne(query: string, variables?: object): Promise<Data> {
  const { data, statements } = await counted(query, variables);
  expect(statements).toHaveLength(1);
  return data;
}

const source = 'source { ... on AccountSource { account { id currency { code } } } }';
const destination = 'destination { ... on AccountDestination { account { id currency { code } } } }';

describe('one statement reads the rows of', () => {
  test.each([
    ['a transaction by its id', 'Transaction', '... on Transaction { id status sentAmount { amount } }'],
    ['a transaction with its customer', 'Transaction', '... on Transaction { id customer { id name } }'],
    ['a transaction with its quote', 'Transaction', '... on Transaction { id quote { id status } }'],
    ['a customer by its id', 'Customer', '... on Customer { id name details { __typename } }'],
    ['an account by its id', 'InternalAccount', '... on InternalAccount { id balance { amount } customer { id } }'],
    [
      'an external account',
      'ExternalAccount',
      '... on ExternalAccount { id accountInfo { __typename } customer { id } }',
    ],
    ['a quote', 'Quote', '... on Quote { id status }'],
    [
      'a quote with its accounts and its transaction',
      'Quote',
      `... on Quote { id ${source} ${destination} transaction { id status } customer { id } }`,
    ],
  ])('%s', async (_what, type, selection) => {
    const { transactions } = await t.platform.ask('{ transactions(first: 1) { edges { node { id } } } }');
    const ids: Record<string, string> = {
      Transaction: transactions.edges[0].node.id,
      Customer: scene.customerId,
      InternalAccount: scene.usd,
      ExternalAccount: scene.outsideUsd,
      Quote: quoteId,
    };
    const data = await inOne(`query ($id: ID!) { node(id: $id) { ${selection} } }`, { id: ids[type] });
    expect(data.node.id).toBe(ids[type]);
  });

  test('20 transactions with their customers', async () => {
    const data = await inOne(
      '{ transactions(first: 20) { edges { cursor node { id status receivedAmount { amount } customer { id name } } } pageInfo { hasNextPage endCursor } } }',
    );
    expect(data.transactions.edges).toHaveLength(20);
    expect(data.transactions.edges.every((edge: Data) => edge.node.customer.id)).toBe(true);
  });

  test('20 transactions with source, destination, quote and customer', async () => {
    const data = await inOne(
      `{ transactions(first: 20) { edges { node { id ${source} ${destination} quote { id } customer { id } } } } }`,
    );
    expect(data.transactions.edges[0].node.source.account.id).toBe(scene.usd);
  });

  test('10 customers with 5 accounts and 5 transactions each', async () => {
    const data = await inOne(
      `{ customers(first: 10) { edges { node { id name
         accounts(first: 5) { edges { node { id currency { code } ... on InternalAccount { balance { amount } } } } pageInfo { hasNextPage } }
         transactions(first: 5) { edges { node { id status } } pageInfo { hasNextPage } } } } } }`,
    );
    expect(data.customers.edges).toHaveLength(10);
    for (const { node } of data.customers.edges) {
      expect(node.accounts.edges).toHaveLength(5);
      expect(node.transactions.edges).toHaveLength(node.id === scene.customerId ? 4 : 3);
    }
  });

  test('a page deep in a list, by its cursor', async () => {
    const first = await t.platform.ask('{ transactions(first: 20) { pageInfo { endCursor } } }');
    const data = await inOne(
      'query ($after: String!) { transactions(first: 10, after: $after) { edges { node { id customer { id } } } pageInfo { hasNextPage } } }',
      { after: first.transactions.pageInfo.endCursor },
    );
    expect(data.transactions.edges).toHaveLength(10);
  });
});

describe('the statement for the rows also answers', () => {
  test.each(['transactions', 'quotes', 'customers', 'accounts'])(
    'totalCount and whether there are rows before a cursor, in %s',
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

  test('all totalCounts below the rows of a list', async () => {
    const data = await inOne(
      '{ customers(first: 2) { edges { node { id transactions(first: 2) { totalCount edges { node { id } } } } } } }',
    );
    expect(data.customers.edges.map((edge: Data) => edge.node.transactions.totalCount)).toEqual([4, 3]);
  });

  test('the timelines of all transactions of a list', async () => {
    const query = '{ transactions(first: 20) { edges { node { id version timeline { status } } } } }';
    // Once all events are sequenced, no read has to wait and be repeated.
    await t.platform.ask(query);
    const data = await inOne(query);
    expect(data.transactions.edges).toHaveLength(20);
    for (const { node } of data.transactions.edges) expect(node.timeline).toHaveLength(node.version);
  });

  test('several nested lists with counts or a previous page', async () => {
    const { customer } = await t.platform.ask(
      'query ($id: ID!) { customer(id: $id) { transactions(first: 1) { edges { cursor } } accounts(first: 1) { edges { cursor } } } }',
      { id: scene.customerId },
    );
    const data = await inOne(
      `query ($transaction: String!, $account: String!) { customers(first: 1) { edges { node { id
         transactions(first: 1, after: $transaction) { totalCount pageInfo { hasPreviousPage } edges { node { id } } }
         accounts(first: 1, after: $account) { pageInfo { hasPreviousPage } edges { node { id } } }
         quotes { totalCount edges { node { id } } } } } } }`,
      { transaction: customer.transactions.edges[0].cursor, account: customer.accounts.edges[0].cursor },
    );
    const [newest] = data.customers.edges;
    expect(newest.node.transactions).toMatchObject({ totalCount: 4, pageInfo: { hasPreviousPage: true } });
    expect(newest.node.quotes.totalCount).toBe(1);
  });

  test('a nested list with a count, or paged by cursors, without a field of its rows', async () => {
    const data = await inOne(
      `query ($id: ID!) { customer(id: $id) { accounts(first: 1) { edges { cursor } } quotes { totalCount }
       transactions(first: 1) { pageInfo { hasNextPage endCursor } } } }`,
      { id: scene.customerId },
    );
    expect(data.customer).toEqual({
      accounts: { edges: [{ cursor: expect.any(String) }] },
      quotes: { totalCount: 1 },
      transactions: { pageInfo: { hasNextPage: true, endCursor: expect.any(String) } },
    });
  });

  test('whether there are more rows, if nothing else of a page is requested', async () => {
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

  test('several lists in the same query', async () => {
    const data = await inOne(
      '{ transactions(first: 2) { edges { node { id } } } customers(first: 2) { edges { node { id } } } more: customers(first: 3) { totalCount } }',
    );
    expect(data.more.totalCount).toBe(12);
  });
});

test("the end of the viewer's feed costs a statement; the viewer's other fields and the currencies cost none", async () => {
  expect((await counted('{ viewer { kind } currencies { code } }')).statements).toEqual([]);
  expect((await counted('{ viewer { kind feedCursor } }')).statements).toEqual([expect.stringMatching(/feed_head/)]);
});

test('several nodes cost one statement, regardless of their types', async () => {
  const { apiTokens } = await t.platform.ask('{ apiTokens(first: 1) { edges { node { id } } } }');
  const lookup = await lookUp(t.platform, '$success.usd@sandbox.uma.money');
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
