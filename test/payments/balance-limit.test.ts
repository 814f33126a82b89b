import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDecimal } from '../../src/core/currencies.ts';
import { deposit } from '../../src/domain/commands/movements.ts';
import { commitPlan } from '../../src/domain/ledger/commit.ts';
import { releaseSuspense } from '../../src/domain/settlement/order-by-hand.ts';
import { between, fundedIn, left, refusal } from '../setup/acts.ts';
import { type Data, tester, testGateway, untilRows, uuidIn } from '../setup/gateway.ts';
import { passDelay } from '../setup/passing-time.ts';
import { chargeFees, type Scene } from '../setup/scene.ts';

const t = await testGateway();

/** The maximum balance of an account. */
const most = 9_000_000_000_000_000n;
const usd = (amount: bigint) => `${formatDecimal(amount, 2)} USD`;
/** A scenario that keeps a payment in flight until `passDelay` is called. */
const late = { delayMs: 3_600_000 };

const bringIn = (scene: Scene, amount: bigint, rest?: object) => t.platform.transfer('transferIn', scene, amount, rest);
const sendOut = (scene: Scene, amount: bigint, rest?: object) =>
  t.platform.transfer('transferOut', scene, amount, rest);
const ends = (id: string, as: object) => t.platform.ended(id).then((end) => expect(end).toMatchObject(as));

const fundAccount = (accountId: string, amount: bigint): Promise<Data> =>
  t.platform.act('sandboxFundAccount', { accountId, amount }, 'account { balance { amount } }');
/** Creates a quote that is executed immediately. */
const paid = (from: string, to: string, amount: number, rest: object = {}) =>
  t.platform.quote(between(from, to, amount, { immediatelyExecute: true, ...rest }));

/** Creates a customer whose USD account holds `amount`. */
async function holding(amount: bigint): Promise<Scene> {
  const scene = await t.platform.makeScene(0n);
  await t.platform.bringIn(scene, amount);
  return scene;
}

/** Raises an account's balance above the maximum, as a large number of refunds could. */
async function heap(accountId: string, amount: bigint, currency = 'USD'): Promise<void> {
  const journal = deposit(uuidIn(accountId), currency, amount);
  const legs = journal.legs.map((leg) => ('account' in leg ? { ...leg, exempt: true as const } : leg));
  const plan = { journals: [{ ...journal, legs }] };
  expect((await commitPlan(t.gateway.payments.database, t.platform.platformId, plan)).kind).toBe('done');
}

const outOfRange = (field: string) => ({
  ...refusal('AMOUNT_OUT_OF_RANGE', ...field.split('.')),
  __typename: 'InvalidInputError',
});
const givenBack = { status: 'FAILED', failureReason: 'QUOTE_EXECUTION_FAILED', ledgerEntries: [] };

