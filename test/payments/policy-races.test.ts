import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unlimited } from '../attack/limits.ts';
import { moving } from '../setup/acts.ts';
import { connect, type Data, ownGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { passHours, timeZoneAtNoon } from '../setup/passing-time.ts';
import type { Scene } from '../setup/scene.ts';

// Tests policies against a simple model and with many concurrent payments. When a gateway stops, the audit proves that
// no limit was exceeded.

/** The number of payments in the race; POLICY_PAYMENTS overrides it. */
const payments = Number(process.env.POLICY_PAYMENTS ?? 2_000);
/** How many payments run concurrently on each of two gateways. */
const atOnce = 100;

const limitsOf = async (by: TestPlatform): Promise<Data> =>
  (await by.ask('{ viewer { policies { limits { usedAmount { amount } usedPayments } } } }')).viewer.policies[0].limits;

test(
  'with many concurrent payments on two gateways, a limit admits exactly those that fit',
  async () => {
    const t = await ownGateway({ ...unlimited, SANDBOX_PACE_MS: 600_000 });
    const other = await ownGateway({ ...unlimited, SANDBOX_PACE_MS: 600_000 }, t.databaseUrl);
    const scenes: Scene[] = [];
    for (let made = 0; made < 8; made += 1) scenes.push(await t.platform.makeScene(100_000_000n));
    const server = await t.platform.serverOf('VIEW', 'TRANSACT');
    const most = payments * 2;
    const limits = [
      { period: 'DAY', currency: 'USD', amount: { units: most } },
      { period: 'LAST_24_HOURS', currency: 'USD', amount: { units: most } },
      { period: 'MONTH', payments: payments * 0.75 },
    ];
    await t.platform.succeed('setPolicy', { subjectId: server.tokenId, limits });
    const left = Array.from({ length: payments }, (_, number) => ({ number, amount: 1 + (number % 7) }));
    const refused: number[] = [];
    const taken: number[] = [];
    const work = async (url: string) => {
      const by = connect(url, server.platformId, server.authorization);
      for (let next = left.pop(); next; next = left.pop()) {
        const { number, amount } = next;
        const { usd, outsideUsd } = scenes[number % scenes.length] ?? scenes[0] ?? ({} as Scene);
        const input = moving(usd, outsideUsd, amount, { idempotencyKey: `race-${number}` });
        const result = await by.act('transferOut', input).catch((error: Error) => ({ code: 'TIMEOUT', ...error }));
        // These errors occur on a busy machine. The call may have taken effect, so it is repeated with the same key.
        if (['SERVICE_UNAVAILABLE', 'OUTCOME_UNKNOWN', 'CONFLICT', 'TIMEOUT'].includes(result.code)) left.push(next);
        else if (result.code === 'LIMIT_EXCEEDED') refused.push(amount);
        else {
          expect(result.__typename).toBe('TransferOutSuccess');
          taken.push(amount);
        }
      }
    };
    await Promise.all([t.url, other.url].flatMap((url) => Array.from({ length: atOnce }, () => work(url))));
    const sum = taken.reduce((one, another) => one + another, 0);
    expect(taken.length + refused.length).toBe(payments);
    expect(sum).toBeLessThanOrEqual(most);
    expect(taken.length).toBeLessThanOrEqual(payments * 0.75);
    // Unless the limit on the number of payments is reached, every refused payment would exceed the amount limit.
    if (taken.length < payments * 0.75)
      for (const amount of new Set(refused)) expect(sum + amount).toBeGreaterThan(most);
    const used = { usedAmount: { amount: `${sum}` } };
    expect(await limitsOf(server)).toMatchObject([used, used, { usedPayments: taken.length }]);
  },
  120_000 + payments * 100,
);

/** A payment in the model. */
interface Use {
  /** In milliseconds. */
  at: number;
  readonly amount: number;
  counts: boolean;
}

/** A time zone in which no day begins while the test runs. */
const timeZone = timeZoneAtNoon();

const dayOf = (at: number) => new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short' }).format(new Date(at));
const hour = 3_600_000;

/** For each period: whether an earlier payment is in the same window as a payment made now. */
const inWindow: Readonly<Record<string, (at: number, now: number) => boolean>> = {
  PAYMENT: () => false,
  DAY: (at, now) => dayOf(at) === dayOf(now),
  MONTH: (at, now) => dayOf(at).slice(0, 7) === dayOf(now).slice(0, 7),
  LAST_24_HOURS: (at, now) => now - at < 24 * hour,
  LAST_30_DAYS: (at, now) => now - at < 720 * hour,
};

type Limit =
  | { readonly period: string; readonly amount: number }
  | { readonly period: string; readonly payments: number };

function fits(limits: readonly Limit[], uses: readonly Use[], amount: number, now: number): boolean {
  return limits.every((limit) => {
    const counted = uses.filter(({ at, counts }) => counts && inWindow[limit.period]?.(at, now));
    return 'payments' in limit
      ? counted.length + 1 <= limit.payments
      : counted.reduce((sum, use) => sum + use.amount, amount) <= limit.amount;
  });
}

const periods = Object.keys(inWindow);
const limit: fc.Arbitrary<Limit> = fc.oneof(
  fc.record({ period: fc.constantFrom(...periods), amount: fc.integer({ min: 1, max: 250 }) }),
  fc.record({ period: fc.constantFrom(...periods.slice(1)), payments: fc.integer({ min: 0, max: 6 }) }),
);
const limits = fc.uniqueArray(limit, { maxLength: 4, selector: (one) => `${one.period} ${'payments' in one}` });
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ pay: fc.integer({ min: 1, max: 120 }), fails: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ hours: fc.constantFrom(1, 5, 13, 23, 24, 300, 720) }) },
  { weight: 1, arbitrary: fc.record({ limits }) },
);

