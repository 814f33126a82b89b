import { readFileSync } from 'node:fs';
import { buildSchema, type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import {
  maySeeEvent,
  type Scope,
  visibleAccounts,
  visibleCustomers,
  visibleEvents,
  visibleQuotes,
  visibleRow,
  visibleToPlatform,
  visibleTransactions,
} from '../../src/domain/access/visible.ts';
import { readRows } from '../../src/infra/database/read-rows.ts';
import { ended, lookUp, mint, pay, quote, usdToEur } from '../setup/acts.ts';
import { type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { appOf } from '../setup/new-credentials.ts';
import { restClient } from '../setup/rest.ts';
import { makeScene, type Scene } from '../setup/scene.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';

// Two platforms with the same objects. Every list of either API contains only objects of the calling platform.

const t = await testGateway();
const platforms = [t.platform, await t.newPlatform('other')] as const;
const scenes: Scene[] = [];
for (const platform of platforms) {
  const scene = await makeScene(platform);
  scenes.push(scene);
  await ended(platform, (await pay(platform, scene)).id);
  await quote(platform, usdToEur(scene));
  await lookUp(platform, '$success.usd@sandbox.uma.money');
  await mint(platform, { customerId: scene.customerId });
  await createEndpoint(platform, { url: 'http://127.0.0.1:9/hook', eventTypes: ['KYC_STATUS'] });
}

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));

/** The lists of the query itself: its fields that are connections without required arguments. */
const lists = Object.values(schema.getQueryType()?.getFields() ?? {})
  .filter(({ type }) => isConnection(getNamedType(type)))
  .map(({ name }) => name);

function isConnection(type: unknown): type is GraphQLObjectType {
  return isObjectType(type) && 'edges' in type.getFields() && 'pageInfo' in type.getFields();
}

/** Returns everything in a list of GraphQL. */
async function listed(platform: TestPlatform, list: string): Promise<{ ids: string[]; total: number }> {
  const page = (await platform.ask(`{ ${list}(first: 100) { totalCount edges { node { id } } } }`))[list];
  return { ids: page.edges.map(({ node }: Data) => node.id), total: page.totalCount };
}

test('the lists are those of the schema', () => {
  expect(lists).toEqual(
    expect.arrayContaining(['transactions', 'quotes', 'customers', 'accounts', 'events', 'apiTokens']),
  );
});

test.each(lists)('the list %s neither shows nor counts rows of another platform', async (list) => {
  const [mine, theirs] = [await listed(platforms[0], list), await listed(platforms[1], list)];
  // Both platforms have some, so that a foreign row would be noticed.
  expect(mine.total).toBeGreaterThan(0);
  expect(theirs.total).toBeGreaterThan(0);
  expect(mine.ids.filter((id) => theirs.ids.includes(id))).toEqual([]);
  // The lists are shorter than a page, so the count equals the rows shown.
  expect([mine.total, theirs.total]).toEqual([mine.ids.length, theirs.ids.length]);
});

const bystander = await makeScene(t.platform);
const { id: quoteId, transaction } = await quote(t.platform, usdToEur(bystander));

test.each([
  ['another customer', { customerId: bystander.customerId }],
  ['another quote', { quoteId }],
  ['another transaction', { transactionId: transaction.id }],
])("no list shows or counts a customer's row for the app of %s", async (_who, bound) => {
  const app = await appOf(t.platform, bound);
  const { customerId } = scenes[0] ?? bystander;
  for (const list of lists.filter((name) => name !== 'apiTokens' && name !== 'clientTokens')) {
    const [all, seen] = [await listed(t.platform, list), await listed(app, list)];
    expect([list, seen.total]).toEqual([list, seen.ids.length]);
    expect([list, all.total > seen.total]).toEqual([list, true]);
  }
  const foreign = await t.platform.ask(
    `query ($id: ID!) { customer(id: $id) { ${['accounts', 'quotes', 'transactions'].map((list) => `${list}(first: 100) { edges { node { id } } }`).join(' ')} } }`,
    { id: customerId },
  );
  const ids = [
    customerId,
    ...Object.values<Data>(foreign.customer).flatMap(({ edges }) => edges.map(({ node }: Data) => node.id)),
  ];
  expect(ids.length).toBeGreaterThan(5);
  const shown = await Promise.all(['customers', 'accounts', 'quotes', 'transactions'].map((list) => listed(app, list)));
  expect(shown.flatMap((list) => list.ids).filter((id) => ids.includes(id))).toEqual([]);
});

