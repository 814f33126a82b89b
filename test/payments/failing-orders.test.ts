import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ThrowawayDatabase } from '../../src/database/migrations/throwaway.ts';
import type { Payments } from '../../src/payments/command.ts';
import { closeCases, listCases } from '../../src/payments/settlement/cases.ts';
import { failOrder } from '../../src/payments/settlement/fail-order.ts';
import { settleDueOrders } from '../../src/payments/settlement/settlement.ts';
import type { RailOutcome } from '../../src/rails/rail.ts';
import { actOn, execute, pay, quote, umaAddressOf, umaQuote } from '../setup/acts.ts';
import { freshDatabase } from '../setup/database.ts';
import { type Data, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { runOps } from '../setup/ops.ts';
import { balanceOf, makeScene, type Scene } from '../setup/scene.ts';
import { tester } from '../setup/tester.ts';

// An order whose rail cannot tell any more what became of it is ended by a person (decision 80).

let database: ThrowawayDatabase;
/** Serves only: the test does the background work itself. Its end audits the ledger. */
let gateway: TestGateway;
let platform: TestPlatform;
let scene: Scene;
beforeAll(async () => {
  database = await freshDatabase();
  gateway = await startTestGateway({ ROLE: 'serve', SANDBOX_PACE_MS: 0 }, database.url);
  platform = await gateway.newPlatform('by-hand');
  scene = await makeScene(platform, 100_000n);
});
afterAll(async () => {
  await gateway.stop();
  await database.drop();
});

const secrets = { CLIENT_TOKEN_KEY: 'a key that only tests use, for nothing else', SANDBOX_PACE_MS: '0' };
const ops = (...args: string[]) => runOps(database.url, args, secrets);
const by = ['--by', 'Ada', '--reason', 'the bank has no such payment'];
async function answer(...args: string[]): Promise<Data> {
  const { code, out, err } = await ops('--json', ...args);
  expect({ args, code, err }).toEqual({ args, code: 0, err: '' });
  return JSON.parse(out);
}

/** The domain with a rail that answers so. */
function withAnswer(reply: () => Promise<RailOutcome | undefined>): Payments {
  const { payments } = gateway.gateway;
  const { SANDBOX } = payments.rails;
  if (!SANDBOX) throw new Error('no sandbox');
  const perform = async (): Promise<RailOutcome> => (await reply()) ?? { kind: 'pending', checkInMs: 1_000 };
  return { ...payments, rails: { SANDBOX: { ...SANDBOX, payOut: perform, collect: perform, findOrder: reply } } };
}
const says = (outcome: RailOutcome) => withAnswer(async () => outcome);
const slow = { sandboxScenario: { delayMs: 3_600_000 } };
const slowPull = { sandboxScenario: { delayMs: 3_600_000, step: 'PULL' } };
const slowPayment = async (amount: number): Promise<string> => (await pay(platform, scene, amount, slow)).id;
const byHand = { operator: { ...tester, by: 'Ada' }, withoutAsking: false };
const casesOf = async (id: string) =>
  (await listCases(gateway.gateway.payments.database)).filter(
    ({ transactionId }) => id === `Transaction:${transactionId}`,
  );
/** The payment without its timeline: nobody numbers events here. */
async function transactionOf(on: TestPlatform, id: string): Promise<Data> {
  const fields = 'id status failureReason refund { amount { amount } settledAt }';
  return (await on.ask(`query ($id: ID!) { transaction(id: $id) { ${fields} } }`, { id })).transaction;
}
const openOrders = async (id: string) => {
  const { rows } = await gateway.owner.query(
    'select id from rail_order where transaction_id = $1 and due_at is not null',
    [id.replace('Transaction:', '')],
  );
  return rows.length;
};
const makeDue = () => gateway.owner.query('update rail_order set due_at = clock_ms() where due_at is not null');

test('a payment ends FAILED by command as when its rail refuses it: its money is back, and an act says who and why', async () => {
  const before = await balanceOf(platform, scene.usd);
  const id = await slowPayment(1_000);
  expect(await balanceOf(platform, scene.usd)).toBe(before - 1_000n);
  const done = await answer('order', 'fail', id, ...by);
  expect(done).toMatchObject({ transaction: id, status: 'FAILED', said: 'pending' });
  expect(await balanceOf(platform, scene.usd)).toBe(before);
  const payment = await transactionOf(platform, id);
  expect(payment).toMatchObject({
    status: 'FAILED',
    failureReason: 'QUOTE_EXECUTION_FAILED',
    refund: { amount: { amount: '1000' }, settledAt: expect.any(String) },
  });
  const { rows } = await gateway.owner.query('select status_reason from transaction where id = $1', [
    id.replace('Transaction:', ''),
  ]);
  expect(rows[0].status_reason).toBe('ended by the operator of the service: its outcome could not be found out');
  expect(await openOrders(id)).toBe(0);
  const [done1] = await answer('acts', '--subject', id);
  expect(done1).toMatchObject({
    act: 'order fail',
    by: 'Ada',
    reason: 'the bank has no such payment',
    platform: 'by-hand',
    before: { order: done.order, status: 'PENDING', said: 'pending' },
    after: { status: 'FAILED' },
  });
  expect(await ops('order', 'fail', id, ...by)).toMatchObject({
    code: 1,
    err: `${id} is FAILED: no order of it waits for an outcome`,
  });
  expect(await answer('acts', '--subject', id)).toHaveLength(1);
});

test('a conversion and a pull end by command, with their quotes, and nothing of them is left under way', async () => {
  const before = await balanceOf(platform, scene.usd);
  const conversion = await quote(platform, {
    source: { account: { accountId: scene.usd } },
    destination: { account: { accountId: scene.outsideEur } },
    lockedCurrencyAmount: 2_000,
  });
  await execute(platform, conversion.id, slow);
  const pull = await quote(platform, {
    source: { account: { accountId: scene.outsideUsd } },
    destination: { account: { accountId: scene.outsideEur } },
    lockedCurrencyAmount: 2_000,
  });
  await execute(platform, pull.id, slowPull);
  const pulled = await actOn(platform, 'transferIn', {
    sourceAccountId: scene.outsideUsd,
    destinationAccountId: scene.usd,
    amount: 500,
    ...slow,
  });
  for (const id of [conversion.transaction.id, pull.transaction.id, pulled.transaction.id]) {
    await answer('order', 'fail', id, ...by);
    expect(await transactionOf(platform, id)).toMatchObject({ status: 'FAILED' });
    expect(await openOrders(id)).toBe(0);
  }
  expect(await balanceOf(platform, scene.usd)).toBe(before);
});

test('a pull for a payment to a UMA address ends by command: it is with the rail, and nobody decides on it yet', async () => {
  const payee = await makeScene(platform, 0n);
  const address = await umaAddressOf(platform, payee.customerId);
  const { id, transaction } = await umaQuote(platform, scene.outsideUsd, address, { lockedCurrencyAmount: 2_000 });
  await execute(platform, id, slowPull);
  const pending = says({ kind: 'pending', checkInMs: 1_000 });
  expect(await failOrder(pending, transaction.id, byHand)).toMatchObject({ kind: 'failed' });
  expect(await transactionOf(platform, transaction.id)).toMatchObject({ status: 'FAILED', refund: null });
});

test('what the rail says once more decides: what has settled or failed is refused, and the workers book it', async () => {
  const settled = await slowPayment(300);
  const refused = await slowPayment(301);
  const unknown = await slowPayment(302);
  const { payments } = gateway.gateway;
  expect(await failOrder(says({ kind: 'settled' }), settled, byHand)).toEqual({
    kind: 'refused',
    reason: 'the rail says that it has settled: the workers book it now',
  });
  expect(await failOrder(says({ kind: 'rejected', explanation: 'closed' }), refused, byHand)).toMatchObject({
    reason: 'the rail says rejected (closed): the workers end the payment now',
  });
  const away = withAnswer(() => Promise.reject(new Error('connect ECONNREFUSED')));
  expect(await failOrder(away, unknown, byHand)).toMatchObject({
    reason: 'the rail cannot be asked: connect ECONNREFUSED. --without-asking ends the order nevertheless',
  });
  // None of them has changed, and all are due again.
  for (const id of [settled, refused, unknown]) expect((await transactionOf(platform, id)).status).toBe('PENDING');
  await settleDueOrders(says({ kind: 'settled' }), 10);
  for (const id of [settled, refused, unknown]) expect((await transactionOf(platform, id)).status).toBe('COMPLETED');
  expect(
    await payments.database.prisma.operatorAct.count({ where: { subject: { in: [settled, refused, unknown] } } }),
  ).toBe(0);

  // What has settled is left alone, also while its money may still come back.
  const watched = await slowPayment(305);
  await makeDue();
  await settleDueOrders(says({ kind: 'settled', watchMs: 3_600_000 }), 10);
  const watch = () => gateway.owner.query('select due_at, attempts from rail_order where due_at is not null');
  const { rows } = await watch();
  expect(await ops('order', 'fail', watched, ...by)).toMatchObject({
    code: 1,
    err: `${watched} is COMPLETED: no order of it waits for an outcome`,
  });
  expect((await watch()).rows).toEqual(rows);
  await makeDue();
  await settleDueOrders(says({ kind: 'settled' }), 10);
  const gone = await slowPayment(303);
  expect(await failOrder(away, gone, { ...byHand, withoutAsking: true })).toMatchObject({
    kind: 'failed',
    said: undefined,
  });
  const never = await slowPayment(304);
  const nowhere = withAnswer(async () => undefined);
  expect(await failOrder(nowhere, never, byHand)).toMatchObject({ said: 'the provider has no such payment' });
});

test('a payment of which the rail has said another amount is refused until a person has closed its case', async () => {
  const id = await slowPayment(310);
  await makeDue();
  await settleDueOrders(says({ kind: 'settled', amount: 309n }), 10);
  expect(await casesOf(id)).toHaveLength(1);
  const without = { ...byHand, withoutAsking: true };
  const { payments } = gateway.gateway;
  expect(await failOrder(payments, id, without)).toMatchObject({
    kind: 'refused',
    reason: expect.stringContaining('the rail has said: settled 3.09 USD'),
  });
  await closeCases(payments.database, id, { ...tester, reason: 'the bank has given it back' });
  expect(await failOrder(payments, id, without)).toMatchObject({ kind: 'failed' });
});

test.each(['payment', 'pull'] as const)(
  'a worker that hears of a settled %s after a person has ended it changes nothing, and it is a case',
  async (kind) => {
    const before = await balanceOf(platform, scene.usd);
    const pulled = async () => {
      const made = await quote(platform, {
        source: { account: { accountId: scene.outsideUsd } },
        destination: { account: { accountId: scene.outsideEur } },
        lockedCurrencyAmount: 2_000,
      });
      await execute(platform, made.id, slowPull);
      return made.transaction.id as string;
    };
    const id = kind === 'payment' ? await slowPayment(320) : await pulled();
    await makeDue();
    const worker = withAnswer(async () => {
      // The worker has the lease. The person takes it while the worker waits for its rail.
      const mine = says({ kind: 'pending', checkInMs: 1_000 });
      expect(await failOrder(mine, id, byHand)).toMatchObject({ kind: 'failed' });
      return { kind: 'settled' };
    });
    await settleDueOrders(worker, 10);
    expect((await transactionOf(platform, id)).status).toBe('FAILED');
    expect(await balanceOf(platform, scene.usd)).toBe(before);
    expect(await casesOf(id)).toMatchObject([{ kind: 'OTHER_OUTCOME', said: 'settled', times: 1 }]);
    expect(await openOrders(id)).toBe(0);
  },
);

test('a worker that is quicker than the person decides, and no worker takes the order while the rail is asked', async () => {
  const id = await slowPayment(330);
  const asked = withAnswer(async () => {
    expect(await settleDueOrders(says({ kind: 'settled' }), 10)).toBe(0);
    // The worker had it before, and is done now.
    await gateway.owner.query(
      "update rail_order set due_at = clock_ms() - interval '1 second' where due_at is not null",
    );
    expect(await settleDueOrders(says({ kind: 'settled' }), 10)).toBe(1);
    return { kind: 'pending', checkInMs: 1_000 };
  });
  expect(await failOrder(asked, id, byHand)).toEqual({
    kind: 'refused',
    reason: 'nothing done: another has ended the order meanwhile (COMPLETED)',
  });
  expect((await transactionOf(platform, id)).status).toBe('COMPLETED');
  expect(await ops('order', 'fail', 'Transaction:0197f2a0-0000-7000-8000-000000000001', ...by)).toMatchObject({
    code: 1,
    err: 'there is no Transaction:0197f2a0-0000-7000-8000-000000000001',
  });
  expect((await ops('order', 'fail', id, '--by', 'Ada')).code).toBe(2);
});
