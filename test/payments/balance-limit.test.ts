import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatDecimal } from '../../src/core/currencies.ts';
import { commitPlan } from '../../src/ledger/commit.ts';
import { deposit } from '../../src/payments/movements.ts';
import { releaseSuspense } from '../../src/payments/settlement/suspense.ts';
import {
  act,
  actOn,
  ended,
  execute,
  feedEnd,
  quote,
  seen,
  transactionOf,
  umaAddressOf,
  umaQuote,
} from '../setup/acts.ts';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { passDelay } from '../setup/passing-time.ts';
import { balanceOf, makeScene, type Scene } from '../setup/scene.ts';
import { tester } from '../setup/tester.ts';

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway();
});
// Audits the ledger, too.
afterAll(() => t.stop());

/** The most that an account may hold. */
const most = 9_000_000_000_000_000n;
const usd = (amount: bigint) => `${formatDecimal(amount, 2)} USD`;
/** On its way until `passDelay`. */
const late = { delayMs: 3_600_000 };

async function bringIn(scene: Scene, amount: bigint, rest: object = {}): Promise<Data> {
  const made = await actOn(t.platform, 'transferIn', {
    sourceAccountId: scene.outsideUsd,
    destinationAccountId: scene.usd,
    amount,
    ...rest,
  });
  return made.transaction ?? made;
}

async function sendOut(scene: Scene, amount: bigint, rest: object = {}): Promise<Data> {
  const made = await actOn(t.platform, 'transferOut', {
    sourceAccountId: scene.usd,
    destinationAccountId: scene.outsideUsd,
    amount,
    ...rest,
  });
  return made.transaction ?? made;
}

async function fundAccount(accountId: string, amount: bigint): Promise<Data> {
  return act(t.platform, 'sandboxFundAccount', { accountId, amount }, 'account { balance { amount } }');
}

/** A customer whose USD account holds so much. */
async function holding(amount: bigint): Promise<Scene> {
  const scene = await makeScene(t.platform, 0n);
  expect(await ended(t.platform, (await bringIn(scene, amount)).id)).toMatchObject({ status: 'COMPLETED' });
  return scene;
}

/** Lets the account hold more than new money brings it to, as very many refunds would. */
async function heap(accountId: string, amount: bigint, currency = 'USD'): Promise<void> {
  const uuid = accountId.slice(accountId.indexOf(':') + 1);
  const journal = deposit(uuid, currency, amount);
  const legs = journal.legs.map((leg) => ('account' in leg ? { ...leg, exempt: true as const } : leg));
  const outcome = await commitPlan(t.gateway.payments.database, t.platform.platformId, {
    journals: [{ ...journal, legs }],
  });
  expect(outcome.kind).toBe('done');
}

function left(transaction: Data, system: string): bigint {
  return transaction.ledgerEntries
    .filter((entry: Data) => entry.system === system)
    .reduce((sum: bigint, entry: Data) => sum + BigInt(entry.amount.amount), 0n);
}

const outOfRange = (...path: string[]) => ({
  __typename: 'InvalidInputError',
  code: 'AMOUNT_OUT_OF_RANGE',
  path: ['input', ...path],
});

