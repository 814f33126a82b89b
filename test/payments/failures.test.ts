import { describe, expect, test } from 'vitest';
import { between, fundedIn, left, moving, went } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { passDelay } from '../setup/passing-time.ts';
import { chargeFees, type Scene } from '../setup/scene.ts';

const t = await testGateway();

const reasons = [
  'LNURLP_FAILED',
  'PAY_REQUEST_FAILED',
  'PAYMENT_APPROVAL_WEBHOOK_ERROR',
  'PAYMENT_APPROVAL_TIMED_OUT',
  'OFFRAMP_FAILED',
  'MISSING_MANDATORY_PAYEE_DATA',
  'QUOTE_EXPIRED',
  'QUOTE_EXECUTION_FAILED',
];

const amount = 10_000;

async function pay(scene: Scene, rest: object): Promise<Data> {
  const made = await t.platform.transfer('transferOut', scene, amount, rest);
  return made.id ? t.platform.ended(made.id) : made;
}
/** Sends the deposit for a quote, and returns the result. */
const send = (quoteId: string, sandboxScenario: object) =>
  t.platform.actOn('sandboxSend', { quoteId, currency: 'USD', sandboxScenario });
const refund = { amount: { amount: '10000' } };

describe('a failed payment', () => {
  test.each(reasons)(
    'shows the failure reason %s from its scenario, and its money is refunded',
    async (failureReason) => {
      const scene = await t.platform.makeScene(50_000n);
      const failed = await pay(scene, { sandboxScenario: { failureReason } });
      expect(failed).toMatchObject({ status: 'FAILED', failureReason, refund });
      expect(failed.refund.reference).toMatch(/^REFUND-/);
      expect(Date.parse(failed.refund.settledAt)).toBe(Date.parse(failed.refund.initiatedAt));
      expect(await t.platform.balanceOf(scene.usd)).toBe(50_000n);
      expect(left(failed, 'CLEARING')).toBe(0n);
    },
  );

  test.each(reasons)('if an incoming payment fails with %s, nothing is credited', async (failureReason) => {
    const scene = await t.platform.makeScene(0n);
    const { id } = await t.platform.transfer('transferIn', scene, amount, { sandboxScenario: { failureReason } });
    expect(await t.platform.ended(id)).toMatchObject({ status: 'FAILED', failureReason, refund: null });
    expect(await t.platform.balanceOf(scene.usd)).toBe(0n);
  });

  test.each(['002', '003', '004', '005', '006'])('a payment to an account ending in %s is refunded', async (suffix) => {
    const scene = await t.platform.makeScene(50_000n, suffix);
    const failed = await pay(scene, {});
    expect(failed).toMatchObject({ status: 'FAILED', failureReason: 'QUOTE_EXECUTION_FAILED', refund });
    expect(failed.timeline.at(-1).reason).toContain(suffix);
    expect(await t.platform.balanceOf(scene.usd)).toBe(50_000n);
  });
});

