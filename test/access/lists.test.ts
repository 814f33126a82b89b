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
import { ended, lookUp, mint, pay, quote, usdToEur } from '../setup/acts.ts';
import { testGateway } from '../setup/gateway.ts';
import { makeScene } from '../setup/scene.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';

// Two platforms with the same objects. The matrix (test/attack/matrix.test.ts) tests the lists of both APIs.

const t = await testGateway();
const platforms = [t.platform, await t.newPlatform('other')] as const;
for (const platform of platforms) {
  const scene = await makeScene(platform);
  await ended(platform, (await pay(platform, scene)).id);
  await quote(platform, usdToEur(scene));
  await lookUp(platform, '$success.usd@sandbox.uma.money');
  await mint(platform, { customerId: scene.customerId });
  await createEndpoint(platform, { url: 'http://127.0.0.1:9/hook', eventTypes: ['KYC_STATUS'] });
}

// If these rules were tested through the APIs, the database's access checks would hide a fault in them
// (database-wall.test.ts).
test.each([
  ['Transaction', visibleTransactions],
  ['Quote', visibleQuotes],
  ['Customer', visibleCustomers],
  ['Account', visibleAccounts],
] as const)("the application alone hides foreign %s, even without the database's checks", async (noun, visible) => {
  const { database } = t.gateway.payments;
  const platformsOf = async (where: object) =>
    new Set((await readRows(database, noun, { where })).map((row) => row.platformId));
  const { platformId } = platforms[0];
  expect(await platformsOf({})).toEqual(new Set(platforms.map((platform) => platform.platformId)));
  expect(await platformsOf(visible({ platformId, bound: { kind: 'PLATFORM' } }))).toEqual(new Set([platformId]));
});

test("the application alone hides foreign WebhookEndpoint, even without the database's checks", async () => {
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
  "a command itself finds no foreign %s, nor one of another customer, even without the database's checks",
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

// A stream reads only visible rows anyway, which would hide a fault in this rule.
test('for every caller, an event is visible in a stream if and only if a list shows it', async () => {
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
