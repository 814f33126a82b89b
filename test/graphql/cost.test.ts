import { describe, expect, test } from 'vitest';
import { usdToEur } from '../setup/acts.ts';
import { eachTransport, type Send, type SentOperation } from '../setup/each-transport.ts';
import { type Data, type TestGateway, testGateway } from '../setup/gateway.ts';
import { countedGateway, often } from '../setup/statements.ts';

const development = await testGateway({ NODE_ENV: 'development', SANDBOX_PACE_MS: 600_000 });
const production = await testGateway({ NODE_ENV: 'production' });
const { platform, statements } = await countedGateway(development);
const scene = await development.platform.makeScene(1_000_000n);
for (let made = 0; made < 5; made++) {
  await development.platform.act('createQuote', usdToEur(scene, { immediatelyExecute: made % 2 === 0 }), 'replayed');
}

const money = 'amount decimal formatted currency { code name symbol decimals }';
const account = `accountId account { id currency { code }
  ... on InternalAccount { balance { amount currency { code decimals } } } ... on ExternalAccount { status } }`;
/** The payment fields that an app shows. */
const row = `id type status terminal createdAt updatedAt settledAt description failureReason
  customer { id name platformCustomerId customerType }
  source { ... on AccountSource { ${account} } ... on UmaSource { umaAddress } }
  destination { ... on AccountDestination { ${account} } ... on UmaDestination { umaAddress } }
  sentAmount { ${money} } receivedAmount { ${money} } exchangeRate
  quote { id status createdAt expiresAt exchangeRate sendingCurrency { code } receivingCurrency { code }
    totalSendingAmount { ${money} } totalReceivingAmount { ${money} } feesIncluded { ${money} } }`;
const payments = (first: number) =>
  `{ transactions(first: ${first}) { edges { cursor node { ${row} } } pageInfo { hasNextPage endCursor } totalCount } }`;
const withTypenames = (query: string) => query.replaceAll('{', '{ __typename');

describe('the cost of a typical document', () => {
  test.each([
    ['a first screen of 5 payments', 5, 5_048],
    ['a page of 100', 100, 19_203],
  ])('is within the budget, and does not change if __typename is added: %s', async (_what, first, cost) => {
    const plain = await development.platform.send(payments(first));
    expect(plain).toMatchObject({ status: 200, extensions: { cost: { cost, fields: 104, depth: 8 } } });
    const named = await development.platform.send(withTypenames(payments(first)));
    expect(named).toMatchObject({ status: 200, extensions: (plain as Data).extensions });
    expect(named.data.transactions).toMatchObject({ __typename: 'TransactionConnection', totalCount: 5 });
    expect(named.data.transactions).toMatchObject(plain.data.transactions);
  });

  test('counts the most expensive kind of subject if a query selects all kinds for a hundred events', async () => {
    const variants = [
      `... on Transaction { ${row.replace(/customer \{.*?\}/, '')} }`,
      '... on Quote { quoteStatus: status expiresAt feesIncluded { amount } totalSendingAmount { amount } }',
      `... on Customer { name platformCustomerId customerType kycStatus umaAddress }`,
      `... on InternalAccount { balance { ${money} } available: balance { amount } }`,
      '... on ExternalAccount { accountStatus: status currency { code } }',
    ];
    const events = (shown: string) =>
      development.platform.send(`{ events(first: 100) { edges { cursor node { id type subject { id ${shown} } } } } }`);
    const costs: number[] = [];
    for (const variant of variants) costs.push(((await events(variant)) as Data).extensions.cost.cost);
    const all = (await events(variants.join(' '))) as Data;
    expect(all.errors).toBeUndefined();
    expect(all.extensions.cost.cost).toBe(Math.max(...costs));
    const shown = new Set(all.data.events.edges.map(({ node }: Data) => node.subject && Object.keys(node.subject)[1]));
    expect(shown).toEqual(new Set(['type', 'quoteStatus', 'name', 'balance', 'accountStatus']));
  });

  test('100 ids, each with a nested list, exceed the cost limit, and the error names the list', async () => {
    const query =
      'query ($ids: [ID!]!) { things: nodes(ids: $ids) { ... on Customer { transactions(first: 100) { edges { node { id status } } } } } }';
    const { errors } = await development.platform.send(query, { ids: Array(100).fill(scene.customerId) });
    expect(errors).toMatchObject([
      {
        message: 'The document exceeds the cost limit of 27500: it costs 48400, 48000 of that for things.transactions.',
        extensions: { actual: 48_400, costliest: { path: ['things', 'transactions'], cost: 48_000 } },
      },
    ]);
    const few = await development.platform.send(query, { ids: Array(10).fill(scene.customerId) });
    expect(few.data.things).toEqual(Array(10).fill(few.data.things[0]));
  });
});

