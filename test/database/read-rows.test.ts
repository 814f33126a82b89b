import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paymentParties } from '../../src/api/records/payment-parties.ts';
import { whereAccounts, whereCustomers, whereQuotes, whereTransactions } from '../../src/domain/commands/filters.ts';
import type { Database } from '../../src/infra/database/database.ts';
import { countRows, readRow, readRows } from '../../src/infra/database/read-rows.ts';
import { pay, quote, usdToEur } from '../setup/acts.ts';
import { openAsOwner } from '../setup/database.ts';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

let t: TestGateway;
let database: Database;
let scenes: Scene[];
beforeAll(async () => {
  t = await startTestGateway({ SANDBOX_PACE_MS: 600_000 });
  database = t.gateway.payments.database;
  scenes = [];
  for (let made = 0; made < 3; made++) {
    const scene = await makeScene(t.platform, 10_000n);
    scenes.push(scene);
    await pay(t.platform, scene);
    await quote(t.platform, usdToEur(scene));
  }
});
afterAll(() => t.stop());

/** Selects everything of a platform. */
const allOf = (platformId: string) => ({ platformId, bound: { kind: 'PLATFORM' } as const });

/** What paymentEnds reads, in Prisma's words. */
const include = {
  customer: { select: { platformCustomerId: true } },
  sourceAccount: { select: { kind: true, currency: true } },
  destinationAccount: { select: { kind: true } },
} as const;

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const owner = fc.nat({ max: 2 });
const date = fc.integer({ min: -60_000, max: 60_000 }).map((ms) => new Date(Date.now() + ms));
const page = fc
  .record({ take: some(fc.integer({ min: 1, max: 5 })), id: fc.constantFrom('asc' as const, 'desc' as const) })
  .map(({ take, id }) => ({ ...(take !== undefined && { take }), orderBy: [{ id }] }));

test('transactions and their ends are read as by Prisma, with any filter and order', async () => {
  const { prisma } = database;
  await fc.assert(
    fc.asyncProperty(
      some(owner),
      some(owner),
      some(fc.subarray(['PENDING', 'PROCESSING', 'COMPLETED'] as const)),
      some(fc.constantFrom('INCOMING' as const, 'OUTGOING' as const)),
      some(date),
      some(date),
      page,
      async (customer, account, status, type, createdAfter, createdBefore, { take, orderBy }) => {
        const where = whereTransactions(allOf(t.platform.platformId), {
          customerId: customer === undefined ? undefined : scenes[customer]?.customerId,
          senderAccountIdentifier: account === undefined ? undefined : scenes[account]?.usd,
          status,
          type: type && [type],
          createdAfter,
          createdBefore,
        });
        const query = { where, orderBy, ...(take !== undefined && { take }) };
        expect(await readRows(database, 'Transaction', query)).toEqual(await prisma.transaction.findMany(query));
        expect(await readRows(database, 'Transaction', query, paymentParties)).toEqual(
          await prisma.transaction.findMany({ ...query, include }),
        );
        const counted = { where, ...(take !== undefined && { take }) };
        expect(await countRows(database, 'Transaction', counted)).toBe(await prisma.transaction.count(counted));
      },
    ),
    { numRuns: 60 },
  );
});

test('quotes, customers and accounts are read as by Prisma', async () => {
  const { platformId } = t.platform;
  const { prisma } = database;
  await fc.assert(
    fc.asyncProperty(owner, page, fc.boolean(), fc.boolean(), async (at, pages, all, owned) => {
      const customerId = scenes[at]?.customerId;
      const quotes = {
        where: whereQuotes(allOf(platformId), all ? null : { customerId, status: ['PENDING'] }),
        ...pages,
      };
      expect(await readRows(database, 'Quote', quotes, paymentParties)).toEqual(
        await prisma.quote.findMany({ ...quotes, include }),
      );
      const customers = {
        where: whereCustomers(allOf(platformId), { isIncludingDeleted: all, updatedBefore: new Date() }),
        ...pages,
      };
      expect(await readRows(database, 'Customer', customers)).toEqual(await prisma.customer.findMany(customers));
      const accounts = {
        where: whereAccounts(allOf(platformId), { platformOwned: owned, kind: all ? 'EXTERNAL' : 'INTERNAL' }),
        ...pages,
      };
      expect(await readRows(database, 'Account', accounts)).toEqual(await prisma.account.findMany(accounts));
    }),
    { numRuns: 30 },
  );
});

test("UMA addresses, the customer's id and alternative conditions find the same rows as Prisma", async () => {
  const { nodes } = await t.platform.ask(
    'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Customer { umaAddress platformCustomerId } } }',
    {
      ids: [scenes[0]?.customerId],
    },
  );
  for (const filter of [
    { senderAccountIdentifier: nodes[0].umaAddress },
    { receiverAccountIdentifier: nodes[0].umaAddress },
    { platformCustomerId: nodes[0].platformCustomerId },
    { customerId: 'Customer:nobody' },
  ]) {
    const query = {
      where: whereTransactions(allOf(t.platform.platformId), filter),
      orderBy: [{ id: 'desc' as const }],
    };
    expect(await readRows(database, 'Transaction', query)).toEqual(await database.prisma.transaction.findMany(query));
  }
});

test('one row is read, or null if none meets the conditions', async () => {
  const { platformId } = t.platform;
  const id = scenes[0]?.customerId.split(':')[1] ?? '';
  expect(await readRow(database, 'Customer', { platformId, id })).toEqual(
    await database.prisma.customer.findUnique({ where: { platformId_id: { platformId, id } } }),
  );
  expect(await readRow(database, 'Customer', { platformId: id, id })).toBeNull();
});

test('a balance beyond the range of a JSON number is read exactly', async () => {
  const owning = openAsOwner({ url: t.databaseUrl, poolSize: 1 });
  const client = await owning.pool.connect();
  const readText = async (text: string, { values }: { readonly values: readonly unknown[] }): Promise<string> =>
    (await client.query<[string]>({ text, values: [...values], rowMode: 'array' })).rows[0]?.[0] ?? '';
  try {
    await client.query("begin; set local session_replication_role = 'replica'");
    const { rows } = await client.query(
      "update account set posted = 9007199254740995 where kind = 'INTERNAL' returning platform_id, id",
    );
    const [{ platform_id: platformId, id }] = rows;
    expect(await readRow({ readText }, 'Account', { platformId, id })).toMatchObject({ posted: 9007199254740995n });
  } finally {
    await client.query('rollback');
    client.release();
    await owning.close();
  }
});

test('unsupported conditions are errors, and never ignored', async () => {
  const read = (where: object) => readRows(database, 'Transaction', { where });
  await expect(read({ description: { contains: 'x' } })).rejects.toThrow('contains');
  await expect(read({ NOT: { status: 'PENDING' } })).rejects.toThrow('NOT');
  await expect(read({ AND: [{ nonsense: true }] })).rejects.toThrow('nonsense');
  await expect(read({ platform: { id: t.platform.platformId } })).rejects.toThrow('platform');
});