async function play(t: TestGateway, scene: Scene, first: readonly Limit[], steps: readonly object[]): Promise<void> {
  const server = await t.platform.serverOf('VIEW', 'TRANSACT');
  const set = (terms: readonly Limit[]) =>
    t.platform.succeed('setPolicy', {
      ...{ subjectId: server.tokenId, timeZone },
      limits: terms.map((one) => ('amount' in one ? { ...one, amount: { units: one.amount }, currency: 'USD' } : one)),
    });
  const uses: Use[] = [];
  let terms = first;
  await set(terms);
  for (const one of steps as { pay?: number; fails?: boolean; hours?: number; limits?: readonly Limit[] }[]) {
    if (one.limits) {
      terms = one.limits;
      await set(terms);
    } else if (one.hours !== undefined) {
      await passHours(t, one.hours);
      for (const use of uses) use.at -= one.hours * hour;
      // Backdating may move payments of two days or months into one, which a clock never does. The audit judges only
      // payments that were made since the policy was set.
      if (terms.some(({ period }) => period === 'DAY' || period === 'MONTH')) await set(terms);
    } else if (one.pay !== undefined) {
      const sandboxScenario = one.fails ? { failureReason: 'OFFRAMP_FAILED' } : undefined;
      const expected = fits(terms, uses, one.pay, Date.now());
      const input = moving(scene.usd, scene.outsideUsd, one.pay, { sandboxScenario });
      const paid = await server.act('transferOut', input, 'transaction { id }');
      const name = expected ? 'TransferOutSuccess' : 'LimitExceededError';
      expect({ terms, uses, one, name: paid.__typename }).toEqual({ terms, uses, one, name });
      if (!expected) continue;
      uses.push({ at: Date.now(), amount: one.pay, counts: !one.fails });
      if (one.fails) await t.platform.ended(paid.transaction.id);
    }
  }
}

const paysOne = { pay: 1, fails: false };

test('with random payments, failures, settings and times, a policy allows exactly what its limits permit', async () => {
  const t = await ownGateway({ SANDBOX_PACE_MS: 1 });
  const scene = await t.platform.makeScene(100_000_000n);
  await fc.assert(
    fc.asyncProperty(limits, fc.array(step, { minLength: 4, maxLength: 14 }), (first, steps) =>
      play(t, scene, first, steps),
    ),
    {
      numRuns: 40,
      examples: [[[{ period: 'DAY', payments: 1 }], [paysOne, { hours: 13 }, paysOne, { hours: 13 }]]],
    },
  );
}, 300_000);