const query = '{ viewer { kind } currencies { a: code b: name } }';
const report = {
  cost: 5,
  limit: 27_500,
  depth: 2,
  fields: 5,
  aliases: 2,
  limits: { depth: 15, fields: 500, aliases: 20 },
};

const transports: Readonly<Record<string, Send>> = {
  ...eachTransport,
  'POST, the other media type': async (platform, sent) => [
    await (await platform.post(sent, { accept: 'application/graphql-response+json' })).json(),
  ],
};

describe.each(Object.entries(transports))('over %s', (name, sendOver) => {
  const send = (t: TestGateway, sent: SentOperation) => sendOver(t.platform, sent, 2);

  test('outside production, every response reports the cost of its document, even if the document is repeated', async () => {
    for (let again = 0; again < often; again++) {
      expect(await send(development, { query })).toEqual([{ data: expect.anything(), extensions: { cost: report } }]);
    }
  });

  test('production reports the cost to those who request it, and to no one else', async () => {
    for (const extensions of [undefined, {}, { cost: false }, { cost: 'true' }, { other: true }]) {
      const request = { query, ...(extensions && { extensions }) };
      expect(await send(production, request)).toEqual([{ data: expect.anything() }]);
    }
    for (let again = 0; again < often; again++) {
      const asking = { query, extensions: { cost: true } };
      expect(await send(production, asking)).toEqual([{ data: expect.anything(), extensions: { cost: report } }]);
    }
    expect(await send(production, { query })).toEqual([{ data: expect.anything() }]);
  });

  test('the reported cost takes variables into account, and is present alongside errors', async () => {
    const list = 'query ($n: Int) { customers(first: $n) { edges { node { id } } } }';
    for (const [n, cost] of [
      [2, 306],
      [4, 312],
      [2, 306],
    ] as const) {
      const [answer] = await send(development, { query: list, variables: { n } });
      expect(answer.extensions.cost.cost).toBe(cost);
    }
    const [refused] = await send(development, { query: list, variables: { n: -1 } });
    expect(refused).toMatchObject({
      errors: [{ extensions: { code: 'INVALID_INPUT' } }],
      extensions: { cost: { cost: 303 } },
    });
  });

  if (name.includes('POST') || name === 'GET') return;

  test('a subscription reports its cost with its first result only', async () => {
    for (const [t, asks] of [
      [development, false],
      [production, true],
    ] as const) {
      const { customerId } = t === development ? scene : await t.platform.makeScene(0n);
      const after = await t.platform.feedEnd();
      const accountId = await t.platform.internalAccount(customerId, 'USD');
      for (const amount of [1n, 2n, 3n]) await t.platform.fund(accountId, amount);
      const results = await send(t, {
        query:
          'subscription ($after: String) { events(after: $after, filter: { types: [ACCOUNT_STATUS] }) { id type } }',
        variables: { after },
        ...(asks && { extensions: { cost: true } }),
      });
      const event = { events: { id: expect.any(String), type: 'ACCOUNT_STATUS' } };
      const cost = { ...report, cost: 4, fields: 3, aliases: 0 };
      expect(results).toEqual([{ data: event, extensions: { cost } }, { data: event }]);
    }
  });
});

/** Returns the cost of a document, whether or not it is within the budget. */
const costOf = async (query: string, variables?: object) => {
  const { extensions, errors } = (await development.platform.send(query, variables)) as Data;
  return errors ? errors[0].extensions.actual : extensions.cost.cost;
};

