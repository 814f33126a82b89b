import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { reconcile } from '../../src/domain/reconciliation/differences.ts';
import { readBalances, reconcileDueDays } from '../../src/domain/reconciliation/reconciliation.ts';
import type { MovementsRequest, RailMovement } from '../../src/rails/rail-parts.ts';
import { moving, usdToEur } from '../setup/acts.ts';
import { startTestGateway, type TestPlatform, uuidIn, withRail } from '../setup/gateway.ts';
import { passDelay } from '../setup/passing-time.ts';
import type { Scene } from '../setup/scene.ts';

// Tests which differences are found between orders and a provider's movements. The test acts as the provider.

interface Order {
  readonly id: string;
  readonly at: Date;
  /** The provider's movement for the order when both sides agree. */
  readonly movement: RailMovement;
}

const hour = 3_600_000;
const late = { delayMs: hour };
const later = { sandboxScenario: late };
const t = await startTestGateway();
const scene = await t.platform.makeScene(100_000n);
const tenant = { platformId: t.platform.platformId, environment: 'SANDBOX' } as const;
/** The pages of the provider's movements, and the requests made for them. */
let pages: readonly (readonly RailMovement[])[] = [];
let asked: MovementsRequest[] = [];
const orders: Record<string, Order> = {};

const movementOf = (rest: Partial<RailMovement>): RailMovement => ({
  ...{ orderId: undefined, reference: randomUUID(), amount: 100n, currency: 'USD', direction: 'OUT', state: 'SETTLED' },
  ...rest,
});

/** Returns a payment's orders, oldest first. */
async function ordersOf(transactionId: string, rest: Partial<RailMovement> = {}): Promise<Order[]> {
  const text = 'select id, created_at as at from rail_order where transaction_id = $1 order by created_at';
  const { rows } = await t.owner.query(text, [uuidIn(transactionId)]);
  return rows.map(({ id, at }) => ({ id, at, movement: movementOf({ orderId: id, ...rest }) }));
}

/** Executes a quote that is paid from an external account, and returns its transaction. */
async function pull(platform: TestPlatform, own: Scene, sandboxScenario: object = { step: 'PULL', delayMs: hour }) {
  const source = { account: { accountId: own.outsideUsd } };
  const made = await platform.quote(usdToEur(own, { source, sandboxScenario, lockedCurrencyAmount: 100 }));
  await platform.execute(made.id);
  return made.transaction.id;
}

const payments = withRail(t, {
  async movements(request) {
    asked.push(request);
    const page = Number(request.cursor ?? 0);
    return { movements: pages[page] ?? [], nextCursor: page + 1 < pages.length ? String(page + 1) : undefined };
  },
  balances: async () => new Map([['USD', 0n]]),
});
beforeAll(async () => {
  const note = async (name: string, id: string, rest?: Partial<RailMovement>) =>
    Object.assign(orders, { [name]: (await ordersOf(id, rest))[0] });
  const paid = await t.platform.pay(scene);
  await t.platform.ended(paid.id);
  await note('paid', paid.id);
  const failing = await t.platform.pay(scene, 100, { sandboxScenario: { failureReason: 'OFFRAMP_FAILED' } });
  await t.platform.ended(failing.id);
  await note('failed', failing.id, { state: 'FAILED' });
  await note('waiting', (await t.platform.pay(scene, 100, later)).id, { state: 'UNDER_WAY' });
  const returned = await t.platform.pay(scene, 100, { sandboxScenario: { returnAfterMs: hour } });
  await t.platform.ended(returned.id);
  const after = await t.platform.feedEnd();
  await passDelay(t, returned.id);
  await t.platform.seen(after, ({ id, status }) => id === returned.id && status === 'REFUNDED');
  await note('returned', returned.id, { state: 'RETURNED' });
  const collected = await t.platform.transfer('transferIn', scene, 100);
  await t.platform.ended(collected.id);
  await note('collected', collected.id, { direction: 'IN' });
  const inside = await t.platform.quote(usdToEur(scene, { destination: { account: { accountId: scene.eur } } }));
  await t.platform.execute(inside.id);
  await note('inside', inside.transaction.id);
  // Both payments first pull dollars and then pay out euros.
  await note('pulling', await pull(t.platform, scene), { direction: 'IN', state: 'UNDER_WAY' });
  const pulled = await pull(t.platform, scene, late);
  await vi.waitFor(async () => expect(await ordersOf(pulled)).toHaveLength(2), 20_000);
  await note('pulled', pulled, { direction: 'IN' });
});
beforeEach(() => {
  asked = [];
});
// Some of the credited deposits belong to no payment.
afterAll(() => t.stop([/^each credited deposit at a provider has exactly one payment/]));

const beganAt = new Date('2026-01-01T12:00:00.000Z');
const insertDeposit = (platformId: string, reference: string, status: string, transactionId: string | null = null) =>
  t.owner.query(
    `insert into rail_deposit (platform_id, id, reference, held_at, began_at, amount, currency, status, transaction_id, account_id,
       reason, due_at)
     select $1, uuid_v7(), $2, 'there', $3, 100, 'USD', $4::deposit_status, $5, a.id, 'a test',
       case $4 when 'RECEIVED' then clock_timestamp() + interval '1 day' end
     from account a where a.platform_id = $1 and a.kind = 'INTERNAL' limit 1`,
    [platformId, reference, beganAt, status, transactionId],
  );
