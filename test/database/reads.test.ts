import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { whereAccounts, whereCustomers, whereQuotes, whereTransactions } from '../../src/payments/filters.ts';
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
    await t.platform.ask(
      'mutation ($from: ID!, $to: ID!) { transferOut(input: { sourceAccountId: $from, destinationAccountId: $to, amount: 100 }) { ... on TransferOutSuccess { replayed } } }',
      { from: scene.usd, to: scene.outsideUsd },
    );
    await t.platform.ask(
      'mutation ($input: CreateQuoteInput!) { createQuote(input: $input) { ... on CreateQuoteSuccess { replayed } } }',
      {
        input: {
          source: { account: { accountId: scene.usd } },
          destination: { account: { accountId: scene.outsideEur } },
          lockedCurrencySide: 'SENDING',
          lockedCurrencyAmount: 1_000,
        },
      },
    );
  }
});
afterAll(() => t.stop());

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const owner = fc.nat({ max: 2 });
const date = fc.integer({ min: -60_000, max: 60_000 }).map((ms) => new Date(Date.now() + ms));
const page = fc.record({
  take: some(fc.integer({ min: 1, max: 5 })),
  order: fc.constantFrom('asc' as const, 'desc' as const),
});
const paged = ({ take, order }: { take: number | undefined; order: 'asc' | 'desc' }) => ({
  take,
  orderBy: { id: order },
});

/** The query without what is not given, as its callers write it. */
const given = <T extends object>(query: T): T =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as T;

test('transactions are read as Prisma reads them, whatever is filtered, ordered and read along', async () => {
  await fc.assert(
    fc.asyncProperty(
      some(owner),
      some(owner),
      some(fc.subarray(['PENDING', 'PROCESSING', 'COMPLETED'] as const)),
      some(fc.constantFrom('INCOMING' as const, 'OUTGOING' as const)),
      some(date),
      some(date),
      page,
      fc.subarray(['customer', 'sourceAccount', 'destinationAccount', 'quote', 'journals'] as const),
      async (customer, account, status, type, startDate, endDate, pages, along) => {
        const where = whereTransactions(t.platform.platformId, {
          customerId: customer === undefined ? undefined : scenes[customer]?.customerId,
          senderAccountIdentifier: account === undefined ? undefined : scenes[account]?.usd,
          status,
          type,
          startDate,
          endDate,
        });
        const include = Object.fromEntries(along.map((name) => [name, true]));
        const query = given({ where, include: along.length > 0 ? include : undefined, ...paged(pages) });
        expect(await database.reads.transaction.findMany(query)).toEqual(
          await database.prisma.transaction.findMany(query),
        );
        const counted = given({ where, take: pages.take });
        expect(await database.reads.transaction.count(counted)).toBe(await database.prisma.transaction.count(counted));
      },
    ),
    { numRuns: 60 },
  );
});

test('quotes, customers and accounts are read as Prisma reads them, with lists below rows', async () => {
  const { platformId } = t.platform;
  await fc.assert(
    fc.asyncProperty(owner, page, page, fc.boolean(), fc.boolean(), async (at, pages, below, all, owned) => {
      const customerId = scenes[at]?.customerId;
      const quotes = {
        where: whereQuotes(platformId, all ? null : { customerId, status: ['PENDING'] }),
        select: {
          id: true,
          pricing: true,
          exchangeRate: true,
          feesIncluded: true,
          transaction: { select: { id: true } },
        },
        ...given(paged(pages)),
      };
      expect(await database.reads.quote.findMany(quotes)).toEqual(await database.prisma.quote.findMany(quotes));

      const customers = {
        where: whereCustomers(platformId, { isIncludingDeleted: all, updatedBefore: new Date() }),
        include: {
          accounts: { where: whereAccounts(platformId, { currency: 'USD' }), ...given(paged(below)) },
          transactions: { select: { id: true, sentAmount: true, createdAt: true }, ...given(paged(below)) },
        },
        ...given(paged(pages)),
      };
      expect(await database.reads.customer.findMany(customers)).toEqual(
        await database.prisma.customer.findMany(customers),
      );

      const accounts = {
        where: whereAccounts(platformId, { platformOwned: owned, kind: all ? 'EXTERNAL' : 'INTERNAL' }),
        ...given(paged(pages)),
      } as const;
      expect(await database.reads.account.findMany(accounts)).toEqual(await database.prisma.account.findMany(accounts));
    }),
    { numRuns: 30 },
  );
});

test('by UMA address, through the customer, and by either of two conditions', async () => {
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
    const query = { where: whereTransactions(t.platform.platformId, filter), orderBy: { id: 'desc' as const } };
    expect(await database.reads.transaction.findMany(query)).toEqual(await database.prisma.transaction.findMany(query));
  }
});

test('what is not understood is an error, never left out', async () => {
  const read = (query: object) => database.reads.transaction.findMany(query);
  await expect(read({ where: { description: { contains: 'x' } } })).rejects.toThrow('contains');
  await expect(read({ where: { NOT: { status: 'PENDING' } } })).rejects.toThrow('NOT');
  await expect(read({ select: { nonsense: true } })).rejects.toThrow('nonsense');
  await expect(read({ where: {}, skip: 3 })).rejects.toThrow('skip');
});