describe('an account that holds as much as it may', () => {
  test('takes nothing more, says why, and takes money again when there is room', async () => {
    const scene = await holding(most);
    expect(await balanceOf(t.platform, scene.usd)).toBe(most);
    const refused = await bringIn(scene, 1n);
    expect(refused).toMatchObject(outOfRange('amount'));
    expect(refused.message).toBe(`${scene.usd} may hold at most ${usd(most)}, and this would bring it beyond`);
    expect(await fundAccount(scene.usd, 1n)).toMatchObject(outOfRange('amount'));
    await ended(t.platform, (await sendOut(scene, 5n)).id);
    expect(await fundAccount(scene.usd, 6n)).toMatchObject(outOfRange('amount'));
    expect(await fundAccount(scene.usd, 5n)).toMatchObject({ account: { balance: { amount: `${most}` } } });
  });

  test('a stored refusal stays one, whatever room there is by then', async () => {
    const scene = await holding(most);
    const input = { accountId: scene.usd, amount: 5, idempotencyKey: 'full-account' };
    const first = await act(t.platform, 'sandboxFundAccount', input, 'account { id }');
    expect(first).toMatchObject(outOfRange('amount'));
    await sendOut(scene, 100n);
    expect(await act(t.platform, 'sandboxFundAccount', input, 'account { id }')).toEqual(first);
    const { mutationReceipt } = await t.platform.ask(
      '{ mutationReceipt(operation: sandboxFundAccount, idempotencyKey: "full-account") { outcome code } }',
    );
    expect(mutationReceipt).toEqual({ outcome: 'REFUSED', code: 'AMOUNT_OUT_OF_RANGE' });
    expect(await fundAccount(scene.usd, 5n)).toMatchObject({ __typename: 'SandboxFundAccountSuccess' });
  });

  test('is not the destination of a quote: refused when it is made, and when it is executed', async () => {
    const scene = await makeScene(t.platform, 1_000_000n);
    const other = await holding(most - 1_000_000n);
    const to = (amount: number, rest: object = {}) =>
      quote(t.platform, {
        source: { account: { accountId: scene.usd } },
        destination: { account: { accountId: other.usd } },
        lockedCurrencySide: 'RECEIVING',
        lockedCurrencyAmount: amount,
        ...rest,
      });
    const fits = await to(500_000);
    expect(fits.status).toBe('PENDING');
    await fundAccount(other.usd, 600_000n);
    expect(await to(500_000)).toMatchObject(outOfRange('lockedCurrencyAmount'));
    expect(await to(500_000, { immediatelyExecute: true })).toMatchObject(outOfRange('lockedCurrencyAmount'));
    expect(await execute(t.platform, fits.id)).toMatchObject(outOfRange('quoteId'));
    expect(await balanceOf(t.platform, scene.usd)).toBe(1_000_000n);
    expect((await transactionOf(t.platform, fits.transaction.id)).status).toBe('PENDING');
    await sendOut(other, 600_000n);
    expect(await execute(t.platform, fits.id)).toMatchObject({ quote: { status: 'PROCESSING' } });
    expect(await ended(t.platform, fits.transaction.id)).toMatchObject({ status: 'COMPLETED' });
  });

  test('refuses the deposit for a quote, which can be paid when there is room', async () => {
    const scene = await holding(most - 4_999n);
    const made = await quote(t.platform, {
      source: { realtimeFunding: { customerId: scene.customerId, currency: 'USD' } },
      destination: { account: { accountId: scene.outsideEur } },
      lockedCurrencyAmount: 5_000,
    });
    const pay = (rest: object = {}) =>
      actOn(t.platform, 'sandboxSend', { quoteId: made.id, currencyCode: 'USD', ...rest });
    expect(await pay()).toMatchObject(outOfRange('quoteId'));
    expect(await pay({ currencyAmount: 6_000 })).toMatchObject(outOfRange('currencyAmount'));
    expect(await balanceOf(t.platform, scene.usd)).toBe(most - 4_999n);
    await sendOut(scene, 1n);
    expect(await pay()).toMatchObject({ transaction: { status: 'PROCESSING' } });
    expect(await ended(t.platform, made.transaction.id)).toMatchObject({ status: 'COMPLETED' });
    expect(await balanceOf(t.platform, scene.usd)).toBe(most - 5_000n);
  });
});

