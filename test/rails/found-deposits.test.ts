import { beforeEach, expect, test } from 'vitest';
import { maxAmount } from '../../src/core/checks.ts';
import { publicId } from '../../src/core/ids.ts';
import { RefusedByHand } from '../../src/domain/access/operator-acts.ts';
import { attributeDeposit, findDeposits, listDeposits, wakeDeposits } from '../../src/domain/providers/deposits.ts';
import type { DepositsPage, RailDeposit } from '../../src/rails/rail-parts.ts';
import { tester, testGateway, uuidIn } from '../setup/gateway.ts';

// Tests how a provider's deposits are stored, and where each query for deposits starts. The test acts as the provider.

let page: (from: Date) => Promise<DepositsPage>;
const minute = 60_000;
const day = 1_440 * minute;
/** The query start time that is stored before each test. The next query actually starts two minutes earlier. */
const start = new Date('2026-01-31T12:00:00.000Z');
const after = (ms: number) => new Date(start.getTime() + ms);
const t = await testGateway({ ROLE: 'serve' });
const scene = await t.platform.makeScene(0n);
const deposits = ({ from }: { from: Date }) => page(from);
Object.assign(t.gateway.payments.rails.SANDBOX ?? {}, { deposits });
await t.owner.query(`insert into rail_connection (platform_id, sealed) values ($1, '')`, [t.platform.platformId]);
beforeEach(async () => {
  await t.owner.query('update rail_connection set deposits_due_at = clock_ms(), deposits_from = $1', [start]);
});

let made = 0;
function deposit(rest: Partial<RailDeposit> = {}): RailDeposit {
  made += 1;
  return {
    reference: `deposit ${made}`,
    heldAt: 'an account there',
    at: start,
    state: 'SETTLED',
    amount: 100n,
    currency: 'USD',
    customerId: uuidIn(scene.customerId),
    payer: undefined,
    memo: undefined,
    ...rest,
  };
}

/** Makes the provider list the given deposits. Returns the start of the query, and the stored start of the next one. */
async function found(deposits: readonly RailDeposit[], meanwhile: () => Promise<unknown> = async () => undefined) {
  let asked: Date | undefined;
  page = async (from) => {
    asked = from;
    await meanwhile();
    return { deposits, nextCursor: undefined };
  };
  expect(await findDeposits(t.gateway.payments, 10)).toBe(1);
  const { rows } = await t.owner.query(
    'select deposits_from as from, deposits_due_at > clock_timestamp() as waits from rail_connection',
  );
  return { asked, next: rows[0].from as Date, waits: rows[0].waits as boolean };
}

const stored = async (reference: string) =>
  (await t.owner.query('select * from rail_deposit where reference = $1', [reference])).rows;

const long = 'r'.repeat(197);
test.each<[string, Partial<RailDeposit>, Partial<RailDeposit>]>([
  ['of one unit', { amount: 1n }, { amount: 0n }],
  ['of the maximum balance', { amount: maxAmount }, { amount: maxAmount + 1n }],
  ['whose reference has 200 characters', { reference: `${long}one` }, { reference: `${long}more` }],
  ['whose account at the provider has 200 characters', { heldAt: `${long}one` }, { heldAt: `${long}more` }],
  ['whose account at the provider has a name', { heldAt: 'a' }, { heldAt: '' }],
])(
  'a deposit %s is stored; one that just misses this condition is not, and is queried again',
  async (_what, sound, broken) => {
    const [one, other] = [deposit(sound), deposit({ ...broken, at: after(minute) })];
    const { next } = await found([one, other, deposit({ at: after(2 * minute) })]);
    expect(await stored(one.reference)).toMatchObject([{ status: 'RECEIVED', amount: String(one.amount) }]);
    expect(await stored(other.reference)).toEqual([]);
    expect(next).toEqual(after(minute));
  },
);

test('a query starts two minutes before the last known deposit, and the next one no later than the last deposit found', async () => {
  const { asked, next, waits } = await found([deposit({ at: after(5 * minute) }), deposit({ at: after(minute) })]);
  expect(asked).toEqual(after(-2 * minute));
  expect([next, waits]).toEqual([after(5 * minute), true]);
});

test('a query never starts before the previous one, even if deposits are still pending', async () => {
  const { next } = await found([deposit({ state: 'UNDER_WAY', at: after(-minute) }), deposit({ at: after(minute) })]);
  expect(next).toEqual(start);
});

test.each([
  [30, 30],
  [32, 31],
])('if a deposit stays pending for %i days, queries include it for %i of them', async (days, asked) => {
  const underWay = deposit({ state: 'UNDER_WAY', at: after(day) });
  const { next } = await found([underWay, deposit({ at: after((1 + days) * day) })]);
  expect(next).toEqual(after((1 + days - asked) * day));
});

test('if a deposit is reported during a query, the next query is due immediately', async () => {
  const wake = () => wakeDeposits(t.gateway.payments.database.pool, t.platform.platformId);
  expect((await found([], wake)).waits).toBe(false);
});

test("at most 1,000 characters of a payer's memo are stored", async () => {
  const [one, other] = [deposit({ memo: 'm'.repeat(1_000) }), deposit({ memo: `${'m'.repeat(1_000)}!` })];
  await found([one, other]);
  for (const { reference } of [one, other])
    expect(await stored(reference)).toMatchObject([{ memo: 'm'.repeat(1_000) }]);
});

test('a deposit is never credited to an account of another platform, or to an external one', async () => {
  const other = await (await t.newPlatform('another')).makeScene(0n);
  const { reference } = deposit();
  await found([deposit({ reference, customerId: undefined })]);
  const { database } = t.gateway.payments;
  const [waiting] = (await listDeposits(database)).filter((one) => one.reference === reference);
  const id = publicId('Deposit', waiting?.id ?? '');
  for (const account of [other.usd, scene.outsideUsd, scene.outsideUsd.replace('External', 'Internal')]) {
    const reason = `the deposit's platform has no internal account ${account}`;
    await expect(attributeDeposit(database, id, account, tester)).rejects.toThrow(reason);
  }
  await expect(attributeDeposit(database, id, scene.eur, tester)).rejects.toThrow(RefusedByHand);
  await attributeDeposit(database, id, scene.usd, tester);
});