// Over the APIs, the database's access checks would hide a fault of these rules (database-wall.test.ts).
test.each([
  ['Transaction', visibleTransactions],
  ['Quote', visibleQuotes],
  ['Customer', visibleCustomers],
  ['Account', visibleAccounts],
] as const)("the application itself finds no foreign %s, even without the database's checks", async (noun, visible) => {
  const { database } = t.gateway.payments;
  const platformsOf = async (where: object) =>
    new Set((await readRows(database, noun, { where })).map((row) => row.platformId));
  const { platformId } = platforms[0];
  expect(await platformsOf({})).toEqual(new Set(platforms.map((platform) => platform.platformId)));
  expect(await platformsOf(visible({ platformId, bound: { kind: 'PLATFORM' } }))).toEqual(new Set([platformId]));
});

test("the application itself finds no foreign WebhookEndpoint, even without the database's checks", async () => {
  const { prisma } = t.gateway.payments.database;
  const platformsOf = async (where: object) =>
    new Set((await prisma.webhookEndpoint.findMany({ where })).map((row) => row.platformId));
  const { platformId } = platforms[0];
  expect(await platformsOf({})).toEqual(new Set(platforms.map((platform) => platform.platformId)));
  expect(await platformsOf(visibleToPlatform({ platformId, bound: { kind: 'PLATFORM' } }))).toEqual(
    new Set([platformId]),
  );
});

test.each(['quote', 'transaction', 'customer', 'account', 'lookup', 'ofPlatform'] as const)(
  "a command itself finds no foreign %s, and none of another customer, even without the database's checks",
  async (noun) => {
    const { pool } = t.gateway.payments.database;
    const table = noun === 'ofPlatform' ? 'webhook_endpoint' : noun;
    const found = async (customerId: string | null, transactionId: string | null) =>
      (
        await pool.query(`select r.platform_id as whose from ${table} r where ${visibleRow(noun, 'r')}`, [
          platforms[0].platformId,
          customerId,
          transactionId,
        ])
      ).rows.map(({ whose }) => whose);
    expect(new Set(await found(null, null))).toEqual(new Set([platforms[0].platformId]));
    const nobody = '019a0000-0000-7000-8000-000000000000';
    expect([...(await found(nobody, null)), ...(await found(null, nobody))]).toEqual([]);
  },
);

// A stream reads only visible rows anyway, which would hide a fault of this rule.
test('for every caller, an event is visible in a stream exactly if a list shows it', async () => {
  const { prisma } = t.gateway.payments.database;
  const all = await prisma.event.findMany();
  const { platformId } = platforms[0];
  const paid = all.find((event) => event.platformId === platformId && event.transactionId && event.customerId);
  const { transactionId, customerId } = paid ?? {};
  const scopes: Scope[] = [
    { platformId, bound: { kind: 'PLATFORM' } },
    { platformId, bound: { kind: 'CUSTOMER', customerId: customerId ?? '' } },
    { platformId, bound: { kind: 'PAYMENT', transactionId: transactionId ?? '', quoteId: null } },
  ];
  for (const scope of scopes) {
    const listed = new Set((await prisma.event.findMany({ where: visibleEvents(scope) })).map(({ id }) => id));
    const seen = all.filter((event) => maySeeEvent(scope, event)).map(({ id }) => id);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.length).toBeLessThan(all.length);
    expect(new Set(seen)).toEqual(listed);
  }
});

describe('over REST', () => {
  test.each([
    'customers',
    'quotes',
    'transactions',
    'tokens',
    'customers/internal-accounts',
    'customers/external-accounts',
    'platform/internal-accounts',
  ])('the list %s has no row of another platform', async (list) => {
    const idsOf = async (platform: TestPlatform): Promise<string[]> => {
      const client = await restClient(t.url, platform.authorization);
      const { data } = await client.ask('GET', `/${list}`);
      return data.map(({ id, tokenId, transactionId }: Data) => id ?? transactionId ?? tokenId);
    };
    const [mine, theirs] = [await idsOf(platforms[0]), await idsOf(platforms[1])];
    expect(mine.length).toBeGreaterThan(0);
    expect(theirs.length).toBeGreaterThan(0);
    expect([...mine, ...theirs]).not.toContain(undefined);
    expect(mine.filter((id) => theirs.includes(id))).toEqual([]);
  });
});
