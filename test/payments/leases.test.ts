import { expect, test, vi } from 'vitest';
import type { Payments } from '../../src/domain/commands/command.ts';
import { leaseOrders } from '../../src/domain/orders/orders.ts';
import { expireQuotes } from '../../src/domain/quotes/execute-quote.ts';
import { closeCases, listCases } from '../../src/domain/settlement/cases.ts';
import { settleDueOrders } from '../../src/domain/settlement/settlement.ts';
import type { Rail, RailOutcome } from '../../src/rails/rail.ts';
import { usdToEur } from '../setup/acts.ts';
import { withRail as replaceRail, startTestGateway, tester, testGateway, untilRows, uuidIn } from '../setup/gateway.ts';

/** A gateway without workers. */
const t = await testGateway({ ROLE: 'serve', SANDBOX_PACE_MS: 0 });
const { platform } = t;
const { payments } = t.gateway;
const scene = await platform.makeScene(10_000n);

const transfer = async (): Promise<string> => (await platform.pay(scene)).id;

/** Returns the gateway's services, with the given functions replacing those of its rail. */
const withRail = (parts: Partial<Rail>): Payments => replaceRail(t, parts);

/** Returns `work` with a database that loses the response to its next commit, although that commit takes effect. */
function losingAnAnswer(work: Payments): Payments {
  let lost = false;
  const connectForFunctions = async () => {
    const client = await work.database.connectForFunctions();
    if (lost) return client;
    lost = true;
    const query = async (statement: never) => {
      await client.query(statement);
      throw new Error('the connection was lost');
    };
    return Object.assign(Object.create(client), { query, release: () => client.release() });
  };
  return { ...work, database: { ...work.database, connectForFunctions } };
}

/** Executes quotes whose money is pulled from an external account. */
async function pulls(count: number): Promise<string[]> {
  const input = { ...usdToEur(scene), source: { account: { accountId: scene.outsideUsd } } };
  const made = [];
  for (let at = 0; at < count; at++) made.push(await platform.quote({ ...input, immediatelyExecute: true }));
  return made.map(({ transaction }) => transaction.id);
}

/** Processes orders until none is left. */
async function settleAll(work: Payments): Promise<void> {
  await vi.waitFor(async () => {
    await settleDueOrders(work, 100);
    expect((await payments.database.pool.query('select from rail_order where due_at is not null')).rowCount).toBe(0);
  }, 20_000);
}

const settled = async (): Promise<RailOutcome> => ({ kind: 'settled' });

/** Creates a rail method that signals that it was called, and waits until the test provides the result. */
function answeredLater() {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: outcome, resolve: answer } = Promise.withResolvers<RailOutcome>();
  const call = () => {
    ask();
    return outcome;
  };
  return { call, asked, answer };
}

/** Runs a gateway with workers until the given payments are COMPLETED. */
async function untilCompleted(...ids: readonly string[]): Promise<void> {
  const sequencing = await startTestGateway({ ROLE: 'work', SANDBOX_PACE_MS: 0 }, t.databaseUrl);
  for (const id of ids) expect(await platform.ended(id)).toMatchObject({ status: 'COMPLETED' });
  await sequencing.stop();
}

test('the orders of a worker that died are taken over after about two seconds', { timeout: 15_000 }, async () => {
  const id = await transfer();
  // Simulates a worker that dies right after it has leased the order.
  expect(await leaseOrders(payments.database.pool, 10)).toHaveLength(1);
  await untilCompleted(id);
});

test('an order whose rail takes longer than a lease stays with its worker', async () => {
  const id = await transfer();
  const { call, asked, answer } = answeredLater();
  const working = settleDueOrders(withRail({ payOut: call }), 10);
  await asked;
  const leases = new Set<string>();
  // Observing five different expiry times takes longer than one lease.
  while (leases.size < 5) {
    const { rows } = await payments.database.pool.query(
      'select due_at::text as until from rail_order where due_at is not null',
    );
    leases.add(rows[0].until);
    expect(await leaseOrders(payments.database.pool, 10)).toEqual([]);
  }
  answer({ kind: 'settled' });
  expect(await working).toBe(1);
  await untilCompleted(id);
});

test('repeating a committed round whose response was lost opens no case', async () => {
  const ids = await pulls(4);
  const work = withRail({ collect: settled, payOut: settled });
  expect(await settleDueOrders(losingAnAnswer(work), 10)).toBe(4);
  expect(await listCases(payments.database)).toEqual([]);
  await settleAll(work);
  const statuses = 'select distinct status from transaction where id = any ($1)';
  const { rows } = await payments.database.pool.query(statuses, [ids.map(uuidIn)]);
  expect(rows).toEqual([{ status: 'COMPLETED' }]);
});

test('when two workers finish the same pull, the second opens a case only if its rail contradicts the first', async () => {
  const second = async (outcome: RailOutcome) => {
    const [id = ''] = await pulls(1);
    const { call: collect, asked, answer } = answeredLater();
    const slow = settleDueOrders(withRail({ collect }), 10);
    await asked;
    // The first worker may renew its lease, so this ends the lease repeatedly until another worker gets the order.
    await vi.waitFor(async () => {
      await payments.database.pool.query('update rail_order set due_at = clock_timestamp() where due_at is not null');
      expect(await settleDueOrders(withRail({ collect: settled }), 10)).toBe(1);
    }, 60_000);
    answer(outcome);
    expect(await slow).toBe(1);
    const found = await listCases(payments.database);
    await settleAll(withRail({ payOut: settled }));
    return { id, found };
  };
  expect((await second({ kind: 'settled' })).found).toEqual([]);
  const { id, found } = await second({ kind: 'failed', explanation: 'no money' });
  const said = { said: 'failed (no money)', stands: 'the pull has settled' };
  expect(found).toMatchObject([{ transactionId: uuidIn(id), ...said }]);
  await closeCases(payments.database, id, tester);
});

test('quotes expired by a commit whose response was lost stay expired, and nothing is reported', async () => {
  for (let at = 0; at < 2; at++) await platform.quote(usdToEur(scene));
  await t.owner.query(
    `begin; set local session_replication_role = replica;
     update quote set expires_at = clock_timestamp() where status = 'PENDING'; commit`,
  );
  const errors = vi.spyOn(payments.log, 'error');
  expect(await expireQuotes(losingAnAnswer(payments), 10)).toEqual({ found: 2, done: 2 });
  expect(errors).not.toHaveBeenCalled();
  errors.mockRestore();
});

test('a payment is announced to its receiver even while the rail is slow to process another payment', async () => {
  const receiver = await platform.makeScene(0n);
  const address = await platform.umaAddressOf(receiver.customerId);
  const made = await platform.umaQuote(scene.usd, address, { lockedCurrencyAmount: 100 });
  const slow = await transfer();
  await platform.execute(made.id);
  const { call: payOut, answer } = answeredLater();
  const working = settleDueOrders(withRail({ payOut }), 10);
  const announced = `select status from transaction where type = 'INCOMING' and customer_id = $1`;
  await untilRows(t, [{ status: 'PENDING' }], announced, uuidIn(receiver.customerId));
  answer({ kind: 'settled' });
  expect(await working).toBe(2);
  await untilCompleted(slow);
});
