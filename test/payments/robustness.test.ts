import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import type { Payments } from '../../src/domain/commands/command.ts';
import { closeCases, listCases } from '../../src/domain/settlement/cases.ts';
import { settleDueOrders } from '../../src/domain/settlement/settlement.ts';
import type { RailOrder, RailOutcome } from '../../src/rails/rail.ts';
import { moving, usdToEur } from '../setup/acts.ts';
import { ownGateway, tester, testGateway, uuidIn, whileLocked, withoutTriggers, withRail } from '../setup/gateway.ts';
import { makeDue } from '../setup/passing-time.ts';

/** Tests that misbehaving rails and damaged rows do not block other work, and that nothing is lost. */

/** This gateway runs no workers. The test does the background work itself, with its own rails. */
const t = await testGateway({ ROLE: 'serve', SANDBOX_QUOTE_SECONDS: 1, SANDBOX_PACE_MS: 0 });
const { platform } = t;
const { payments } = t.gateway;
const scene = await platform.makeScene();

/** Returns the domain with a rail that gives the listed answer for each amount and settles all other orders. */
function answering(answers: Record<number, () => Promise<RailOutcome>>): Payments {
  const perform = async ({ amount }: RailOrder) => (await answers[Number(amount)]?.()) ?? { kind: 'settled' as const };
  return withRail(t, { payOut: perform, collect: perform });
}

/** Processes orders as the workers do, but immediately, regardless of when their rail wants to be polled. */
async function work(domain = answering({}), most = 10): Promise<number> {
  await makeDue(t);
  return settleDueOrders(domain, most);
}

/** Returns a payment's open cases. */
const casesOf = async (id: string) =>
  (await listCases(payments.database)).filter(({ transactionId }) => uuidIn(id) === transactionId);
const send = async (amount: number): Promise<string> => (await platform.pay(scene, amount)).id;
const statusOf = async (id: string): Promise<string> => (await platform.fieldsOf('transaction', id, 'status')).status;

test('a rail that never responds for one order does not block others, and is polled for that order again', async () => {
  const [silent, prompt] = [await send(101), await send(102)];
  const asking = Promise.withResolvers<void>();
  const silence = answering({
    101: () => {
      asking.resolve();
      return new Promise(() => undefined);
    },
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const round = settleDueOrders(silence, 10);
    await asking.promise;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await round).toBe(2);
  } finally {
    vi.useRealTimers();
  }
  expect(await statusOf(prompt)).toBe('COMPLETED');
  expect(await statusOf(silent)).toBe('PENDING');
  await work();
  expect(await statusOf(silent)).toBe('COMPLETED');
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, 0.5, -3, 1e300])(
  'an order is polled again even if its rail asks for the next poll in %d ms',
  async (checkInMs) => {
    const id = await send(103);
    await settleDueOrders(answering({ 103: () => Promise.resolve({ kind: 'pending', checkInMs }) }), 10);
    expect(await statusOf(id)).toBe('PENDING');
    await work();
    expect(await statusOf(id)).toBe('COMPLETED');
  },
);

test('a command refused because an account stayed locked does not use up its key', async () => {
  const ask = () => platform.act('transferOut', moving(scene.usd, scene.outsideUsd, 104, { idempotencyKey: 'fresh' }));
  const busy = await whileLocked(t.databaseUrl, ['select from account for update'], ask);
  expect(JSON.stringify(busy)).toContain('SERVICE_UNAVAILABLE');
  expect(JSON.stringify(busy)).not.toContain('still running');
  expect(await ask()).toMatchObject({ replayed: false });
});

