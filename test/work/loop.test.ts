import { pino } from 'pino';
import { expect, test } from 'vitest';
import { FaultStates } from '../../src/core/fault-states.ts';
import { nextOrderDue } from '../../src/domain/orders/orders.ts';
import { nextQuoteExpiry } from '../../src/domain/quotes/execute-quote.ts';
import { loopFailures, loopSuccess } from '../../src/infra/instruments/instruments.ts';
import { startLoop } from '../../src/server/workers/loop.ts';
import { usdToEur } from '../setup/acts.ts';
import { ownGateway, testGateway } from '../setup/gateway.ts';

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });

test('settlement is due with the next order, and expiry with the next quote; without one, there is no due time', async () => {
  const { payments } = t.gateway;
  // Zero would mean "now", so an idle gateway would query the database endlessly.
  expect([await nextOrderDue(payments.database.pool), await nextQuoteExpiry(payments)]).toEqual([undefined, undefined]);

  const scene = await t.platform.makeScene(10_000n);
  await t.platform.pay(scene);
  await t.platform.quote(usdToEur(scene));
  await expect.poll(() => nextOrderDue(payments.database.pool), { timeout: 60_000 }).toBeGreaterThan(30_000);
  expect(await nextQuoteExpiry(payments)).toBeGreaterThan(60_000);
});

test('a loop that is woken several times during its pause runs one round, and then pauses again', async () => {
  const rounds: number[] = [];
  let next = Promise.withResolvers<void>();
  const loop = startLoop(
    'test',
    pino({ level: 'silent' }),
    async () => {
      rounds.push(performance.now());
      next.resolve();
      return 60_000;
    },
    100,
  );
  await next.promise;
  next = Promise.withResolvers();
  for (let i = 0; i < 5; i++) loop.wake();
  await next.promise;
  await loop.stop();
  expect(rounds).toHaveLength(2);
  const [one = 0, two = 0] = rounds;
  expect(two - one).toBeGreaterThanOrEqual(99);
});

test('a loop that has always failed still reports its failures and the timestamp that the alert uses', async () => {
  const failing = Promise.withResolvers<void>();
  const loop = startLoop('failing', pino({ level: 'silent' }), async () => {
    failing.resolve();
    throw new Error('as always');
  });
  await failing.promise;
  const of = async (metric: typeof loopSuccess | typeof loopFailures) =>
    (await metric.get()).values.find(({ labels }) => labels.loop === 'failing')?.value;
  await expect.poll(() => of(loopFailures)).toBe(1);
  expect(await of(loopSuccess)).toBeGreaterThan(0);
  await loop.stop();
});

test('repeated failures with the same cause log one line at the start and one at the end, for all loops together', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
  let isAway = true;
  const rounds = { one: 0, two: 0 };
  const loops = (['one', 'two'] as const).map((name) =>
    startLoop(name, log, async () => {
      rounds[name] += 1;
      if (isAway) throw Object.assign(new Error('connect'), { code: rounds[name] % 2 ? 'ECONNREFUSED' : 'ECONNRESET' });
      return 60_000;
    }),
  );
  await expect.poll(() => Math.min(rounds.one, rounds.two), { timeout: 30_000 }).toBeGreaterThan(2);
  isAway = false;
  await expect.poll(() => lines.length, { timeout: 30_000 }).toBe(2);
  await Promise.all(loops.map((loop) => loop.stop()));
  expect(lines).toMatchObject([
    { level: 50, work: 'one', msg: 'background work fails; will retry until it succeeds' },
    { level: 30, reason: 'the database', msg: 'background work has recovered' },
  ]);
});

test('work that fails for a different reason is reported separately, with that reason', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
  const states = FaultStates.of(log);
  states.failed('one', Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
  states.failed('two', new Error('row 7 is odd'));
  states.failed('two', new Error('row 8 is odd'));
  states.failed('one', new Error('row 9 is odd'));
  expect(lines).toMatchObject([
    { level: 50, work: 'one' },
    { level: 50, work: 'two', err: { message: 'row 7 is odd' } },
    { level: 30, reason: 'the database', failures: 1 },
  ]);
  states.succeeded('two');
  states.succeeded('one');
  states.succeeded('one');
  expect(lines.slice(3)).toMatchObject([{ level: 30, reason: 'Error: row 0 is odd', failures: 3 }]);
});

test('an idle gateway queries the database only occasionally', async () => {
  const { payments, feed } = (await ownGateway()).gateway;
  let statements = 0;
  const count = () => {
    statements += 1;
  };
  payments.database.pool.on('acquire', count);
  // During these two seconds, this pool's busiest loops poll four times a second, with one or two statements per poll.
  const end = performance.now() + 2_000;
  for (let left = 2_000; left > 0; left = end - performance.now()) await feed.waitForChange(left);
  payments.database.pool.off('acquire', count);
  expect(statements).toBeGreaterThan(0);
  expect(statements).toBeLessThan(100);
});
