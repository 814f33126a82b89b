import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

let t: TestGateway;
let scene: Scene;
beforeAll(async () => {
  t = await startTestGateway({ SANDBOX_PACE_MS: 600_000 });
  scene = await makeScene(t.platform, 10_000n);
  await t.platform.ask(
    'mutation ($from: ID!, $to: ID!) { transferOut(input: { sourceAccountId: $from, destinationAccountId: $to, amount: 100 }) { ... on TransferOutSuccess { replayed } } }',
    { from: scene.usd, to: scene.outsideUsd },
  );
});
afterAll(() => t.stop());

const ends = 'source { __typename ... on AccountSource { accountId account { __typename id customer { id } } } }';

test.each([
  [
    'fields of every kind',
    `{ transactions { edges { cursor node { __typename id status sentAmount { amount decimal formatted(locale: "de") currency { code } } createdAt terminal ${ends} } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }`,
  ],
  [
    'aliases, and one field with two sets of arguments',
    '{ customers { edges { node { a: transactions(first: 1) { edges { node { id } } } b: transactions(first: 1, sortOrder: ASC) { edges { node { id } } totalCount } } } } }',
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
    'what explains a payment',
    '{ transactions { edges { node { timeline { status reason terminal } ledgerEntries { amount { amount } system account { id } } quote { id } } } } }',
  ],
  ['the viewer and a cursor of the feed', '{ viewer { kind feedCursor } currencies { code decimals } }'],
])('a query is answered the same however often it is asked: %s', async (_what, query) => {
  const first = await t.platform.send(query);
  expect(first.errors).toBeUndefined();
  for (let again = 0; again < 3; again++) expect(await t.platform.send(query)).toEqual(first);
});

test.each([
  [
    'an argument out of its bounds',
    '{ customers(first: 1) { edges { node { transactions(first: 101) { totalCount } } } } }',
    undefined,
  ],
  ['a cursor of another list', '{ customers(after: "x") { totalCount } viewer { kind } }', undefined],
  ['a variable of a wrong type', 'query ($id: ID!) { node(id: $id) { id } }', { id: [1] }],
  ['a variable that is missing', 'query ($id: ID!) { node(id: $id) { id } }', {}],
  [
    'a scalar that cannot be read',
    'query ($f: TransactionFilter) { transactions(filter: $f) { totalCount } }',
    { f: { startDate: 'soon' } },
  ],
  [
    'an unknown locale',
    '{ transactions { edges { node { sentAmount { formatted(locale: "no such locale") } } } } }',
    undefined,
  ],
])('a query that goes wrong says the same however often it is asked: %s', async (_what, query, variables) => {
  const first = await t.platform.send(query, variables);
  expect(first.errors).toHaveLength(1);
  for (let again = 0; again < 3; again++) expect(await t.platform.send(query, variables)).toEqual(first);
});