/** Collects the log, line by line. */
function logging() {
  const lines: { level: number; msg: string; [fact: string]: unknown }[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  return { lines, log };
}

test.each([
  ['settled', 'failed', 'FAILED'],
  ['failed', 'settled', 'COMPLETED'],
] as const)(
  'if a rail reports %s for an order that the ledger records as %s, this is logged for an operator',
  async (late, first, stands) => {
    const answer = (kind: 'settled' | 'failed'): RailOutcome =>
      kind === 'settled' ? { kind } : { kind, explanation: 'refused by the bank' };
    const id = await send(105);
    const { lines, log } = logging();
    const domain = answering({
      105: async () => {
        // The lease has ended. Another process takes over the order, gets a different report and finishes first.
        await work(answering({ 105: () => Promise.resolve(answer(first)) }));
        return answer(late);
      },
    });
    await settleDueOrders({ ...domain, log }, 10);
    expect(await statusOf(id)).toBe(stands);
    const msg = 'the rail contradicts a recorded outcome; an operator must resolve the case';
    const said = expect.stringMatching(`^${late}`);
    expect(lines.filter(({ level }) => level >= 50)).toMatchObject([{ msg, order: expect.any(String), said, stands }]);
    expect(await casesOf(id)).toMatchObject([{ kind: 'OTHER_OUTCOME', stands, times: 1 }]);
  },
);

test('an order reported as settled and then as failed stays settled, and has at most one open case', async () => {
  const id = await send(109);
  await settleDueOrders(answering({ 109: () => Promise.resolve({ kind: 'settled', watchMs: 0 }) }), 10);
  const before = await platform.balanceOf(scene.usd);
  const failing = answering({ 109: () => Promise.resolve({ kind: 'failed', explanation: 'sent back' }) });
  for (let round = 0; round < 2; round += 1) await work(failing);
  expect(await statusOf(id)).toBe('COMPLETED');
  expect(await platform.balanceOf(scene.usd)).toBe(before);
  const stands = { kind: 'OTHER_OUTCOME', said: 'failed (sent back)', stands: 'COMPLETED', times: 2 };
  expect(await casesOf(id)).toMatchObject([stands]);
  const words = { ...tester, by: 'Ada', reason: 'the bank has confirmed the delivery' };
  await closeCases(payments.database, id, words);
  expect(await casesOf(id)).toEqual([]);
  await expect(closeCases(payments.database, id, words)).rejects.toThrow('has no open case');
  const noted = await payments.database.prisma.railCase.findMany({ where: { transactionId: uuidIn(id) } });
  expect(noted).toMatchObject([{ ...stands, closedBy: 'Ada', closedReason: words.reason, closedAt: expect.any(Date) }]);
  await work();
});

test('a different amount reported by the rail opens a case, and the payment is completed once the amount is right', async () => {
  const id = await send(110);
  const settled = (amount: bigint) => answering({ 110: () => Promise.resolve({ kind: 'settled', amount }) });
  await settleDueOrders(settled(109n), 10);
  expect(await statusOf(id)).toBe('PENDING');
  const other = { kind: 'OTHER_AMOUNT', said: 'settled 1.09 USD', stands: 'ordered 1.10 USD' };
  expect(await casesOf(id)).toMatchObject([other]);
  await work(settled(110n));
  expect(await statusOf(id)).toBe('COMPLETED');
});

test('a slow rail is polled for at most 32 orders at a time, so that none of them waits for a connection', async () => {
  // Finish the orders left by other tests first, because they would also be counted.
  await work(undefined, 100);
  const amounts = Array.from({ length: 40 }, (_, position) => 2_000 + position);
  const ids = await Promise.all(amounts.map(send));
  const asked: (() => void)[] = [];
  let atOnce = 0;
  let most = 0;
  const slow = async (): Promise<RailOutcome> => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    await new Promise<void>((resolve) => asked.push(resolve));
    atOnce -= 1;
    return { kind: 'settled' };
  };
  const settling = settleDueOrders(answering(Object.fromEntries(amounts.map((amount) => [amount, slow]))), 100);
  for (let answered = 0; answered < amounts.length; answered += 1) {
    await vi.waitFor(() => expect(asked).not.toEqual([]), 20_000);
    // Let all the calls that may run concurrently start.
    await new Promise((resolve) => setImmediate(resolve));
    asked.shift()?.();
  }
  expect(await settling).toBe(40);
  expect(most).toBe(32);
  for (const id of ids) expect(await statusOf(id)).toBe('COMPLETED');
});