describe('a sandbox scenario', () => {
  test('delays the delivery until at least the expected settlement time', async () => {
    const scene = await t.platform.makeScene(50_000n);
    const delayed = await pay(scene, { sandboxScenario: { delayMs: 400 } });
    expect(delayed.status).toBe('COMPLETED');
    expect(Date.parse(delayed.settledAt)).toBeGreaterThanOrEqual(Date.parse(delayed.expectedSettlementAt));
  });

  test('lets the receiving side refuse a payment: it is REJECTED, and its money is returned', async () => {
    const scene = await t.platform.makeScene(50_000n);
    const rejected = { status: 'REJECTED', failureReason: null, refund };
    expect(await pay(scene, { sandboxScenario: { reject: true } })).toMatchObject(rejected);
    expect(await t.platform.balanceOf(scene.usd)).toBe(50_000n);
  });

  test('lets the bank return a completed payment: it is REFUNDED, its journals reversed and its fees returned', async () => {
    const scene = await t.platform.makeScene(50_000n);
    const terms = { sandboxScenario: { returnAfterMs: 100 } };
    const { id, transaction } = await t.platform.quote(between(scene.usd, scene.outsideEur, amount, terms));
    await t.platform.execute(id);
    await t.platform.untilStatus(transaction.id, 'REFUNDED');
    const returned = await t.platform.transactionOf(transaction.id);
    const timeline = went('PENDING', 'PROCESSING', 'COMPLETED', 'REFUNDED');
    expect(returned).toMatchObject({ status: 'REFUNDED', refund, timeline });
    for (const system of ['OUTSIDE', 'CLEARING', 'LIQUIDITY', 'FEES']) expect(left(returned, system)).toBe(0n);
    expect(await t.platform.balanceOf(scene.usd)).toBe(50_000n);
  });

  describe('that returns a payment with a platform fee of 25', () => {
    /** Creates a platform that charges fees, and functions that make a payment and trigger its return. */
    async function earning(name: string) {
      const platform = await t.newPlatform(name);
      await chargeFees(t, platform);
      const scene = await platform.makeScene(50_000n);
      const earnings = await platform.ownAccount('USD');
      const pay = async (sandboxScenario?: object): Promise<string> => {
        const terms = { immediatelyExecute: true, sandboxScenario };
        const { transaction } = await platform.quote(between(scene.usd, scene.outsideEur, amount, terms));
        expect(await platform.ended(transaction.id)).toMatchObject({ status: 'COMPLETED' });
        return transaction.id;
      };
      const comeBack = async (id: string) => {
        await passDelay(t, id);
        await platform.untilStatus(id, 'REFUNDED');
      };
      return { platform, scene, earnings, pay, comeBack };
    }

    test("takes back the platform's share of the fees", async () => {
      const { platform, scene, earnings, pay, comeBack } = await earning('earning');
      await pay();
      expect(await platform.balanceOf(earnings)).toBe(25n);
      await comeBack(await pay({ returnAfterMs: 3_600_000 }));
      expect(await platform.balanceOf(earnings)).toBe(25n);
      expect(await platform.balanceOf(scene.usd)).toBe(40_000n);
    });

    test('takes the fee back if the account holds exactly the fee, and nothing if one unit is missing', async () => {
      const { platform, scene, earnings, pay, comeBack } = await earning('earning little');
      await comeBack(await pay({ returnAfterMs: 3_600_000 }));
      expect(await platform.balanceOf(earnings)).toBe(0n);
      const lacking = await pay({ returnAfterMs: 3_600_000 });
      const unit = await platform.actOn('transferInternal', moving(earnings, scene.usd, 1));
      expect(unit).toMatchObject({ transaction: { status: 'COMPLETED' } });
      await comeBack(lacking);
      expect(await platform.balanceOf(earnings)).toBe(24n);
      expect(await platform.balanceOf(scene.usd)).toBe(50_001n);
    });
  });

  test('given at execution replaces the one given with the quote', async () => {
    const scene = await t.platform.makeScene(50_000n);
    const made = await t.platform.umaQuote(scene.usd, '$success.usd@sandbox.uma.money', {
      sandboxScenario: { failureReason: 'OFFRAMP_FAILED' },
    });
    await t.platform.execute(made.id, { sandboxScenario: { failureReason: 'LNURLP_FAILED' } });
    expect((await t.platform.ended(made.transaction.id)).failureReason).toBe('LNURLP_FAILED');
  });

  test('for a deposit applies to the payment that the deposit funds', async () => {
    const scene = await t.platform.makeScene(0n);
    const made = await t.platform.quote(fundedIn('USD', scene, amount));
    const failureReason = 'QUOTE_EXPIRED';
    await send(made.id, { failureReason });
    expect(await t.platform.ended(made.transaction.id)).toMatchObject({ status: 'FAILED', failureReason });
    expect(await t.platform.balanceOf(scene.usd)).toBe(10_000n);
  });

  test.each(reasons)(
    'for a deposit accepts only the failure reasons that the specification lists for deposits: %s',
    async (failureReason) => {
      const scene = await t.platform.makeScene(0n);
      const input = fundedIn('USD', scene, amount);
      const sandboxScenario = { failureReason };
      const made = await t.platform.quote(input);
      const answers = [await t.platform.quote({ ...input, sandboxScenario }), await send(made.id, sandboxScenario)];
      const isOfDeposits = ['QUOTE_EXPIRED', 'QUOTE_EXECUTION_FAILED'].includes(failureReason);
      const path = ['sandboxScenario', 'failureReason'];
      const refused = [path, ['input', ...path]].map((one) => ['INVALID_INPUT', one]);
      const accepted = [undefined, undefined];
      expect(answers.map(({ code, path }) => [code, path])).toEqual(isOfDeposits ? [accepted, accepted] : refused);
      const { status } = await t.platform.transactionOf(made.transaction.id);
      expect(status === 'PENDING').toBe(!isOfDeposits);
    },
  );

  test.each([
    ['SHORT', 'FAILED', 'QUOTE_EXECUTION_FAILED', 5_000n],
    ['LATE', 'FAILED', 'QUOTE_EXPIRED', 10_000n],
    ['TWICE', 'COMPLETED', null, 10_000n],
  ])('makes a deposit %s: the payment is %s, and no money disappears', async (deposit, status, failureReason, kept) => {
    const scene = await t.platform.makeScene(0n);
    const made = await t.platform.quote(fundedIn('USD', scene, amount));
    await send(made.id, { deposit });
    expect(await t.platform.ended(made.transaction.id)).toMatchObject({ status, failureReason });
    expect(await t.platform.balanceOf(scene.usd)).toBe(kept);
    expect(await pay(scene, { sandboxScenario: { deposit } })).toMatchObject({ code: 'INVALID_INPUT' });
  });

  test.each([
    [{ delayMs: -1 }, 'delayMs'],
    [{ returnAfterMs: 3_600_001 }, 'returnAfterMs'],
    [{ refundFails: true }, 'refundFails'],
    [{ reject: true, failureReason: 'OFFRAMP_FAILED' }, 'reject'],
  ])('that is invalid or contradicts itself is refused: %j', async (sandboxScenario, field) => {
    const scene = await t.platform.makeScene(50_000n);
    const refused = { code: 'INVALID_INPUT', path: ['sandboxScenario', field] };
    expect(await pay(scene, { sandboxScenario })).toMatchObject(refused);
  });

  test('is for sandbox platforms only', async () => {
    const live = await t.newPlatform('live', 'PRODUCTION');
    const made = live.transfer('transferOut', await t.platform.makeScene(0n), amount, {
      sandboxScenario: { delayMs: 1 },
    });
    expect(await made).toMatchObject({ code: 'FORBIDDEN' });
  });
});