describe('an account at its maximum balance', () => {
  test('refuses more money, gives the reason, and accepts money again once the balance is lower', async () => {
    const scene = await holding(most);
    expect(await t.platform.balanceOf(scene.usd)).toBe(most);
    const refused = await bringIn(scene, 1n);
    expect(refused).toMatchObject(outOfRange('amount.units'));
    expect(refused.message).toBe(`${scene.usd} may hold at most ${usd(most)}, and this would exceed it`);
    expect(await fundAccount(scene.usd, 1n)).toMatchObject(outOfRange('amount.units'));
    await t.platform.payOut(scene, 5n);
    expect(await fundAccount(scene.usd, 6n)).toMatchObject(outOfRange('amount.units'));
    expect(await fundAccount(scene.usd, 5n)).toMatchObject({ account: { balance: { amount: `${most}` } } });
  });

  test('is refused as the destination of a quote, both when the quote is created and when it is executed', async () => {
    const scene = await t.platform.makeScene(1_000_000n);
    const other = await holding(most - 1_000_000n);
    const to = (amount: number, rest: object = {}) =>
      t.platform.quote(between(scene.usd, other.usd, amount, { lockedCurrencySide: 'RECEIVING', ...rest }));
    const fits = await to(500_000);
    expect(fits.status).toBe('PENDING');
    await fundAccount(other.usd, 600_000n);
    expect(await to(500_000)).toMatchObject(outOfRange('lockedCurrencyAmount.units'));
    expect(await to(500_000, { immediatelyExecute: true })).toMatchObject(outOfRange('lockedCurrencyAmount.units'));
    expect(await t.platform.execute(fits.id)).toMatchObject(outOfRange('quoteId'));
    expect(await t.platform.balanceOf(scene.usd)).toBe(1_000_000n);
    expect((await t.platform.transactionOf(fits.transaction.id)).status).toBe('PENDING');
    await sendOut(other, 600_000n);
    expect(await t.platform.execute(fits.id)).toMatchObject({ quote: { status: 'PROCESSING' } });
    await ends(fits.transaction.id, { status: 'COMPLETED' });
  });

  test('refuses the deposit for a quote, and accepts it once there is room', async () => {
    const scene = await holding(most - 4_999n);
    const made = await t.platform.quote(fundedIn('USD', scene, 5_000));
    const pay = (rest: object = {}) => t.platform.actOn('sandboxSend', { quoteId: made.id, currency: 'USD', ...rest });
    expect(await pay()).toMatchObject(outOfRange('quoteId'));
    expect(await pay({ amount: 6_000 })).toMatchObject(outOfRange('amount.units'));
    expect(await t.platform.balanceOf(scene.usd)).toBe(most - 4_999n);
    await sendOut(scene, 1n);
    expect(await pay()).toMatchObject({ transaction: { status: 'PROCESSING' } });
    await ends(made.transaction.id, { status: 'COMPLETED' });
    expect(await t.platform.balanceOf(scene.usd)).toBe(most - 5_000n);
  });
});

