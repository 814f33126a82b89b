import { describe, expect, test } from 'vitest';
import { commitPlanOn } from '../../src/domain/ledger/commit.ts';
import type { Plan } from '../../src/domain/ledger/plan.ts';
import { releaseSuspense } from '../../src/domain/settlement/order-by-hand.ts';
import { between, left } from '../setup/acts.ts';
import { tester, testGateway, uuidIn } from '../setup/gateway.ts';
import { runOps } from '../setup/ops.ts';

const t = await testGateway();

/** Runs the operator's `suspense` command on the gateway's database. */
const suspense = (...words: string[]) => runOps(t.databaseUrl, ['suspense', ...words]);

/** Creates a payment of 10,000 US cents whose delivery and refund both fail. */
async function stuck() {
  const scene = await t.platform.makeScene(50_000n, '007');
  const { id } = await t.platform.transfer('transferOut', scene, 10_000);
  return { scene, transaction: await t.platform.ended(id) };
}

describe('money in suspense', () => {
  test('is listed, and is returned to the account when the operator releases it, which settles the refund', async () => {
    const { scene, transaction } = await stuck();
    expect(transaction).toMatchObject({ status: 'FAILED', refund: { settledAt: null } });
    expect(left(transaction, 'SUSPENSE')).toBe(10_000n);
    const listed = await suspense('list');
    expect(listed).toMatchObject({ code: 0 });
    const line = listed.out.split('\n').find((one) => one.includes(transaction.id));
    expect(line).toContain('100.00 USD');
    expect(line).toContain(transaction.refund.reference);

    const after = await t.platform.feedEnd();
    const released = await suspense('release', transaction.id);
    expect(released).toEqual({ code: 0, out: `Paid 100.00 USD to ${scene.usd}.`, err: '' });
    expect(await t.platform.balanceOf(scene.usd)).toBe(50_000n);
    const now = await t.platform.transactionOf(transaction.id);
    expect(now).toMatchObject({ status: 'FAILED', refund: { reference: transaction.refund.reference } });
    expect(Date.parse(now.refund.settledAt)).toBeGreaterThan(Date.parse(now.refund.initiatedAt));
    expect([left(now, 'SUSPENSE'), left(now, 'CLEARING')]).toEqual([0n, 0n]);
    expect((await suspense('list')).out).not.toContain(transaction.id);

    // The feed shows the balance change, and then the payment with its refund.
    const events = `subscription ($after: String) { events(after: $after) { type
      transaction { id status refund { settledAt } } account { id ... on InternalAccount { balance { amount } } } } }`;
    const { settledAt } = now.refund;
    expect(await t.platform.followed(events, { after }, ({ type }) => type === 'OUTGOING_PAYMENT')).toMatchObject([
      { type: 'ACCOUNT_STATUS', account: { id: scene.usd, balance: { amount: '50000' } } },
      { type: 'OUTGOING_PAYMENT', transaction: { id: transaction.id, status: 'FAILED', refund: { settledAt } } },
    ]);
    expect(now.timeline.at(-1)).toEqual({ status: 'FAILED', reason: 'the money was returned; the refund is paid' });

    const out = `Nothing done: 100.00 USD was already paid to ${scene.usd} at ${settledAt}.`;
    expect(await suspense('release', transaction.id)).toMatchObject({ code: 0, out });
    expect(await t.platform.balanceOf(scene.usd)).toBe(50_000n);
  });

  test('is not paid out twice if two releases are planned concurrently', async () => {
    const { scene, transaction } = await stuck();
    const { database } = t.gateway.payments;
    const id = uuidIn(transaction.id);
    const plan: Plan = { transactions: [{ id, from: ['FAILED'], to: 'FAILED', reason: 'again', paysRefund: true }] };
    expect(await releaseSuspense(database, transaction.id, tester)).toMatchObject({ kind: 'paid' });
    // The check made under the lock refuses the release. The table's constraints are only a second safeguard.
    const refusal = { code: 'CONFLICT', type: 'Transaction', id, status: 'FAILED' };
    const outcome = await commitPlanOn(database.pool, t.platform.platformId, plan);
    expect(outcome).toEqual({ kind: 'refused', replayed: false, refusal });
    expect(await t.platform.balanceOf(scene.usd)).toBe(50_000n);
  });

  test('is returned in the original currency, with the fees; if it was pulled, it goes to the owner’s internal account', async () => {
    const scene = await t.platform.makeScene(50_000n);
    const sandboxScenario = { failureReason: 'OFFRAMP_FAILED', refundFails: true };
    const pay = async (accountId: string) => {
      const made = await t.platform.quote(between(accountId, scene.outsideEur, 10_000));
      await t.platform.execute(made.id, { sandboxScenario });
      expect((await t.platform.ended(made.transaction.id)).refund.settledAt).toBeNull();
      return made.transaction.id;
    };
    const converted = await pay(scene.usd);
    expect(await t.platform.balanceOf(scene.usd)).toBe(40_000n);
    expect((await suspense('release', converted)).out).toBe(`Paid 100.00 USD to ${scene.usd}.`);
    expect(await t.platform.balanceOf(scene.usd)).toBe(50_000n);
    const pulled = await pay(scene.outsideUsd);
    expect((await suspense('release', pulled)).out).toBe(`Paid 100.00 USD to ${scene.usd}.`);
    expect(await t.platform.balanceOf(scene.usd)).toBe(60_000n);
    for (const id of [converted, pulled]) {
      const transaction = await t.platform.transactionOf(id);
      for (const system of ['SUSPENSE', 'CLEARING', 'FEES', 'LIQUIDITY']) expect(left(transaction, system)).toBe(0n);
    }
  });

  test('cannot be released for a completed, already refunded or unknown payment', async () => {
    const scene = await t.platform.makeScene(50_000n);
    const send = async (sandboxScenario: object) => {
      const { id } = await t.platform.transfer('transferOut', scene, 10_000, { sandboxScenario });
      return (await t.platform.ended(id)).id as string;
    };
    const completed = await send({});
    const failed = await send({ failureReason: 'OFFRAMP_FAILED' });
    for (const [id, status] of [
      [completed, 'COMPLETED'],
      [failed, 'FAILED'],
    ]) {
      const err = `${id} is ${status} and has nothing in suspense`;
      expect(await suspense('release', id ?? '')).toEqual({ code: 1, out: '', err });
    }
    const unknown = 'Transaction:0190f0f0-0000-7000-8000-000000000000';
    expect(await suspense('release', unknown)).toMatchObject({ code: 1, err: `there is no ${unknown}` });
    const noId = 'one is not a transaction id (Transaction:…)';
    expect(await suspense('release', 'one')).toMatchObject({ code: 1, err: noId });
    expect(await suspense('release')).toMatchObject({ code: 2 });
    expect(await t.platform.balanceOf(scene.usd)).toBe(40_000n);
  });
});
