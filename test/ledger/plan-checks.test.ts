import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commitPlanOn } from '../../src/domain/ledger/commit.ts';
import type { AccountMove, Alternative, Leg, Plan } from '../../src/domain/ledger/plan.ts';
import { noteCase } from '../../src/domain/settlement/cases.ts';
import { usdToEur } from '../setup/acts.ts';
import { testClient, testGateway, uuidIn } from '../setup/gateway.ts';

// Tests plans exactly at the limits of what the database accepts. Each test is rolled back.

const t = await testGateway({ ROLE: 'serve', SANDBOX_PACE_MS: 600_000 });
const scene = await t.platform.makeScene(100_000n);
const client = await testClient(t);
beforeEach(() => client.query('begin'));
afterEach(() => client.query('rollback'));

async function outcomeOf(plan: Plan): Promise<unknown> {
  const outcome = await commitPlanOn(client, t.platform.platformId, plan);
  return outcome.kind === 'refused' ? outcome.refusal : outcome.kind;
}

async function errorOf(plan: Plan): Promise<unknown> {
  await client.query('savepoint before');
  const state = await commitPlanOn(client, t.platform.platformId, plan).then(
    ({ kind }) => kind,
    (error: unknown) => (error instanceof pg.DatabaseError ? error.code : error),
  );
  await client.query('rollback to before; release before');
  return state;
}

test('a change to an external account is refused if it is based on another version', async () => {
  const id = uuidIn(scene.outsideUsd);
  const move = (version: number | undefined): Plan => {
    const review: AccountMove = { id, from: ['ACTIVE'], to: 'UNDER_REVIEW', reason: 'looked at' };
    return { accounts: [review], ...(version !== undefined && { expected: { type: 'Account', id, version } }) };
  };
  await client.query(`update account set metadata = '{"a": "b"}' where id = $1`, [id]);
  const conflict = { code: 'OTHER_VERSION', type: 'Account', id, version: 2 };
  for (const other of [1, 3]) expect([other, await outcomeOf(move(other))]).toEqual([other, conflict]);
  await client.query('savepoint before');
  expect(await outcomeOf(move(2))).toBe('done');
  await client.query('rollback to before; release before');
  expect(await outcomeOf(move(undefined))).toBe('done');
});

test('a late deposit is credited for an EXPIRED quote, but not for any other', async () => {
  const { id } = await t.platform.quote(usdToEur(scene));
  const beside = (quoteId: string): Alternative => ({ expired: [{ id: uuidIn(quoteId) }] });
  const conflict = (status: string) => ({ code: 'CONFLICT', type: 'Quote', id: uuidIn(id), status });
  expect(await outcomeOf(beside(id))).toEqual(conflict('PENDING'));
  for (const status of ['PROCESSING', 'COMPLETED']) {
    await client.query('update quote set status = $2 where id = $1', [uuidIn(id), status]);
    expect(await outcomeOf(beside(id))).toEqual(conflict(status));
  }
  const other = await t.platform.quote(usdToEur(scene));
  await client.query(`update quote set status = 'EXPIRED' where id = $1`, [uuidIn(other.id)]);
  expect(await outcomeOf(beside(other.id))).toBe('done');
  const unknown = randomUUID();
  expect(await outcomeOf(beside(unknown))).toEqual({ code: 'QUOTE_NOT_FOUND', id: unknown });
});

describe('the difference when an operator settles a payment', () => {
  const legs = [
    { system: 'OUTSIDE', currency: 'USD', amount: 4n },
    { system: 'DIFFERENCES', currency: 'USD', amount: -4n },
  ] as const;

  /** Makes a payment whose order has cases of the given kinds, and a plan that settles the payment. */
  async function settling(...kinds: readonly ('OTHER_AMOUNT' | 'OTHER_OUTCOME')[]) {
    const { id } = await t.platform.pay(scene, 1_000);
    const { platformId } = t.platform;
    const transactionId = uuidIn(id);
    const { rows } = await client.query('select id from rail_order where transaction_id = $1', [transactionId]);
    const orderId: string = rows[0].id;
    // `noteCase` needs only the payment's id.
    const about = { platformId, id: orderId, transaction: { id: transactionId } } as Parameters<typeof noteCase>[1];
    for (const kind of kinds)
      await noteCase(t.gateway.payments.database, about, { kind, said: 'said', stands: 'stands' });
    const plan = {
      orders: [{ id: orderId, dueInMs: null }],
      cases: [{ orderId, by: 'Ada', reason: 'a test', movedOut: 1_004n, movedIn: null }],
      journals: [{ kind: 'difference', transactionId, legs }],
    } satisfies Plan;
    const text = 'select kind, closed_at is null as is_open from rail_case where order_id = $1 order by kind::text';
    const cases = async () => (await client.query(text, [orderId])).rows;
    return { transactionId, orderId, plan, cases };
  }

  test('is booked if there is a case about the amount, and leaves a case about the outcome open', async () => {
    const { plan, cases } = await settling('OTHER_AMOUNT', 'OTHER_OUTCOME');
    expect(await outcomeOf(plan)).toBe('done');
    expect(await cases()).toEqual([
      { kind: 'OTHER_AMOUNT', is_open: false },
      { kind: 'OTHER_OUTCOME', is_open: true },
    ]);
  });

  test('is not booked if the only case is about the outcome', async () => {
    const { plan } = await settling('OTHER_OUTCOME');
    expect(await errorOf(plan)).toBe('LG014');
  });

  test("is booked only with its case, its order and the provider's amount, and never to a customer's account", async () => {
    const { plan } = await settling('OTHER_AMOUNT');
    const [end] = plan.cases;
    const [journal] = plan.journals;
    const withLegs = (...other: readonly Leg[]) => ({ ...plan, journals: [{ ...journal, legs: other }] });
    const [outside, difference] = legs;
    for (const wrong of [
      { ...plan, cases: [] },
      { ...plan, orders: [] },
      { ...plan, cases: [{ ...end, movedOut: 1_005n }] },
      { ...plan, journals: [] },
      { ...plan, journals: [{ ...journal, kind: 'delivery' }] },
      withLegs({ ...outside, amount: 5n }, { ...difference, amount: -5n }),
      withLegs(outside, { ...difference, system: 'FEES' }),
      withLegs(outside, { account: uuidIn(scene.usd), currency: 'USD', amount: -4n }),
      { journals: [{ ...journal, kind: 'transfer' }] },
    ] as const)
      expect(await errorOf(wrong as Plan)).toBe('LG014');
    expect(await outcomeOf(plan)).toBe('done');
  });

  test('is not booked once its case is closed', async () => {
    const { plan, orderId, transactionId } = await settling('OTHER_AMOUNT');
    const closed = `closed_at = now(), closed_by = 'Grace', closed_reason = 'a test'`;
    await client.query(`update rail_case set ${closed} where order_id = $1`, [orderId]);
    expect(await outcomeOf(plan)).toEqual({ code: 'CONFLICT', id: transactionId, status: 'CLOSED' });
  });

  test('is booked for only one case at a time', async () => {
    const [one, other] = [await settling('OTHER_AMOUNT'), await settling('OTHER_AMOUNT')];
    const both = {
      ...one.plan,
      orders: [...one.plan.orders, ...other.plan.orders],
      cases: [...one.plan.cases, ...other.plan.cases],
    };
    expect(await errorOf(both)).toBe('LG014');
  });
});