describe('money in flight', () => {
  test('counts toward the limit: concurrent transfers-in are accepted while they fit, and reach a final status', async () => {
    const scene = await t.platform.makeScene(0n);
    const part = most / 9n;
    const first = await bringIn(scene, 8n * part, { sandboxScenario: late });
    const refused = await bringIn(scene, part + 1n);
    expect(refused).toMatchObject(outOfRange('amount.units'));
    expect((await bringIn(scene, part)).status).toBe('PENDING');
    await passDelay(t, first.id);
    await ends(first.id, { status: 'COMPLETED' });

    const crowded = await t.platform.makeScene(0n);
    const all = await Promise.all(Array.from({ length: 30 }, () => bringIn(crowded, most)));
    const settled = await Promise.all(all.filter(({ id }) => id).map(({ id }) => t.platform.ended(id)));
    expect(settled.filter(({ status }) => status === 'COMPLETED')).toHaveLength(1);
    for (const end of settled.filter(({ status }) => status !== 'COMPLETED')) expect(end).toMatchObject(givenBack);
    expect(await t.platform.balanceOf(crowded.usd)).toBe(most);
  });

  test.each(['comes from an internal account', 'was pulled first, and the completed pull no longer counts'])(
    'leaves exactly the rest of the maximum available, to the last unit, if it %s',
    async (how) => {
      const coming = 4_000_000_000_000_000n;
      const rest = { sandboxScenario: late };
      const payee = await t.platform.makeScene(0n);
      const from =
        how === 'comes from an internal account'
          ? (await holding(5_000_000_000_000_000n)).usd
          : (await t.platform.makeScene(0n)).outsideUsd;
      const made = await paid(from, payee.usd, Number(coming), { lockedCurrencySide: 'RECEIVING', ...rest });
      const open = 'select kind from rail_order where transaction_id = $1 and due_at is not null';
      await untilRows(t, [{ kind: 'PAYOUT' }], open, uuidIn(made.transaction.id));
      const room = most - coming;
      expect(await bringIn(payee, room + 1n, rest)).toMatchObject(outOfRange('amount.units'));
      expect(await bringIn(payee, room, rest)).toMatchObject({ status: 'PENDING' });
      // Payments in flight are counted only if the balance plus the amount exceeds a tenth of the maximum. Below that,
      // a payment that does not fit fails later.
      expect(await bringIn(payee, most / 10n + 1n, rest)).toMatchObject({ code: 'AMOUNT_OUT_OF_RANGE' });
    },
  );

  test('is returned if a transfer-in no longer fits: the payment is FAILED and nothing is credited', async () => {
    const scene = await t.platform.makeScene(0n);
    const { id } = await bringIn(scene, most, { sandboxScenario: late });
    await fundAccount(scene.usd, 7n);
    await passDelay(t, id);
    const failed = await t.platform.ended(id);
    expect(failed).toMatchObject(givenBack);
    const why = `the receiving account may hold at most ${usd(most)}; the money went back to its source`;
    expect(failed.timeline.at(-1).reason).toBe(why);
    expect(await t.platform.balanceOf(scene.usd)).toBe(7n);
  });

  test.each(['another customer', 'the same customer'])(
    "is returned to its source if a quote to %s's account no longer fits",
    async (whose) => {
      const scene = await t.platform.makeScene(1_000_000n);
      const receiver = whose === 'the same customer' ? scene : await t.platform.makeScene(0n);
      const made = await paid(scene.usd, receiver.eur, 500_000, { sandboxScenario: late });
      expect(made.status).toBe('PROCESSING');
      await heap(receiver.eur, most, 'EUR');
      await passDelay(t, made.transaction.id);
      const failed = await t.platform.ended(made.transaction.id);
      const refund = { amount: { amount: '500000' }, settledAt: expect.any(String) };
      expect(failed).toMatchObject({ status: 'FAILED', failureReason: 'QUOTE_EXECUTION_FAILED', refund });
      const bound = `the receiving account may hold at most ${formatDecimal(most, 2)} EUR`;
      expect(failed.timeline.at(-1).reason).toContain(bound);
      expect(await t.platform.balanceOf(scene.usd)).toBe(1_000_000n);
      expect(await t.platform.balanceOf(receiver.eur)).toBe(most);
    },
  );

  test('goes back to the external account if it was pulled for a quote and the owner’s account is full', async () => {
    const scene = await holding(most);
    const made = await paid(scene.outsideUsd, scene.outsideEur, 500_000);
    const failed = await t.platform.ended(made.transaction.id);
    expect(failed).toMatchObject(givenBack);
    expect(failed.timeline.at(-1).reason).toContain('went back to its source');
    expect(await t.platform.balanceOf(scene.usd)).toBe(most);
  });

  test('goes back to its sender if it came by UMA, from this installation or another', async () => {
    const receiver = await holding(most);
    const { id } = await t.platform.announce(receiver.customerId, 5_000);
    await t.platform.actOn('approveTransaction', { transactionId: id });
    await ends(id, { ...givenBack, failureReason: 'OFFRAMP_FAILED' });

    const scene = await t.platform.makeScene(100_000n);
    const { made, incoming } = await t.platform.payByUma(scene.usd, receiver.customerId);
    await t.platform.actOn('approveTransaction', { transactionId: incoming.id });
    await ends(made.transaction.id, { status: 'FAILED', refund: { settledAt: expect.any(String) } });
    await ends(incoming.id, { status: 'FAILED', failureReason: 'OFFRAMP_FAILED' });
    expect(await t.platform.balanceOf(scene.usd)).toBe(100_000n);
    expect(await t.platform.balanceOf(receiver.usd)).toBe(most);
  });
});

