import { expect, test } from 'vitest';
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
import { usdToEur } from '../setup/acts.ts';
import { testGateway } from '../setup/gateway.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';

// Two platforms have the same objects. The lists in both APIs are tested in test/attack/matrix.test.ts.

const t = await testGateway();
const platforms = [t.platform, await t.newPlatform('other')] as const;
for (const platform of platforms) {
  const scene = await platform.makeScene();
  await platform.ended((await platform.pay(scene)).id);
  await platform.quote(usdToEur(scene));
  await platform.lookUp('$success.usd@sandbox.uma.money');
  await platform.mint({ customerId: scene.customerId });
  await createEndpoint(platform, { url: 'http://127.0.0.1:9/hook', eventTypes: ['KYC_STATUS'] });
}

// The visibility rules are tested directly: if one had a fault, the database's own access checks
// (database-wall.test.ts) would hide it from tests through the APIs.
const { database } = t.gateway.payments;
const rowsOf = (noun: 'Transaction' | 'Quote' | 'Customer' | 'Account') => (where: object) =>
  readRows(database, noun, { where });

test.each([
  ['Transaction', visibleTransactions, rowsOf('Transaction')],
  ['Quote', visibleQuotes, rowsOf('Quote')],
  ['Customer', visibleCustomers, rowsOf('Customer')],
  ['Account', visibleAccounts, rowsOf('Account')],
  ['WebhookEndpoint', visibleToPlatform, (where: object) => database.prisma.webhookEndpoint.findMany({ where })],
] as const)(
  "the application alone hides another platform's %s, even without the database's checks",
  async (_noun, visible, read) => {
    const platformsOf = async (where: object) => new Set((await read(where)).map((row) => row.platformId));
    const { platformId } = platforms[0];
    expect(await platformsOf({})).toEqual(new Set(platforms.map((platform) => platform.platformId)));
    expect(await platformsOf(visible({ platformId, bound: { kind: 'PLATFORM' } }))).toEqual(new Set([platformId]));
  },
);

test.each(['quote', 'transaction', 'customer', 'account', 'lookup', 'ofPlatform'] as const)(
  "a command finds no %s of another platform or customer, even without the database's checks",
  async (noun) => {
    const table = noun === 'ofPlatform' ? 'webhook_endpoint' : noun;
    const text = `select r.platform_id as whose from ${table} r where ${visibleRow(noun, 'r')}`;
    const found = async (...bound: readonly (string | null)[]) =>
      (await database.pool.query(text, [platforms[0].platformId, ...bound])).rows.map(({ whose }) => whose);
    expect(new Set(await found(null, null))).toEqual(new Set([platforms[0].platformId]));
    const nobody = '019a0000-0000-7000-8000-000000000000';
    expect([...(await found(nobody, null)), ...(await found(null, nobody))]).toEqual([]);
  },
);

// Calls maySeeEvent directly, because a real stream reads only visible rows, which would hide a fault in this function.
test('for every caller, an event is visible in a stream if and only if a list shows it', async () => {
  const { event } = database.prisma;
  const all = await event.findMany();
  const { platformId } = platforms[0];
  const paid = all.find((one) => one.platformId === platformId && one.transactionId && one.customerId);
  const { transactionId, customerId } = paid ?? {};
  const scopes: Scope[] = [
    { platformId, bound: { kind: 'PLATFORM' } },
    { platformId, bound: { kind: 'CUSTOMER', customerId: customerId ?? '' } },
    { platformId, bound: { kind: 'PAYMENT', transactionId: transactionId ?? '', quoteId: null } },
  ];
  for (const scope of scopes) {
    const listed = new Set((await event.findMany({ where: visibleEvents(scope) })).map(({ id }) => id));
    const seen = all.filter((one) => maySeeEvent(scope, one)).map(({ id }) => id);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.length).toBeLessThan(all.length);
    expect(new Set(seen)).toEqual(listed);
  }
});
