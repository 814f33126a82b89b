import { expect, test, vi } from 'vitest';
import type { Payments } from '../../src/domain/commands/command.ts';
import { closeCases, listCases } from '../../src/domain/settlement/cases.ts';
import { failOrder } from '../../src/domain/settlement/order-by-hand.ts';
import { settleDueOrders } from '../../src/domain/settlement/settlement.ts';
import type { RailOutcome } from '../../src/rails/rail.ts';
import { between } from '../setup/acts.ts';
import { tester, testGateway, uuidIn, withRail } from '../setup/gateway.ts';
import { askOps, runOps } from '../setup/ops.ts';
import { makeDue } from '../setup/passing-time.ts';

// Tests how an operator ends an order whose rail can no longer report its outcome (decision 80).

/** This gateway runs no workers. The test does the background work itself. */
const t = await testGateway({ ROLE: 'serve', SANDBOX_PACE_MS: 0 }, undefined, {}, 'by-hand');
const { platform } = t;
const { payments } = t.gateway;
const scene = await platform.makeScene(100_000n);

const ops = (...args: string[]) => runOps(t.databaseUrl, args, { SANDBOX_PACE_MS: '0' });
const answer = (...args: string[]) => askOps(t.databaseUrl, args, { SANDBOX_PACE_MS: '0' });
const by = ['--by', 'Ada', '--reason', 'the bank has no such payment'];

/** Returns the domain with a rail whose calls return the result of `reply`. */
function withAnswer(reply: () => Promise<RailOutcome | undefined>): Payments {
  const perform = async (): Promise<RailOutcome> => (await reply()) ?? { kind: 'pending', checkInMs: 1_000 };
  return withRail(t, { payOut: perform, collect: perform, findOrder: reply });
}
const says = (outcome: RailOutcome) => withAnswer(async () => outcome);
const slow = { sandboxScenario: { delayMs: 3_600_000 } };
const slowPull = { sandboxScenario: { delayMs: 3_600_000, step: 'PULL' } };
const slowPayment = async (amount: number): Promise<string> => (await platform.pay(scene, amount, slow)).id;
async function slowPulled(): Promise<string> {
  const { id, transaction } = await platform.quote(between(scene.outsideUsd, scene.outsideEur, 2_000));
  await platform.execute(id, slowPull);
  return transaction.id;
}
const byHand = { operator: { ...tester, by: 'Ada' }, withoutAsking: false };
const casesOf = async (id: string) =>
  (await listCases(payments.database)).filter(({ transactionId }) => uuidIn(id) === transactionId);
/** Returns the payment without its timeline, because no sequencer runs in this test. */
const transactionOf = (id: string) =>
  platform.fieldsOf('transaction', id, 'id status failureReason refund { amount { amount } settledAt }');
const openOrders = (id: string) =>
  payments.database.prisma.railOrder.count({ where: { transactionId: uuidIn(id), dueAt: { not: null } } });

/** Processes all orders immediately, as the workers do, with a rail that reports the given outcome. */
async function work(outcome: RailOutcome): Promise<void> {
  await makeDue(t);
  await settleDueOrders(says(outcome), 10);
}

test("a payment failed by an operator's command is refunded as if its rail had refused it, and an act records who and why", async () => {
  const before = await platform.balanceOf(scene.usd);
  const id = await slowPayment(1_000);
  expect(await platform.balanceOf(scene.usd)).toBe(before - 1_000n);
  const done = await answer('order', 'fail', id, ...by);
  expect(done).toMatchObject({ transaction: id, status: 'FAILED', said: 'pending' });
  expect(await platform.balanceOf(scene.usd)).toBe(before);
  const refund = { amount: { amount: '1000' }, settledAt: expect.any(String) };
  expect(await transactionOf(id)).toMatchObject({ failureReason: 'QUOTE_EXECUTION_FAILED', refund });
  const { rows } = await t.owner.query('select status_reason from transaction where id = $1', [uuidIn(id)]);
  expect(rows[0].status_reason).toBe('ended by the operator of the service: the outcome could not be determined');
  expect(await openOrders(id)).toBe(0);
  const [noted] = await answer('acts', '--subject', id);
  expect(noted).toMatchObject({
    ...{ act: 'order fail', by: 'Ada', reason: 'the bank has no such payment', platform: 'by-hand' },
    ...{ before: { order: done.order, status: 'PENDING', said: 'pending' }, after: { status: 'FAILED' } },
  });
  const over = { code: 1, err: `${id} is FAILED: it has no order that awaits an outcome` };
  expect(await ops('order', 'fail', id, ...by)).toMatchObject(over);
  expect(await answer('acts', '--subject', id)).toHaveLength(1);
});

test('the command ends a conversion or a pull together with its quote, and leaves nothing in flight', async () => {
  const before = await platform.balanceOf(scene.usd);
  const conversion = await platform.quote(between(scene.usd, scene.outsideEur, 2_000));
  await platform.execute(conversion.id, slow);
  const pulled = await platform.transfer('transferIn', scene, 500, slow);
  for (const id of [conversion.transaction.id, await slowPulled(), pulled.id]) {
    await answer('order', 'fail', id, ...by);
    expect(await transactionOf(id)).toMatchObject({ status: 'FAILED' });
    expect(await openOrders(id)).toBe(0);
  }
  expect(await platform.balanceOf(scene.usd)).toBe(before);
});