describe('a field that reads all matching rows', () => {
  const total = '{ status type count amount { amount currency { code } } }';

  test.each([
    'transactions(first: 0) { totalCount }',
    'customers { edges { node { id } } totalCount }',
    'transactionTotals { count }',
    'accounts(first: 1) { edges { node { ... on InternalAccount { statement(from: "2020-01-01T00:00:00Z", to: "2090-01-01T00:00:00Z") { credits { count } } } } } }',
    'transactions(first: 1, filter: { platformCustomerId: "x" }) { edges { node { id } } }',
  ])('makes a document expensive, and a document with twenty such fields is refused: %s', async (field) => {
    expect(await costOf(`{ ${field} }`)).toBeGreaterThan(4_000);
    expect(await costOf(`{ ${field} }`)).toBeLessThan(10_000);
    const { errors } = await development.platform.send(
      `{ ${Array.from({ length: 20 }, (_none, n) => `a${n}: ${field}`)} }`,
    );
    expect(errors).toMatchObject([{ extensions: { code: 'COST_LIMIT_EXCEEDED', budget: 'cost' } }]);
  });

  test('is charged once, not for each row of the page', async () => {
    const rows = (first: number) =>
      `{ transactions(first: ${first}) { edges { node { id } } totalCount pageInfo { hasNextPage } } }`;
    const [one, hundred] = [await costOf(rows(1)), await costOf(rows(100))];
    expect(hundred - one).toBe(99 * 3);
  });

  test('is read only once if a document selects it under several aliases, whatever their selections', async () => {
    const query = `query ($a: TransactionFilter, $b: TransactionFilter) {
      a: transactionTotals(filter: $a) ${total} b: transactionTotals(filter: $b) { count }
    }`;
    const countedTwice =
      'query ($a: TransactionFilter) { transactions(first: 1, filter: $a) { totalCount again: totalCount } }';
    const all = { type: ['OUTGOING'] };
    const variables = { a: all, b: { type: ['OUTGOING', 'OUTGOING'] } };
    const { result, statements: texts } = await statements.during(() => platform.ask(query, variables));
    const other = await statements.during(() => platform.ask(query, { ...variables, b: { type: ['INCOMING'] } }));
    const twice = await statements.during(() => platform.ask(countedTwice, { a: all }));
    expect(texts).toHaveLength(1);
    expect(texts[0]?.match(/group by/g)).toHaveLength(1);
    expect(other.statements[0]?.match(/group by/g)).toHaveLength(2);
    expect(twice.statements[0]?.match(/select count\(\*\) from/g)).toHaveLength(1);
    const counts = (totals: Data[]) => totals.map(({ count }) => count);
    expect(counts(result.b)).toEqual(counts(result.a));
    expect(other.result).toMatchObject({ a: result.a, b: [] });
    const sum = counts(result.a).reduce((one: number, other: number) => one + other, 0);
    expect(sum).toBeGreaterThan(0);
    expect(twice.result.transactions).toEqual({ totalCount: sum, again: sum });
  });
});

