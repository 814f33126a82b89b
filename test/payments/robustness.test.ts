import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ThrowawayDatabase } from '../../src/database/throwaway.ts';
import type { Payments } from '../../src/payments/command.ts';
import { expireQuotes } from '../../src/payments/expiry.ts';
import { settleDueOrders } from '../../src/payments/settlement.ts';
import type { RailOutcome } from '../../src/rails/rail.ts';
import { freshDatabase } from '../setup/database.ts';
import { startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

/** Rails and rows that do not behave hold up nothing else, and lose nothing. */

let database: ThrowawayDatabase;
/** Serves only: the test does the background work itself, with rails of its own. Its end audits the ledger. */
let door: TestGateway;
let platform: TestPlatform;
let scene: Scene;
beforeAll(async () => {
  database = await freshDatabase();
  door = await startTestGateway({ ROLE: 'serve', SANDBOX_QUOTE_SECONDS: 1 }, database.url);
  platform = await door.newPlatform('robust');
  scene = await makeScene(platform);
});
afterAll(async () => {
  await door.stop();
  await database.drop();
});

/** The domain with a rail that answers `amount` by amount. */
function withRail(answers: Record<number, () => Promise<RailOutcome>>): Payments {
  const { payments } = door.gateway;
  const { SANDBOX } = payments.rails;
  if (!SANDBOX) throw new Error('no sandbox');
  const perform = ({ amount }: { amount: bigint }) =>
    answers[Number(amount)]?.() ?? Promise.resolve<RailOutcome>({ kind: 'settled' });
  return { ...payments, rails: { SANDBOX: { ...SANDBOX, perform } } };
}

async function send(amount: number): Promise<string> {
  const { transferOut } = await platform.ask(
    `mutation ($input: TransferOutInput!) { transferOut(input: $input) { ... on TransferOutSuccess { transaction { id } } } }`,
    { input: { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount } },
  );
  return transferOut.transaction.id;
}

async function statusOf(id: string): Promise<string> {
  return (await platform.ask('query ($id: ID!) { transaction(id: $id) { status } }', { id })).transaction.status;
}

/** Makes every order that still waits due, however long its rail said. */
const makeDue = () =>
  door.gateway.payments.database.pool.query('update rail_order set due_at = clock_ms() where due_at is not null');

test('a rail that never answers for one order holds up no other, and is asked about it again', async () => {
  const [silent, prompt] = [await send(101), await send(102)];
  let asked: () => void = () => undefined;
  const asking = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const payments = withRail({
    101: () => {
      asked();
      return new Promise(() => undefined);
    },
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const round = settleDueOrders(payments, 10);
    await asking;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await round).toBe(2);
  } finally {
    vi.useRealTimers();
  }
  expect(await statusOf(prompt)).toBe('COMPLETED');
  expect(await statusOf(silent)).toBe('PENDING');
  await makeDue();
  await settleDueOrders(withRail({}), 10);
  expect(await statusOf(silent)).toBe('COMPLETED');
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, 0.5, -3, 1e300])(
  'an order of which a rail says to ask again in %d ms is asked about again',
  async (checkInMs) => {
    const id = await send(103);
    await settleDueOrders(withRail({ 103: () => Promise.resolve({ kind: 'pending', checkInMs }) }), 10);
    expect(await statusOf(id)).toBe('PENDING');
    await makeDue();
    await settleDueOrders(withRail({}), 10);
    expect(await statusOf(id)).toBe('COMPLETED');
  },
);

test('an account that is busy too long is no fault of a fresh key, which may be used again', async () => {
  const holder = new pg.Client(database.url);
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from account for update');
  const ask = () =>
    platform.send(
      `mutation ($input: TransferOutInput!) { transferOut(input: $input) { ... on TransferOutSuccess { replayed }
         ... on UserError { code } } }`,
      {
        input: {
          sourceAccountId: scene.usd,
          destinationAccountId: scene.outsideUsd,
          amount: 104,
          idempotencyKey: 'fresh',
        },
      },
    );
  const busy = await ask();
  await holder.query('rollback');
  await holder.end();
  expect(JSON.stringify(busy)).toContain('SERVICE_UNAVAILABLE');
  expect(JSON.stringify(busy)).not.toContain('still running');
  expect((await ask()).data.transferOut).toEqual({ replayed: false });
});

test('a quote that cannot be expired now is not counted as done, and is expired later', async () => {
  const { createQuote } = await platform.ask(
    `mutation ($from: ID!, $to: ID!) { createQuote(input: { source: { account: { accountId: $from } },
       destination: { account: { accountId: $to } }, lockedCurrencySide: SENDING, lockedCurrencyAmount: 1000 })
       { ... on CreateQuoteSuccess { quote { id } } } }`,
    { from: scene.usd, to: scene.outsideEur },
  );
  const holder = new pg.Client(database.url);
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from quote for update');
  const { payments } = door.gateway;
  await vi.waitFor(async () => expect((await expireQuotes(payments, 10)).found).toBe(1), 20_000);
  expect(await expireQuotes(payments, 10)).toEqual({ found: 1, done: 0 });
  await holder.query('rollback');
  await holder.end();
  expect(await expireQuotes(payments, 10)).toEqual({ found: 1, done: 1 });
  const query = 'query ($id: ID!) { quote(id: $id) { status } }';
  expect((await platform.ask(query, { id: createQuote.quote.id })).quote.status).toBe('EXPIRED');
});