const compare = (from: Date, ms = 1) => reconcile(payments, tenant, { from, to: new Date(from.getTime() + ms) });
const beside = ({ at }: Order, ms: number) => new Date(at.getTime() + ms);
const orderOf = (name: string): Order => orders[name] ?? expect.unreachable(name);

const settled = { state: 'SETTLED' } as const;
const back = { orderId: undefined, returnOf: 'it' };
const unknown = { orderId: undefined, reference: 'unknown' };

type Case = readonly [order: string, there: readonly Partial<RailMovement>[], faults: readonly string[]];
const cases: readonly Case[] = [
  ...['paid', 'failed', 'waiting', 'returned', 'collected', 'pulling', 'pulled'].map(
    (name) => [name, [{}], []] as const,
  ),
  ['paid', [], ['MISSING_THERE']],
  ['returned', [], ['MISSING_THERE']],
  ['collected', [], ['MISSING_THERE']],
  ['failed', [], []],
  ['waiting', [], []],
  ['paid', [{}, {}], ['TWICE']],
  ['paid', [{ amount: 99n }], ['OTHER_AMOUNT']],
  ['paid', [{ currency: 'EUR' }], ['OTHER_AMOUNT']],
  ['paid', [{ amount: 101n }, {}], ['OTHER_AMOUNT', 'TWICE']],
  ...(['FAILED', 'RETURNED', 'UNDER_WAY'] as const).map((state) => ['paid', [{ state }], ['OTHER_OUTCOME']] as const),
  ['paid', [{ state: 'FAILED' }, {}], ['OTHER_OUTCOME', 'TWICE']],
  ['paid', [{}, back], ['OTHER_OUTCOME']],
  ['failed', [{ state: 'RETURNED' }], []],
  ['failed', [settled, back], []],
  ['failed', [settled], ['OTHER_OUTCOME']],
  ['failed', [{ state: 'UNDER_WAY' }], ['OTHER_OUTCOME']],
  ['waiting', [settled], ['OTHER_OUTCOME']],
  ['waiting', [{ state: 'RETURNED' }], ['OTHER_OUTCOME']],
  ['returned', [settled], ['OTHER_OUTCOME']],
  ['returned', [{}, back], []],
  ...(['SETTLED', 'RETURNED', 'UNDER_WAY'] as const).map(
    (state) => ['paid', [{}, { ...unknown, state }], ['MISSING_HERE']] as const,
  ),
  ['paid', [{}, { orderId: randomUUID(), direction: 'IN' }], ['MISSING_HERE']],
  ['paid', [{}, { ...unknown, state: 'FAILED' }], []],
  ['paid', [{}, { ...unknown, state: 'UNDER_WAY', direction: 'IN' }], []],
];

test.each(cases)('an order that is %s in our books, with %o at the provider: %o', async (name, there, faults) => {
  const order = orderOf(name);
  pages = [
    there.map((change) => {
      const { reference, ...movement } = order.movement;
      const returnOf = change.returnOf && order.id;
      return movementOf({ ...movement, ...change, returnOf });
    }),
  ];
  const found = await compare(order.at);
  expect(found.differences.map(({ fault }) => fault)).toEqual(faults);
  expect(found).toMatchObject({ orders: 1, movements: there.length });
});

test('an order belongs to the period in which it was created, including its start but not its end', async () => {
  const paid = orderOf('paid');
  pages = [];
  for (const [from, found] of [
    [beside(paid, -1), 0],
    [paid.at, 1],
    [beside(paid, 1), 0],
  ] as const)
    expect((await compare(from)).orders).toBe(found);
  // A payment within this installation is not an order at the provider.
  expect((await compare(orderOf('inside').at)).orders).toBe(0);
  // A return of an order from another period does not make that order count as missing.
  pages = [[movementOf({ returnOf: paid.id })]];
  expect(await compare(beside(paid, -1))).toMatchObject({ orders: 1, differences: [] });
});

test("all pages of a provider's movements are requested, up to an hour after the period", async () => {
  const paid = orderOf('paid');
  pages = [[paid.movement], [movementOf({})]];
  expect((await compare(paid.at)).movements).toBe(2);
  const to = beside(paid, 1 + hour);
  expect(asked).toEqual([
    { from: paid.at, to, cursor: undefined },
    { from: paid.at, to, cursor: '1' },
  ]);
});