describe('money on its way', () => {
  test('is counted: of any number of transfers-in at once, those that fit are accepted, and each comes to its end', async () => {
    const scene = await makeScene(t.platform, 0n);
    const part = most / 9n;
    const first = await bringIn(scene, 8n * part, { sandboxScenario: late });
    const refused = await bringIn(scene, part + 1n);
    expect(refused).toMatchObject(outOfRange('amount'));
    expect((await bringIn(scene, part)).status).toBe('PENDING');
    await passDelay(t, first.id);
    expect(await ended(t.platform, first.id)).toMatchObject({ status: 'COMPLETED' });

    const crowded = await makeScene(t.platform, 0n);
    const all = await Promise.all(Array.from({ length: 30 }, () => bringIn(crowded, most)));
    const ends = await Promise.all(all.filter(({ id }) => id).map(({ id }) => ended(t.platform, id)));
    expect(ends.filter(({ status }) => status === 'COMPLETED')).toHaveLength(1);
    for (const { status, failureReason, ledgerEntries } of ends.filter((one) => one.status !== 'COMPLETED')) {
      expect({ status, failureReason, ledgerEntries }).toEqual({
        status: 'FAILED',
        failureReason: 'QUOTE_EXECUTION_FAILED',
        ledgerEntries: [],
      });
    }
    expect(await balanceOf(t.platform, crowded.usd)).toBe(most);
  });

  test('of a transfer-in that does not fit any more is given back: FAILED, and nothing is credited', async () => {
    const scene = await makeScene(t.platform, 0n);
    const { id } = await bringIn(scene, most, { sandboxScenario: late });
    await fundAccount(scene.usd, 7n);
    await passDelay(t, id);
    const failed = await ended(t.platform, id);
    expect(failed).toMatchObject({ status: 'FAILED', failureReason: 'QUOTE_EXECUTION_FAILED', ledgerEntries: [] });
    expect(failed.timeline.at(-1).reason).toBe(
      `the receiving account may hold at most ${usd(most)}; the money went back to its source`,
    );
    expect(await balanceOf(t.platform, scene.usd)).toBe(7n);
  });

  test.each(['another customer', 'the same customer'])(
    'of a quote to an account of %s that does not fit any more is back at its source',
    async (whose) => {
      const scene = await makeScene(t.platform, 1_000_000n);
      const receiver = whose === 'the same customer' ? scene : await makeScene(t.platform, 0n);
      const made = await quote(t.platform, {
        source: { account: { accountId: scene.usd } },
        destination: { account: { accountId: receiver.eur } },
        lockedCurrencyAmount: 500_000,
        immediatelyExecute: true,
        sandboxScenario: late,
      });
      expect(made.status).toBe('PROCESSING');
      await heap(receiver.eur, most, 'EUR');
      await passDelay(t, made.transaction.id);
      const failed = await ended(t.platform, made.transaction.id);
      expect(failed).toMatchObject({
        status: 'FAILED',
        failureReason: 'QUOTE_EXECUTION_FAILED',
        refund: { amount: { amount: '500000' }, settledAt: expect.any(String) },
      });
      expect(failed.timeline.at(-1).reason).toContain(
        `the receiving account may hold at most ${formatDecimal(most, 2)} EUR`,
      );
      expect(await balanceOf(t.platform, scene.usd)).toBe(1_000_000n);
      expect(await balanceOf(t.platform, receiver.eur)).toBe(most);
    },
  );

  test('that is pulled for a quote goes back to the account outside where its owner’s account has no room', async () => {
    const scene = await holding(most);
    const made = await quote(t.platform, {
      source: { account: { accountId: scene.outsideUsd } },
      destination: { account: { accountId: scene.outsideEur } },
      lockedCurrencyAmount: 500_000,
      immediatelyExecute: true,
    });
    const failed = await ended(t.platform, made.transaction.id);
    expect(failed).toMatchObject({ status: 'FAILED', failureReason: 'QUOTE_EXECUTION_FAILED', ledgerEntries: [] });
    expect(failed.timeline.at(-1).reason).toContain('went back to its source');
    expect(await balanceOf(t.platform, scene.usd)).toBe(most);
  });

  test('from a UMA address goes back to its sender, outside or here', async () => {
    const receiver = await holding(most);
    const made = await actOn(t.platform, 'sandboxReceiveUma', {
      senderUmaAddress: '$success.usd@sandbox.uma.money',
      customerId: receiver.customerId,
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 5_000,
    });
    await actOn(t.platform, 'approveTransaction', { transactionId: made.transaction.id });
    expect(await ended(t.platform, made.transaction.id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'OFFRAMP_FAILED',
      ledgerEntries: [],
    });

    const scene = await makeScene(t.platform, 100_000n);
    const after = await feedEnd(t.platform);
    const sent = await umaQuote(t.platform, scene.usd, await umaAddressOf(t.platform, receiver.customerId), {
      immediatelyExecute: true,
    });
    const arriving = await seen(
      t.platform,
      after,
      ({ type, customer }) => type === 'INCOMING' && customer.id === receiver.customerId,
    );
    await actOn(t.platform, 'approveTransaction', { transactionId: arriving.id });
    expect(await ended(t.platform, sent.transaction.id)).toMatchObject({
      status: 'FAILED',
      refund: { settledAt: expect.any(String) },
    });
    expect(await ended(t.platform, arriving.id)).toMatchObject({ status: 'FAILED', failureReason: 'OFFRAMP_FAILED' });
    expect(await balanceOf(t.platform, scene.usd)).toBe(100_000n);
    expect(await balanceOf(t.platform, receiver.usd)).toBe(most);
  });
});