test('an order that keeps failing is retried at increasing intervals of at most five minutes', async () => {
  const { owner: pool } = t;
  // The rail's response to one order is invalid, and the other order's payment cannot be updated.
  const nonsense = { kind: 'nonsense' } as unknown as RailOutcome;
  const [unheard, unwritten] = [await send(107), await send(108)];
  await pool.query(`create function spoil() returns trigger language plpgsql as $$ begin raise exception 'spoilt'; end $$;
    create trigger spoil before update on transaction for each row when (new.sent_amount = 108) execute function spoil()`);
  const { lines, log } = logging();
  const domain = { ...answering({ 107: () => Promise.resolve(nonsense) }), log };
  const pauses: number[][] = [];
  try {
    for (let round = 1; round <= 10; round++) {
      await work(domain);
      const due =
        'select round(extract(epoch from due_at - clock_ms()))::int as pause from rail_order where due_at is not null';
      pauses.push((await pool.query(due)).rows.map(({ pause }) => pause));
    }
  } finally {
    await pool.query('drop trigger spoil on transaction; drop function spoil()');
  }
  for (const [round, both] of pauses.entries()) {
    const expected = Math.min(300, 2 ** (round + 1));
    expect(both).toHaveLength(2);
    for (const pause of both) expect(Math.abs(pause - expected)).toBeLessThan(2);
  }
  const errors = lines.filter(({ level }) => level >= 50);
  expect(errors).toHaveLength(20);
  expect(errors.at(-1)?.msg).toMatch(/will retry in 300 s$/);
  await work();
  for (const id of [unheard, unwritten]) expect(await statusOf(id)).toBe('COMPLETED');
});

test('a collection that would exceed the maximum balance fails once a retry has returned its money', async () => {
  const most = 9_000_000_000_000_000n;
  const other = await platform.makeScene(0n);
  const { id } = await platform.transfer('transferIn', other, most);
  await platform.fund(other.usd, 1n);
  const told: RailOrder[] = [];
  const domain = withRail(t, {
    collect: async () => ({ kind: 'settled' }),
    giveBack: async (order) => {
      told.push(order);
      if (told.length === 1) throw new Error('the bank is closed');
    },
  });
  for (const status of ['PENDING', 'FAILED']) {
    await work(domain);
    expect(await statusOf(id)).toBe(status);
  }
  expect(told).toMatchObject([
    { kind: 'COLLECTION', amount: most, currency: 'USD', account: { type: 'US_ACCOUNT' } },
    { id: told[0]?.id },
  ]);
  expect(await platform.balanceOf(other.usd)).toBe(1n);
});

test('a quote that cannot be marked as expired neither blocks the expiry of others nor delays other work', async () => {
  // The shared gateway has no workers, because another test replaces the process's timers.
  const { platform: busy, gateway, databaseUrl } = await ownGateway({ SANDBOX_QUOTE_SECONDS: 1 });
  const own = await busy.makeScene();
  const spoiled = await busy.quote(usdToEur(own));
  const write = (status: string) =>
    withoutTriggers(databaseUrl, (client) =>
      client.query('update transaction set status = $1 where id = $2', [status, uuidIn(spoiled.transaction.id)]),
    );
  // Simulates a bug that bypasses the triggers: the quote is still pending, but its transaction has a final status.
  await write('EXPIRED');
  const looks = vi.spyOn(gateway.payments.database.pool, 'query');
  const sound = await busy.quote(usdToEur(own));
  // This payment settles a second after the quotes have expired.
  const { id } = await busy.transfer('transferOut', own, 100, { sandboxScenario: { delayMs: 2_000 } });
  expect(await busy.ended(sound.transaction.id)).toMatchObject({ status: 'EXPIRED' });
  expect(await busy.ended(id)).toMatchObject({ status: 'COMPLETED' });
  const rounds = looks.mock.calls.filter(([asked]) => Object(asked).name === 'expired_quotes').length;
  // A round runs every 250 ms. Without pauses between the rounds, there would be hundreds.
  expect(rounds).toBeGreaterThan(2);
  expect(rounds).toBeLessThan(60);
  looks.mockRestore();
  await write('PENDING');
  expect(await busy.ended(spoiled.transaction.id)).toMatchObject({ status: 'EXPIRED' });
});
