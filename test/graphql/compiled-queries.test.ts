import { expect, test } from 'vitest';
import { basicAuthorization } from '../../src/domain/access/tokens/basic-authorization.ts';
import { act, pay } from '../setup/acts.ts';
import { connect, type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { often } from '../setup/often.ts';
import { makeScene } from '../setup/scene.ts';
import { countedGateway } from '../setup/statements.ts';

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const scene = await makeScene(t.platform, 10_000n);
await pay(t.platform, scene);

const ends = 'source { __typename ... on AccountSource { accountId account { __typename id customer { id } } } }';

test.each([
  [
    'fields of every kind',
    `{ transactions { edges { cursor node { __typename id status sentAmount { amount decimal formatted(locale: "de") currency { code } } createdAt terminal ${ends} } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }`,
  ],
  [
    'aliases, and one field with two sets of arguments',
    '{ customers(first: 2) { edges { node { a: transactions(first: 1) { edges { node { id } } } b: transactions(first: 1, sortOrder: ASC) { edges { node { id } } totalCount } } } } }',
  ],
  [
    'fragments and directives',
    'query ($no: Boolean = false) { accounts { edges { node { ...A ... on InternalAccount { balance { amount } } currency { code name @include(if: $no) } } } } } fragment A on Account { id customer { name @skip(if: $no) platformCustomerId } }',
  ],
  [
    'lists below rows of lists',
    '{ customers { edges { node { accounts(first: 2) { edges { node { id customer { id transactions(last: 1) { edges { node { id customer { name } } } } } } } } } } } }',
  ],
  [
    'one field asked for on two types, differently',
    `{ accounts { edges { node { id ... on InternalAccount { customer { id accounts(first: 1) { edges { node { id } } } } }
       ... on ExternalAccount { customer { name transactions(first: 2) { edges { node { id customer { id } } } } } } } } } }`,
  ],
  [
    'one field asked for on an interface and on one of its types',
    '{ accounts(first: 2) { edges { node { customer { id } ...Inner } } } } fragment Inner on InternalAccount { customer { name quotes { totalCount } } }',
  ],
  [
    'the fields that explain a payment',
    '{ transactions { edges { node { timeline { status reason terminal } ledgerEntries { amount { amount } system account { id } } quote { id } } } } }',
  ],
  ['the viewer and a cursor of the feed', '{ viewer { kind feedCursor } currencies { code decimals } }'],
])('a repeated query gets the same answer each time: %s', async (_what, query) => {
  const first = await t.platform.send(query);
  expect(first.errors).toBeUndefined();
  for (let again = 0; again < often; again++) expect(await t.platform.send(query)).toEqual(first);
});

test.each([
  [
    'an argument out of range',
    '{ customers(first: 1) { edges { node { transactions(first: 101) { totalCount } } } } }',
    undefined,
  ],
  ['a cursor of another list', '{ customers(after: "x") { totalCount } viewer { kind } }', undefined],
  ['a variable of a wrong type', 'query ($id: ID!) { node(id: $id) { id } }', { id: [1] }],
  ['a variable that is missing', 'query ($id: ID!) { node(id: $id) { id } }', {}],
  [
    'a scalar that cannot be read',
    'query ($f: TransactionFilter) { transactions(filter: $f) { totalCount } }',
    { f: { createdAfter: 'soon' } },
  ],
  [
    'an unknown locale',
    '{ transactions { edges { node { sentAmount { formatted(locale: "no such locale") } } } } }',
    undefined,
  ],
])('a repeated query that fails reports the same error each time: %s', async (_what, query, variables) => {
  const first = await t.platform.send(query, variables);
  expect(first.errors).toHaveLength(1);
  for (let again = 0; again < often; again++) expect(await t.platform.send(query, variables)).toEqual(first);
});

test('callers who send the same query each see their own data, every time', async () => {
  const platform = await t.newPlatform('with two customers');
  const paying = [await makeScene(platform, 1_000n), await makeScene(platform, 1_000n)];
  const bindings: object[] = paying.map(({ customerId }) => ({ customerId }));
  for (const { usd, outsideUsd } of paying) {
    const input = { sourceAccountId: usd, destinationAccountId: outsideUsd, amount: 100 };
    bindings.push({ transactionId: (await act(platform, 'transferOut', input, 'transaction { id }')).transaction.id });
  }
  const apps: TestPlatform[] = [];
  for (const binding of bindings) {
    const { token } = await act(platform, 'createClientToken', { boundTo: binding, permissions: ['VIEW'] }, 'token');
    apps.push(connect(t.url, platform.platformId, `Bearer ${token}`));
  }
  const askers = [platform, await t.newPlatform('another'), ...apps];
  const query = `{ customers { edges { node { id transactions { edges { node { id customer { id } } } } } } }
    transactions { edges { node { id customer { id transactions { edges { node { id } } } } } } } }`;
  const firsts = await Promise.all(askers.map((asker) => asker.ask(query)));
  const all = (pick: (data: Data) => Data[]) => firsts.map((data) => pick(data).length);
  expect(all(({ customers }) => customers.edges)).toEqual([2, 0, 1, 1, 0, 0]);
  expect(all(({ transactions }) => transactions.edges)).toEqual([2, 0, 1, 1, 1, 1]);
  const nested = (data: Data) => data.customers.edges.flatMap(({ node }: Data) => node.transactions.edges);
  expect(all(nested)).toEqual([2, 0, 1, 1, 0, 0]);
  expect(new Set(firsts.map((data) => JSON.stringify(data))).size).toBe(askers.length);
  for (let again = 0; again < often; again++) {
    expect(await Promise.all(askers.map((asker) => asker.ask(query)))).toEqual(firsts);
    // Also one after the other, so that each finds the caches that the previous caller filled.
    for (const [at, asker] of askers.entries()) expect(await asker.ask(query)).toEqual(firsts[at]);
  }
});

test.each([
  ['the caller with more permissions asks first', ['VIEW', 'MANAGE'], ['VIEW']],
  ['the caller with fewer permissions asks first', ['VIEW'], ['VIEW', 'MANAGE']],
])('a query that another caller may send is still refused without permission: %s', async (_what, ...both) => {
  const askers = [];
  for (const permissions of both) {
    const made = await act(t.platform, 'createApiToken', { name: 'one', permissions }, 'secret apiToken { clientId }');
    const authorization = basicAuthorization({ clientId: made.apiToken.clientId, secret: made.secret });
    askers.push({ platform: connect(t.url, '', authorization), mayManage: permissions.includes('MANAGE') });
  }
  const query = `query First${both[0].length} { customers { totalCount } apiTokens { totalCount } }`;
  for (const { platform, mayManage } of askers) {
    for (let again = 0; again < often; again++) {
      const { data, errors } = await platform.send(query);
      if (mayManage) expect(data?.apiTokens.totalCount).toBeGreaterThan(1);
      else expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
    }
  }
});

test('a query that has often succeeded still reports its error when it fails', async () => {
  const query = 'query ($first: Int!) { customers(first: $first) { edges { node { id } } } }';
  const wrong = await t.platform.send(query, { first: 101 });
  expect(wrong.errors).toHaveLength(1);
  const right = await t.platform.send(query, { first: 1 });
  for (let again = 0; again < often; again++) expect(await t.platform.send(query, { first: 1 })).toEqual(right);
  expect(await t.platform.send(query, { first: 101 })).toEqual(wrong);
  expect(await t.platform.send(query, { first: 1 })).toEqual(right);
});

test('a field follows its variables and conditions each time', async () => {
  const query = `query ($first: Int!, $with: Boolean!) { customers { edges { node { id
    transactions(first: $first) { edges { node { id } } } accounts @include(if: $with) { edges { node { id } } } } } } }`;
  const ask = (first: number, withAccounts: boolean) => t.platform.ask(query, { first, with: withAccounts });
  const asked = [
    [1, true],
    [2, false],
    [1, false],
    [2, true],
  ] as const;
  const firsts = await Promise.all(asked.map(([first, accounts]) => ask(first, accounts)));
  for (let again = 0; again < often; again++) {
    for (const [at, [first, accounts]] of asked.entries()) {
      const data = await ask(first, accounts);
      expect(data).toEqual(firsts[at]);
      for (const { node } of data.customers.edges) {
        expect(node.transactions.edges.length).toBeLessThanOrEqual(first);
        expect('accounts' in node).toBe(accounts);
      }
    }
  }
});

const included = 'query ($b: Boolean!) { customers { edges { node { id ';
test.each([
  ['a field twice, once left out', `${included} name @skip(if: $b) name } } } }`],
  ['a fragment twice, once left out', `${included} ...F @skip(if: $b) ...F } } } } fragment F on Customer { name }`],
  [
    'an object twice, with more of it the second time',
    `${included} details { __typename } details @include(if: $b) { ... on IndividualDetails { birthDate } } } } } }`,
  ],
  [
    'rows twice, with more of them the second time',
    'query ($b: Boolean!) { customers { edges { node { id } node @include(if: $b) { ...F } } } } fragment F on Customer { name }',
  ],
  [
    'one field in two fragments on a type',
    `query ($b: Boolean!) { accounts { edges { node { ... on InternalAccount { customer { id } }
       ... on InternalAccount @include(if: $b) { customer { ... on Customer { name } } } } } } }`,
  ],
  [
    'a root field twice',
    'query ($b: Boolean!) { ...F @include(if: $b) ...F } fragment F on Query { customers { totalCount } }',
  ],
  ['a field that comes later when it is left out', `${included} umaAddress @include(if: $b) name umaAddress } } } }`],
])('a condition is followed each time that a query is repeated: %s', async (_what, query) => {
  for (const b of [false, true, false]) {
    // A new text is not cached: it is executed as the specification says.
    const wanted = JSON.stringify(await t.platform.send(`${query} # ${b} ${Math.random()}`, { b }));
    for (let again = 0; again < often; again++)
      expect(JSON.stringify(await t.platform.send(query, { b }))).toBe(wanted);
  }
});

const two = [
  'a: transactions(first: 3) { edges { node { id } } }',
  'b: transactions(first: 2) { edges { node { id } } }',
];
test.each([
  ['in one row', `customer { id ${two[0]} } customer { name createdAt ${two[1]} }`],
  ['in two fragments', `...A ...B`],
])('fields beside one list with two sets of arguments are answered: %s', async (_what, asked) => {
  const query = `{ accounts(filter: { platformOwned: false }) { edges { node { ${asked} } } } }
    fragment A on Account { customer { id ${two[0]} } } fragment B on Account { customer { name createdAt ${two[1]} } }`;
  const used = asked.startsWith('...') ? query : query.slice(0, query.indexOf('fragment A'));
  const names = new Map<string, string>();
  const { customers } = await t.platform.ask('{ customers { edges { node { id name createdAt } } } }');
  for (const { node } of customers.edges) names.set(node.id, `${node.name} ${node.createdAt}`);
  for (let again = 0; again < often; again++) {
    const { accounts } = await t.platform.ask(used);
    expect(accounts.edges.length).toBeGreaterThan(0);
    for (const { node } of accounts.edges) {
      const { id, name, createdAt, a, b } = node.customer;
      expect(`${name} ${createdAt}`).toBe(names.get(id));
      expect(a.edges.slice(0, 2)).toEqual(b.edges);
    }
  }
});

test('a repeated query that fails is not executed twice', async () => {
  const query = '{ customers { edges { node { id } } } x: customers(first: 101) { totalCount } }';
  const { platform, statements, stop } = await countedGateway(t);
  const count = async () => {
    const asked = await statements.during(() => platform.send(query));
    expect(asked.result.errors).toHaveLength(1);
    return asked.statements.length;
  };
  const first = await count();
  for (let again = 0; again < often; again++) expect(await count()).toBe(first);
  await stop();
});