describe('a refund', () => {
  const failing = { ...late, failureReason: 'OFFRAMP_FAILED' };

  test('is paid beyond the bound, and what is there then can be spent', async () => {
    const scene = await holding(most);
    const out = await sendOut(scene, most, { sandboxScenario: failing });
    const again = await bringIn(scene, most);
    expect(await ended(t.platform, again.id)).toMatchObject({ status: 'COMPLETED' });
    await passDelay(t, out.id);
    expect(await ended(t.platform, out.id)).toMatchObject({
      status: 'FAILED',
      refund: { settledAt: expect.any(String) },
    });
    expect(await balanceOf(t.platform, scene.usd)).toBe(2n * most);
    expect(await fundAccount(scene.usd, 1n)).toMatchObject(outOfRange('amount'));
    expect(await ended(t.platform, (await sendOut(scene, most)).id)).toMatchObject({ status: 'COMPLETED' });
    expect(await balanceOf(t.platform, scene.usd)).toBe(most);
  });

  test('that even a thousand times the bound has no room for waits in suspense, and is released when there is', async () => {
    const heaped = 1000n * most;
    const scene = await makeScene(t.platform, 10_000n);
    const failed = await sendOut(scene, 10_000n, { sandboxScenario: failing });
    const back = await makeScene(t.platform, 10_000n);
    const returned = await sendOut(back, 10_000n, { sandboxScenario: { returnAfterMs: 3_600_000 } });
    await heap(scene.usd, heaped);
    await heap(back.usd, heaped);
    await passDelay(t, failed.id);
    await passDelay(t, returned.id);
    const end = await ended(t.platform, failed.id);
    expect(end).toMatchObject({ status: 'FAILED', refund: { settledAt: null } });
    expect([left(end, 'SUSPENSE'), left(end, 'CLEARING')]).toEqual([10_000n, 0n]);
    expect(end.timeline.at(-1).reason).toContain('waits in suspense');
    await expect
      .poll(async () => (await transactionOf(t.platform, returned.id)).status, { timeout: 10_000 })
      .toBe('REFUNDED');
    const came = await transactionOf(t.platform, returned.id);
    expect(came.refund.settledAt).toBeNull();
    expect([left(came, 'SUSPENSE'), left(came, 'CLEARING'), left(came, 'OUTSIDE')]).toEqual([10_000n, 0n, 0n]);

    const { database } = t.gateway.payments;
    for (const [one, id] of [
      [scene, failed.id],
      [back, returned.id],
    ]) {
      expect(await releaseSuspense(database, id, tester)).toEqual({
        kind: 'refused',
        reason: `nothing done: ${one.usd} may hold at most ${usd(heaped)}, and this would bring it beyond; it has ${heaped}`,
      });
      await ended(t.platform, (await sendOut(one, 10_000n)).id);
      expect(await releaseSuspense(database, id, tester)).toMatchObject({ kind: 'paid' });
      expect(await balanceOf(t.platform, one.usd)).toBe(heaped);
      expect(left(await transactionOf(t.platform, id), 'SUSPENSE')).toBe(0n);
    }
  });
});

test('over random histories near the bound, only refunds come to stand beyond it, and every payment ends', async () => {
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
      for (const { id } of made.filter((one) => one.id)) await ended(t.platform, id);
      const { rows } = await t.gateway.payments.database.pool.query(
        `select p.balance_after from posting p join journal j on j.platform_id = p.platform_id and j.id = p.journal_id
         where p.account_id = $1 and p.amount > 0 and p.balance_after > $2 and j.kind <> 'refund'`,
        [scene.usd.slice(scene.usd.indexOf(':') + 1), most],
      );
      expect(rows).toEqual([]);
    }),
    { numRuns: 8, interruptAfterTimeLimit: 15_000 },
  );
});

test('a payment that was delivered is COMPLETED, and pays the platform its fee beyond the bound', async () => {
  await t.gateway.payments.database.prisma.platformFee.create({
    data: { platformId: t.platform.platformId, sendingCurrency: 'USD', fixedFee: 25n, variableFeeRate: '0' },
  });
  const { accounts } = await t.platform.ask(
    '{ accounts(filter: { kind: INTERNAL, platformOwned: true, currency: "USD" }) { edges { node { id } } } }',
  );
  const own: string = accounts.edges[0].node.id;
  const scene = await makeScene(t.platform, 50_000n);
  const pay = async () => {
    const made = await quote(t.platform, {
      source: { account: { accountId: scene.usd } },
      destination: { account: { accountId: scene.outsideEur } },
      lockedCurrencyAmount: 10_000,
      immediatelyExecute: true,
    });
    expect(await ended(t.platform, made.transaction.id)).toMatchObject({ status: 'COMPLETED' });
  };
  await heap(own, most);
  await pay();
  expect(await balanceOf(t.platform, own)).toBe(most + 25n);
  // Not even there: the service keeps it.
  await heap(own, 999n * most - 25n);
  await pay();
  expect(await balanceOf(t.platform, own)).toBe(1000n * most);
  expect(await balanceOf(t.platform, scene.usd)).toBe(30_000n);
});