test('a deposit is compared like an order once it is credited, and is not a difference before that', async () => {
  const { rows } = await t.owner.query('select id from transaction where reference is not null limit 1');
  await insertDeposit(tenant.platformId, 'credited', 'CREDITED', rows[0].id);
  await insertDeposit(tenant.platformId, 'open', 'UNATTRIBUTED');
  const movement = (reference: string) => movementOf({ reference, direction: 'IN' });
  const faults = async (from: Date, ...there: RailMovement[]) => {
    pages = [there];
    return (await compare(from)).differences.map(({ fault, reference }) => [fault, reference]);
  };
  expect(await faults(beganAt, movement('credited'), movement('open'))).toEqual([]);
  expect(await faults(beganAt)).toEqual([['MISSING_THERE', undefined]]);
  expect(await faults(beganAt, movement('credited'), movement('nobody’s'))).toEqual([['MISSING_HERE', 'nobody’s']]);
  // A deposit from another period is compared only if a movement has its reference.
  for (const ms of [-1, 1]) {
    const from = new Date(beganAt.getTime() + ms);
    expect(await faults(from)).toEqual([]);
    expect((await compare(from)).orders).toBe(0);
    expect(await faults(from, { ...movement('credited'), amount: 99n })).toEqual([['OTHER_AMOUNT', 'credited']]);
  }
});

test('payments in flight, and those that failed within the last minute, may count on one side only', async () => {
  const platform = await t.newPlatform('balances');
  const { platformId } = platform;
  const own = await platform.makeScene(1_000n);
  /** Returns the ledger's balance, and the net amount by which the provider's may be lower (if negative, higher). */
  const read = async () => {
    const both = await readBalances(payments, { ...tenant, platformId });
    const { booked, beyondLow, beyondHigh } = both?.find(({ currency }) => currency === 'USD') ?? expect.unreachable();
    return { booked, spread: beyondHigh + beyondLow + 2n * booked };
  };
  const within = async () =>
    platform.succeed('transferInternal', moving(own.usd, await platform.ownAccount('USD'), 100));
  const payOut = async (rest: object) => platform.ended((await platform.pay(own, 100, rest)).id);
  const steps: readonly (readonly [string, () => Promise<unknown>, booked: bigint, spread: bigint])[] = [
    ['an internal transfer', within, 0n, 0n],
    ['a payout that has ended', () => payOut({}), -100n, 0n],
    ['a payout that waits', () => platform.pay(own, 100, later), 0n, 100n],
    ['a transfer from outside that waits', () => platform.transfer('transferIn', own, 100, later), 0n, -100n],
    ['a pull that waits', () => pull(platform, own), 0n, -100n],
    ['a closed deposit', () => insertDeposit(platformId, 'closed', 'CLOSED'), 0n, 0n],
    ['a new deposit', () => insertDeposit(platformId, 'new', 'RECEIVED'), 0n, -100n],
    ['an unassigned deposit', () => insertDeposit(platformId, 'open', 'UNATTRIBUTED'), 0n, -100n],
    ['a failed payout', () => payOut({ sandboxScenario: { failureReason: 'OFFRAMP_FAILED' } }), 0n, 100n],
  ];
  for (const [what, run, booked, spread] of steps) {
    const before = await read();
    await run();
    const after = await read();
    const change = [after.booked - before.booked, after.spread - before.spread];
    expect([what, ...change]).toEqual([what, booked, spread]);
  }
});

test('one instance compares the missed days of the last week, and the days of the last month that have an open difference', async () => {
  const { platformId } = await t.newPlatform('daily');
  const sql = (text: string) => t.owner.query(text.replaceAll(':platform', `'${platformId}'`));
  await sql(`update platform set created_at = created_at - interval '40 days' where id = :platform`);
  pages = [];
  const today = `date_trunc('day', clock_timestamp(), 'UTC')`;
  /** Compares the days that are due, and returns how many days ago each of them was. */
  const compared = async (): Promise<number[]> => {
    const { rows: before } = await sql('select clock_timestamp()::text as now');
    await reconcileDueDays(payments, 0);
    const { rows } = await sql(`select extract(day from ${today} - period_from)::int as back from reconciliation
      where platform_id = :platform and started_at >= '${before[0].now}' order by 1`);
    return rows.map(({ back }) => back);
  };
  expect(await compared()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(await compared()).toEqual([]);

  const day = (back: number) => `${today} - interval '${back} days', ${today} - interval '${back - 1} days'`;
  for (const [back, closed, gone] of [
    [20, `now(), 'Ada', 'a test'`, 'null'],
    [21, 'null, null, null', 'now()'],
    [31, 'null, null, null', 'null'],
    [32, 'null, null, null', 'null'],
  ] as const) {
    await sql(`insert into reconciliation (platform_id, period_from, period_to, started_at, finished_at)
      select :platform, ${day(back)}, ${today} - interval '1 hour', ${today} - interval '1 hour'`);
    await sql(`insert into reconciliation_difference (platform_id, fault, there, same_as, closed_at, closed_by, closed_reason, gone_at,
        period_from, period_to) select :platform, 'MISSING_HERE', 'there', '${back}', ${closed}, ${gone}, ${day(back)}`);
  }
  expect(await compared()).toEqual([31]);
  for (const [minutes, days] of [
    [14, []],
    [16, [1]],
  ] as const) {
    await sql(`update reconciliation set finished_at = null, started_at = clock_timestamp() - interval '${minutes} minutes'
      where platform_id = :platform and period_to = ${today}`);
    expect([minutes, await compared()]).toEqual([minutes, days]);
  }
});