describe('the cost of a filtered or sorted list', () => {
  const price = 9_000;
  const searches = async (list: string, args: string, parent?: string) => {
    const of = (given: string) => {
      const field = `${list}(first: 1${given}) { edges { node { id } } }`;
      const one = `{ ${parent ? `node(id: "${scene.usd}") { ... on ${parent} { ${field} } }` : field} }`;
      return costOf(parent === 'Customer' ? one.replace(scene.usd, scene.customerId) : one);
    };
    return ((await of(`, ${args}`)) - (await of(''))) / price;
  };

  test.each([
    ['transactions', 'filter: { status: [FAILED] }'],
    ['transactions', 'filter: { status: [FAILED, FAILED], createdAfter: "2020-01-01T00:00:00Z" }'],
    ['transactions', 'filter: { executed: true }'],
    ['transactions', 'filter: { reference: "x", status: [FAILED, PENDING], type: [INCOMING] }'],
    ['transactions', 'orderBy: UPDATED, filter: { updatedAfter: "2020-01-01T00:00:00Z", status: null }'],
    ['customers', 'filter: { kycStatus: [APPROVED], isIncludingDeleted: true }'],
    ['accounts', 'filter: { kind: INTERNAL, customerId: "Customer:x", currency: "USD" }'],
    ['accounts', 'filter: { kind: EXTERNAL, customerId: "Customer:x" }'],
    ['accounts', 'filter: { kind: INTERNAL }', 'Customer'],
    ['accounts', 'filter: { kind: EXTERNAL }', 'Customer'],
    ['transactions', 'filter: { createdBefore: "2020-01-01T00:00:00Z" }', 'InternalAccount'],
    ['events', 'filter: { customerId: "Customer:x" }'],
  ])('includes no search if a single index returns the rows in order: %s(%s)', async (list, args, parent?: string) => {
    expect(await searches(list, args, parent)).toBeCloseTo(0, 2);
  });

  test.each([
    ['transactions', 'filter: { status: [FAILED, PENDING] }'],
    ['transactions', 'filter: { status: [FAILED], type: [INCOMING] }'],
    ['transactions', 'filter: { status: [FAILED], type: [INCOMING], currency: "USD" }'],
    ['transactions', 'filter: { executed: false }'],
    ['transactions', 'filter: { updatedAfter: "2020-01-01T00:00:00Z" }'],
    ['transactions', 'orderBy: UPDATED, filter: { createdAfter: "2020-01-01T00:00:00Z" }'],
    ['transactions', 'orderBy: UPDATED, filter: { status: [FAILED] }'],
    ['customers', 'filter: { customerType: BUSINESS }'],
    ['customers', 'filter: { name: "a" }'],
    ['accounts', 'filter: { kind: INTERNAL }'],
    ['accounts', 'filter: { customerId: "Customer:x", currency: "USD" }'],
    ['quotes', 'filter: { status: [PENDING], customerId: "Customer:x" }'],
    ['events', 'filter: { types: [TEST] }'],
    ['transactions', 'filter: { status: [FAILED] }', 'InternalAccount'],
    ['transactions', 'orderBy: UPDATED', 'InternalAccount'],
    ['transactions', 'filter: { reference: "x" }', 'InternalAccount'],
    ['quotes', 'filter: { status: [PENDING] }', 'Customer'],
  ])('otherwise includes one search for each way of finding the rows: %s(%s)', async (list, args, parent?: string) => {
    // An account's payments are found in two parts: payments from it, and payments to it.
    expect(await searches(list, args, parent)).toBeCloseTo(parent === 'InternalAccount' ? 2 : 1, 2);
  });

  test('takes into account variables, their defaults, and variables inside a filter', async () => {
    const list = (variables: string, filter: string) =>
      `query (${variables}) { transactions(first: 1, filter: ${filter}) { edges { node { id } } } }`;
    const both = { status: ['FAILED'], type: ['INCOMING'] };
    expect([
      await costOf(list('$f: TransactionFilter', '$f'), { f: both }),
      await costOf(list('$f: TransactionFilter = { status: [FAILED], type: INCOMING }', '$f')),
      await costOf(list('$s: [TransactionStatus!]', '{ status: $s, type: INCOMING }'), { s: 'FAILED' }),
      await costOf(list('$s: [TransactionStatus!]', '{ status: $s, type: INCOMING }'), { s: null }),
    ]).toEqual([9_305, 9_304, 9_303, 303]);
  });
});

test('each value in a list argument costs 1, and equal values are bound once', async () => {
  const query =
    'query ($s: [TransactionStatus!]) { transactions(first: 1, filter: { status: $s }) { edges { node { id } } } }';
  const literal = query
    .replace('status: $s', 'status: [FAILED, FAILED, FAILED]')
    .replace('($s: [TransactionStatus!]) ', '');
  const costs = [
    await costOf(query, { s: ['FAILED'] }),
    await costOf(query, { s: Array(100).fill('FAILED') }),
    await costOf(literal),
  ];
  expect(costs).toEqual([304, 403, 306]);
  const { statements: texts } = await statements.during(() => platform.ask(query, { s: Array(100).fill('FAILED') }));
  expect(texts[0]?.match(/\.status in \([^)]*\)/g)).toEqual([expect.stringMatching(/^\.status in \(\$\d+\)$/)]);
});