test('the command ends a pull for a UMA payment that is not yet awaiting a decision', async () => {
  const payee = await platform.makeScene(0n);
  const address = await platform.umaAddressOf(payee.customerId);
  const { id, transaction } = await platform.umaQuote(scene.outsideUsd, address, { lockedCurrencyAmount: 2_000 });
  await platform.execute(id, slowPull);
  const pending = says({ kind: 'pending', checkInMs: 1_000 });
  await failOrder(pending, transaction.id, byHand);
  expect(await transactionOf(transaction.id)).toMatchObject({ status: 'FAILED', refund: null });
});

test("the rail's last report decides: the command refuses a settled or failed order, and the workers book the outcome", async () => {
  const away = withAnswer(() => Promise.reject(new Error('connect ECONNREFUSED')));
  const rejected = says({ kind: 'rejected', explanation: 'closed' });
  const all: string[] = [];
  for (const [rail, message] of [
    [says({ kind: 'settled' }), 'the rail reports that the payment has settled: the workers are booking it'],
    [rejected, 'the rail reports rejected (closed): the workers are ending the payment'],
    [away, 'the rail cannot be reached: connect ECONNREFUSED. --without-asking ends the order anyway'],
  ] as const) {
    const id = await slowPayment(300);
    all.push(id);
    await expect(failOrder(rail, id, byHand)).rejects.toThrow(message);
  }
  // None of the orders has changed, and all are due again.
  for (const id of all) expect((await transactionOf(id)).status).toBe('PENDING');
  await settleDueOrders(says({ kind: 'settled' }), 10);
  for (const id of all) expect((await transactionOf(id)).status).toBe('COMPLETED');
  expect(await payments.database.prisma.operatorAct.count({ where: { subject: { in: all } } })).toBe(0);

  // A settled order cannot be ended, even while its money could still be returned.
  const watched = await slowPayment(305);
  await work({ kind: 'settled', watchMs: 3_600_000 });
  const watch = () => t.owner.query('select due_at, attempts from rail_order where due_at is not null');
  const { rows } = await watch();
  const over = { code: 1, err: `${watched} is COMPLETED: it has no order that awaits an outcome` };
  expect(await ops('order', 'fail', watched, ...by)).toMatchObject(over);
  expect((await watch()).rows).toEqual(rows);
  await work({ kind: 'settled' });
  const gone = await slowPayment(303);
  expect((await failOrder(away, gone, { ...byHand, withoutAsking: true })).said).toBeUndefined();
  const never = await slowPayment(304);
  const nowhere = withAnswer(async () => undefined);
  expect(await failOrder(nowhere, never, byHand)).toMatchObject({ said: 'the provider has no such payment' });
});

test('the command refuses a payment whose rail reported a different amount, until a person has closed its case', async () => {
  const id = await slowPayment(310);
  await work({ kind: 'settled', amount: 309n });
  expect(await casesOf(id)).toHaveLength(1);
  const without = { ...byHand, withoutAsking: true };
  await expect(failOrder(payments, id, without)).rejects.toThrow('the rail has reported: settled 3.09 USD');
  await closeCases(payments.database, id, { ...tester, reason: 'the bank has given it back' });
  await failOrder(payments, id, without);
});

test.each(['payment', 'pull'] as const)(
  'if an operator ends a %s before a worker learns that it settled, the worker changes nothing and opens a case',
  async (kind) => {
    const before = await platform.balanceOf(scene.usd);
    const id = kind === 'payment' ? await slowPayment(320) : await slowPulled();
    await makeDue(t);
    const worker = withAnswer(async () => {
      // The worker holds the lease. The operator takes it while the worker waits for its rail.
      const mine = says({ kind: 'pending', checkInMs: 1_000 });
      await failOrder(mine, id, byHand);
      return { kind: 'settled' };
    });
    await settleDueOrders(worker, 10);
    expect((await transactionOf(id)).status).toBe('FAILED');
    expect(await platform.balanceOf(scene.usd)).toBe(before);
    expect(await casesOf(id)).toMatchObject([{ kind: 'OTHER_OUTCOME', said: 'settled', times: 1 }]);
    expect(await openOrders(id)).toBe(0);
  },
);

test('no worker takes an order that the operator has leased, but if a worker finishes first, its outcome stands', async () => {
  const id = await slowPayment(330);
  const asked = withAnswer(async () => {
    expect(await settleDueOrders(says({ kind: 'settled' }), 10)).toBe(0);
    // The lease may be renewed, so this ends it repeatedly until a worker gets the order.
    await vi.waitFor(async () => {
      await t.owner.query("update rail_order set due_at = clock_ms() - interval '1 second' where due_at is not null");
      expect(await settleDueOrders(says({ kind: 'settled' }), 10)).toBe(1);
    }, 60_000);
    return { kind: 'pending', checkInMs: 1_000 };
  });
  const over = 'nothing done: the order has ended in the meantime (COMPLETED)';
  await expect(failOrder(asked, id, byHand)).rejects.toThrow(over);
  expect((await transactionOf(id)).status).toBe('COMPLETED');
  const unknown = 'Transaction:0197f2a0-0000-7000-8000-000000000001';
  expect(await ops('order', 'fail', unknown, ...by)).toMatchObject({ code: 1, err: `there is no ${unknown}` });
  expect((await ops('order', 'fail', id, '--by', 'Ada')).code).toBe(2);
});