describe('a refund', () => {
  const failing = { ...late, failureReason: 'OFFRAMP_FAILED' };

  test('may exceed the maximum, and can then be spent', async () => {
    const scene = await holding(most);
    const out = await sendOut(scene, most, { sandboxScenario: failing });
    await t.platform.bringIn(scene, most);
    await passDelay(t, out.id);
    await ends(out.id, { status: 'FAILED', refund: { settledAt: expect.any(String) } });
    expect(await t.platform.balanceOf(scene.usd)).toBe(2n * most);
    expect(await fundAccount(scene.usd, 1n)).toMatchObject(outOfRange('amount.units'));
    await t.platform.payOut(scene, most);
    expect(await t.platform.balanceOf(scene.usd)).toBe(most);
  });

  test('is held in suspense while the balance is a thousand times the maximum, and is released once there is room', async () => {
    const heaped = 1000n * most;
    const scene = await t.platform.makeScene(10_000n);
    const failed = await sendOut(scene, 10_000n, { sandboxScenario: failing });
    const back = await t.platform.makeScene(10_000n);
    const returned = await sendOut(back, 10_000n, { sandboxScenario: { returnAfterMs: 3_600_000 } });
    await heap(scene.usd, heaped);
    await heap(back.usd, heaped);
    await passDelay(t, failed.id);
    await passDelay(t, returned.id);
    const end = await t.platform.ended(failed.id);
    expect(end).toMatchObject({ status: 'FAILED', refund: { settledAt: null } });
    expect([left(end, 'SUSPENSE'), left(end, 'CLEARING')]).toEqual([10_000n, 0n]);
    expect(end.timeline.at(-1).reason).toContain('held in suspense');
    await t.platform.untilStatus(returned.id, 'REFUNDED');
    const came = await t.platform.transactionOf(returned.id);
    expect(came.refund.settledAt).toBeNull();
    expect([left(came, 'SUSPENSE'), left(came, 'CLEARING'), left(came, 'OUTSIDE')]).toEqual([10_000n, 0n, 0n]);

    const { database } = t.gateway.payments;
    for (const [one, id] of [
      [scene, failed.id],
      [back, returned.id],
    ]) {
      const full = `nothing done: ${one.usd} may hold at most ${usd(heaped)}, and this would exceed it; it has ${heaped}`;
      await expect(releaseSuspense(database, id, tester)).rejects.toThrow(full);
      await t.platform.payOut(one, 10_000n);
      expect(await releaseSuspense(database, id, tester)).toMatchObject({ kind: 'paid' });
      expect(await t.platform.balanceOf(one.usd)).toBe(heaped);
      expect(left(await t.platform.transactionOf(id), 'SUSPENSE')).toBe(0n);
    }
  });
});

test('in random histories near the maximum, only refunds exceed it, and every payment reaches a final status', async () => {
  const step = fc.record({
    kind: fc.constantFrom('fund', 'in', 'out', 'outFailing'),
    share: fc.integer({ min: 1, max: 9 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 14 }), async (steps) => {
      const scene = await holding((most / 9n) * 8n);
      const acts: Record<string, (amount: bigint) => Promise<Data>> = {
        fund: () => fundAccount(scene.usd, 100_000_000_000n),
        in: (amount) => bringIn(scene, amount),
        out: (amount) => sendOut(scene, amount),
        outFailing: (amount) =>
          sendOut(scene, amount, { sandboxScenario: { delayMs: 30, failureReason: 'OFFRAMP_FAILED' } }),
      };
      const made = await Promise.all(steps.map(({ kind, share }) => acts[kind]?.((most / 9n) * BigInt(share))));
      for (const { id } of made.filter((one) => one.id)) await t.platform.ended(id);
      const { rows } = await t.gateway.payments.database.pool.query(
        `select p.balance_after from posting p join journal j on j.platform_id = p.platform_id and j.id = p.journal_id
         where p.account_id = $1 and p.amount > 0 and p.balance_after > $2 and j.kind <> 'refund'`,
        [uuidIn(scene.usd), most],
      );
      expect(rows).toEqual([]);
    }),
    { numRuns: 8 },
  );
});

test('a delivered payment is COMPLETED and pays the platform its fee, even into an account at its maximum', async () => {
  await chargeFees(t, t.platform);
  const own = await t.platform.ownAccount('USD');
  const scene = await t.platform.makeScene(50_000n);
  const pay = async () =>
    ends((await paid(scene.usd, scene.outsideEur, 10_000)).transaction.id, { status: 'COMPLETED' });
  await heap(own, most);
  await pay();
  expect(await t.platform.balanceOf(own)).toBe(most + 25n);
  // This account is now full too, so the service keeps the fee.
  await heap(own, 999n * most - 25n);
  await pay();
  expect(await t.platform.balanceOf(own)).toBe(1000n * most);
  expect(await t.platform.balanceOf(scene.usd)).toBe(30_000n);
});
