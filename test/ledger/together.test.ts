import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import { expect, test } from 'vitest';
import { commitGroupsOn, type Outcome } from '../../src/domain/ledger/commit.ts';
import type { Journal, Leg, NewRow, Plan, PlatformPlan } from '../../src/domain/ledger/plan.ts';
import type { Account } from '../../src/infra/database/rows.ts';
import { usdToEur } from '../setup/acts.ts';
import { type Data, testClient, testGateway, uuidIn } from '../setup/gateway.ts';
import type { Scene } from '../setup/scene.ts';

// Plans that share a transaction are divided into batches, which are checked one by one and applied together
// (src/domain/ledger/batches.ts, prisma/functions/commit/commit_batch.sql). Whatever the plans have in common, the
// result must be the same as if they ran one after the other.

/** The number of lists of plans to try. `TOGETHER_RUNS` overrides it. */
const runs = Number(process.env.TOGETHER_RUNS ?? 150);

type Group = PlatformPlan[];
const group = (plan: Plan): Group => [{ platformId: platform, plan }];

const leg = (account: string, amount: bigint): Leg => ({ account, currency: 'USD', amount });
const clearing = (amount: bigint): Leg => ({ system: 'CLEARING', currency: 'USD', amount });
const outside = (amount: bigint): Leg => ({ system: 'OUTSIDE', currency: 'USD', amount });

const t = await testGateway({ SANDBOX_PACE_MS: 600_000, ROLE: 'serve' });
const sql = await testClient(t);
const scenes = [await t.platform.makeScene(700n), await t.platform.makeScene(300n)] as const;
const sceneAt = (of: number): Scene => scenes[of] ?? scenes[0];
const quotes: { id: string; transaction: string }[] = [];
const payments: { id: string; order: string }[] = [];
for (let i = 0; i < 3; i++) {
  const quoted = await t.platform.quote(usdToEur(scenes[0], { lockedCurrencyAmount: 200 }));
  quotes.push({ id: uuidIn(quoted.id), transaction: uuidIn(quoted.transaction.id) });
  const id = uuidIn((await t.platform.pay(scenes[0], 10)).id);
  const { rows } = await sql.query('select id from rail_order where transaction_id = $1', [id]);
  payments.push({ id, order: rows[0].id });
}
const { rows } = await sql.query('select platform_id from transaction limit 1');
const platform: string = rows[0].platform_id;
// Makes one quote expire. Triggers prevent any change to a quote's terms, so they are disabled for the update.
await sql.query('set session_replication_role = replica');
await sql.query("update quote set expires_at = created_at + interval '1 millisecond' where id = $1", [quotes[2]?.id]);
await sql.query('set session_replication_role = origin');
const much = collection(1, 4_600_000_000_000_000n, true);
const { transaction: [made] = [], rail_order: [order] = [] } = much[0]?.plan.insert ?? {};
/** A payment in flight to the second scene's account, for just over half of an account's maximum balance. */
const coming = { id: made?.id ?? '', order: order?.id ?? '' };
// The first set of limits applies to one customer. The second applies to the platform, so both customers share it.
const limits = [
  [{ period: 'DAY', currency: 'USD', amount: { units: 400 } }],
  [
    { period: 'LAST_24_HOURS', currency: 'USD', amount: { units: 700 } },
    { period: 'DAY', payments: 2 },
  ],
];
for (const [at, subjectId] of [scenes[0].customerId, `Platform:${platform}`].entries())
  await t.platform.succeed('setPolicy', { subjectId, limits: limits[at] });
/** A payment that counts toward both policies. */
const counted = uuidIn((await t.platform.pay(scenes[0], 20)).id);
const check = { accountId: uuidIn(scenes[0].outsideUsd), dueInMs: 1 };
await commitGroupsOn(sql, [much, group({ insert: { account_check: [check] } })]);

function paymentRows(
  type: 'OUTGOING' | 'INCOMING',
  { customerId }: Scene,
  { id, amount, from, to }: { id: string; amount: bigint; from: string; to: string },
): NonNullable<Plan['insert']> {
  const kind = type === 'OUTGOING' ? 'PAYOUT' : 'COLLECTION';
  return {
    transaction: [
      {
        ...{ platformId: platform, id, type, status: 'PENDING', customerId: uuidIn(customerId) },
        ...{ sentAmount: amount, sentCurrency: 'USD', receivedAmount: amount, receivedCurrency: 'USD' },
        ...{ sourceKind: 'ACCOUNT', sourceAccountId: from, destinationKind: 'ACCOUNT', destinationAccountId: to },
        ...{ reference: `PAY-${id}`, counterpartyInformation: {} },
      },
    ],
    rail_order: [{ platformId: platform, id: randomUUID(), transactionId: id, kind }],
  };
}

function payout(of: number, amount: bigint, key: string | undefined, limited: boolean): Group {
  const scene = sceneAt(of);
  const [from, to] = [uuidIn(scene.usd), uuidIn(scene.outsideUsd)];
  const id = randomUUID();
  return group({
    ...(key !== undefined && { claim: { operation: 'together', key, hash: amount % 2n === 0n ? 'aa' : 'bb' } }),
    requireActive: { customers: [uuidIn(scene.customerId)], accounts: [to] },
    ...(limited && {
      spend: {
        ...{ transactionId: id, kind: 'TRANSFER_OUT', amount, currency: 'USD' },
        ...{ accountId: scene.outsideUsd, country: 'US', umaAddress: null },
        subjects: [platform, uuidIn(scene.customerId)],
      },
    }),
    insert: paymentRows('OUTGOING', scene, { id, amount, from, to }),
    journals: [{ kind: 'debit', transactionId: id, legs: [leg(from, -amount), clearing(amount)] }],
    result: { type: 'Transaction', id },
  });
}

/** Collects money that arrives later. Checks the account's capacity only if `asks` is true. */
function collection(of: number, amount: bigint, asks: boolean): Group {
  const scene = sceneAt(of);
  const [from, to] = [uuidIn(scene.outsideUsd), uuidIn(scene.usd)];
  const id = randomUUID();
  return group({
    ...(asks && { capacity: [{ account: to, amount }] }),
    insert: paymentRows('INCOMING', scene, { id, amount, from, to }),
    result: { type: 'Transaction', id },
  });
}

function outcome(of: number, fails: boolean): Group {
  const { id, order } = payments[of] ?? { id: '', order: '' };
  const back = uuidIn(scenes[0].usd);
  return group({
    orders: [{ id: order, dueInMs: null }],
    transactions: [
      {
        ...{ id, from: ['PENDING', 'PROCESSING'], to: fails ? 'FAILED' : 'COMPLETED', reason: 'so the rail says' },
        set: fails
          ? { failureReason: 'QUOTE_EXECUTION_FAILED', refundReference: `REFUND-${id}`, refundAmount: 10n }
          : {},
      },
    ],
    journals: [
      fails
        ? { kind: 'refund', transactionId: id, legs: [clearing(-10n), { ...leg(back, 10n), exempt: true }] }
        : { kind: 'delivery', transactionId: id, legs: [clearing(-10n), outside(10n)] },
    ],
  });
}

const undelivered = (id: string): NonNullable<Plan['transactions']> => [
  { id, from: ['PENDING'], to: 'FAILED', reason: 'so the rail says', set: { failureReason: 'OFFRAMP_FAILED' } },
];

/** Ends an incoming payment, which makes room for another one. */
const uncollected = (ofRail: boolean): Group =>
  group({
    ...(ofRail && { orders: [{ id: coming.order, dueInMs: null }] }),
    transactions: undelivered(coming.id),
  });

const uncounted = (): Group => group({ transactions: undelivered(counted) });

/** The rail's final report on a payment, which does not change the payment. */
const abandoned = (): Group => group({ orders: [{ id: coming.order, dueInMs: null }] });

function execution(of: number): Group {
  const { id, transaction } = quotes[of] ?? { id: '', transaction: '' };
  const move = { from: ['PENDING'], to: 'PROCESSING', reason: 'executed' } as const;
  const legs = [leg(uuidIn(scenes[0].usd), -200n), clearing(200n)];
  return group({
    quotes: [{ id, expiry: 'before', ...move }],
    transactions: [{ id: transaction, expectedInMs: 500, set: {}, ...move }],
    journals: [{ kind: 'debit', transactionId: transaction, legs }],
    result: { type: 'Quote', id },
  });
}

/** A deposit for a quote. It executes the quote or, if the quote has expired, is credited to the customer. */
function paidIn(of: number, amount: bigint): Group {
  const { id, transaction } = quotes[of] ?? { id: '', transaction: '' };
  const account = uuidIn(scenes[0].usd);
  const legs = [outside(-amount), leg(account, amount)];
  const arrived: Journal = { kind: 'deposit', transactionId: transaction, legs };
  const fails = { from: ['PENDING'], to: 'FAILED', reason: 'it came late' } as const;
  return group({
    ...execution(of)[0]?.plan,
    journals: [arrived, { kind: 'debit', transactionId: transaction, legs: [leg(account, -200n), clearing(200n)] }],
    otherwise: {
      quotes: [{ id, ...fails }],
      transactions: [{ id: transaction, set: { failureReason: 'QUOTE_EXPIRED' }, ...fails }],
      journals: [arrived],
      otherwise: { expired: [{ id }], journals: [arrived] },
    },
  });
}

const cancelled = (of: number): Group =>
  group({ quotes: [{ id: quotes[of]?.id ?? '', from: ['PENDING'], to: 'FAILED', reason: 'cancelled' }] });

function expiry(of: number): Group {
  const { id, transaction } = quotes[of] ?? { id: '', transaction: '' };
  const ends = { from: ['PENDING'], to: 'EXPIRED', reason: 'its time is over' } as const;
  const transactions = [{ id: transaction, set: { failureReason: 'QUOTE_EXPIRED' as const }, ...ends }];
  return group({ quotes: [{ id, expiry: 'after', ...ends }], transactions });
}

function move(of: number, amount: bigint): Group {
  const [from, to] = of === 0 ? scenes : [scenes[1], scenes[0]];
  return group({
    journals: [{ kind: 'transfer', legs: [leg(uuidIn(from.usd), -amount), leg(uuidIn(to.usd), amount)] }],
  });
}

const deleted = (of: number): Group =>
  group({ customers: [{ id: uuidIn(sceneAt(of).customerId), set: { isDeleted: true } }] });
function closed(of: number): Group {
  const id = uuidIn(sceneAt(of).outsideUsd);
  return group({ accounts: [{ id, from: ['ACTIVE'], to: 'INACTIVE', reason: 'closed', set: {} }] });
}

/** Registers a customer with one of two UMA addresses, or gives one of the addresses to an existing customer. */
const named = (of: number, who: 'new' | 0 | 1): Group => {
  const umaAddress = `$together-${of}@example.com`;
  if (who !== 'new') return group({ customers: [{ id: uuidIn(scenes[who].customerId), set: { umaAddress } }] });
  const id = randomUUID();
  const known = { platformId: platform, id, platformCustomerId: id } as const;
  const kinds = { customerType: 'INDIVIDUAL', kycStatus: 'APPROVED' } as const;
  const customer = { ...known, ...kinds, umaAddress, isDeleted: false, beneficialOwners: [] };
  return group({ insert: { customer: [customer] } });
};

function registered(of: number): Group {
  const id = randomUUID();
  const account: NewRow<Account> = {
    platformId: platform,
    id,
    kind: 'EXTERNAL',
    customerId: uuidIn(sceneAt(of).customerId),
    ...{ currency: 'USD', posted: 0n, fundingInstructions: [], defaultUmaDepositAccount: false, isDeleted: false },
    status: 'ACTIVE',
    accountType: 'US_ACCOUNT',
    accountInfo: {},
    identifier: 'together',
  };
  return group({ insert: { account: [account] }, result: { type: 'Account', id } });
}

/** A recheck of an external account by its rail, together with a transfer if `moves` is true. */
const checked = (dueInMs: number | null, moves: boolean, of: number): Group => [
  ...group({ checks: [{ accountId: uuidIn(scenes[0].outsideUsd), dueInMs }] }),
  ...(moves ? move(of, 1n) : []),
];

const endAndMove = (of: number, fails: boolean, to: number, much: bigint): Group => [
  ...outcome(of, fails),
  ...move(to, much),
];

const seen = (of: number): Group => group({ result: { type: 'Account', id: uuidIn(sceneAt(of).usd) } });

const either = fc.integer({ min: 0, max: 1 });
const third = fc.integer({ min: 0, max: 2 });
const amount = fc.bigInt({ min: 1n, max: 400n });
const key = fc.option(fc.constantFrom('a', 'b'), { nil: undefined });
const half = fc.constantFrom(5n, 4_600_000_000_000_000n);
const due = fc.constantFrom(1, 86_400_000, null);
const whom = fc.constantFrom('new' as const, 0 as const, 1 as const);
const ends = fc.constantFrom(
  () => uncollected(true),
  () => uncollected(false),
  abandoned,
);
const anyGroup = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(either, amount, key, fc.boolean()).map((a) => () => payout(...a)) },
  { weight: 2, arbitrary: fc.tuple(either, half, fc.boolean()).map((a) => () => collection(...a)) },
  { weight: 4, arbitrary: fc.tuple(third, fc.boolean()).map((a) => () => outcome(...a)) },
  { weight: 2, arbitrary: ends },
  // With this weight, enough payments are subject to policies for the limits to be reached.
  { weight: 8, arbitrary: either.map((of) => () => payout(of, 1n, undefined, true)) },
  { weight: 4, arbitrary: fc.constant(uncounted) },
  { weight: 4, arbitrary: third.map((of) => () => execution(of)) },
  { weight: 4, arbitrary: fc.tuple(third, amount).map((a) => () => paidIn(...a)) },
  { weight: 2, arbitrary: third.map((of) => () => expiry(of)) },
  { weight: 1, arbitrary: third.map((of) => () => cancelled(of)) },
  { weight: 2, arbitrary: fc.tuple(either, amount).map((a) => () => move(...a)) },
  { weight: 1, arbitrary: either.map((of) => () => deleted(of)) },
  { weight: 1, arbitrary: either.map((of) => () => closed(of)) },
  { weight: 1, arbitrary: fc.tuple(either, whom).map((a) => () => named(...a)) },
  { weight: 1, arbitrary: either.map((of) => () => registered(of)) },
  { weight: 2, arbitrary: fc.tuple(due, fc.boolean(), either).map((a) => () => checked(...a)) },
  { weight: 1, arbitrary: either.map((of) => () => seen(of)) },
  { weight: 2, arbitrary: fc.tuple(third, fc.boolean(), either, amount).map((a) => () => endAndMove(...a)) },
);

async function stateNow(): Promise<unknown> {
  const { rows } = await sql.query(`select
    (select jsonb_agg(jsonb_build_array(a.id, a.posted, a.version, a.status) order by a.id) from account a) as accounts,
    (select jsonb_agg(jsonb_build_array(c.id, c.uma_address, c.is_deleted, c.version) order by c.id) from customer c) as customers,
    (select jsonb_agg(jsonb_build_array(c.account_id, c.due_at > clock_timestamp() + interval '1 hour')) from account_check c) as checks,
    (select jsonb_agg(jsonb_build_array(t.id, t.status, t.version, t.refund_amount) order by t.id) from transaction t) as transactions,
    (select jsonb_agg(jsonb_build_array(q.id, q.status, q.version) order by q.id) from quote q) as quotes,
    (select jsonb_agg(jsonb_build_array(o.id, o.due_at is null) order by o.id) from rail_order o) as orders,
    (select jsonb_agg(jsonb_build_array(p.subject_type, p.used) order by p.id) from policy p) as policies,
    (select jsonb_agg(jsonb_build_array(u.transaction_id, u.amount, u.released_at is null) order by u.transaction_id, u.policy_id) from policy_use u) as uses,
    (select jsonb_agg(jsonb_build_array(r.key, r.refusal, r.result -> 'row' -> 'id') order by r.key) from idempotency_record r
      where r.operation = 'together') as records,
    (select jsonb_agg(e.told order by e.thing, e.id) from (
      select o.id, coalesce(o.account_id, o.quote_id, o.transaction_id, o.customer_id) as thing,
        jsonb_build_array(o.type, coalesce(o.account_id, o.quote_id, o.transaction_id, o.customer_id), o.version,
                          o.previous_status, o.status, o.old_balance, o.new_balance) as told
      from outbox o) e) as events`);
  return rows[0];
}

function told(outcome: Outcome) {
  if (outcome.kind === 'done' && outcome.row) {
    const { id, status, version }: Data = outcome.row;
    return { ...outcome, row: { id, status, version } };
  }
  if (outcome.kind !== 'refused' || outcome.refusal.code !== 'LIMIT_EXCEEDED') return outcome;
  // Removes the times at which limits renew, because they depend on when the limits were used.
  const { limit, ...refusal } = outcome.refusal;
  return { ...outcome, refusal: { ...refusal, freeAt: null, limit: { ...limit, renewsAt: null } } };
}

async function attempt(limited: boolean, act: () => Promise<Outcome[]>): Promise<unknown> {
  await sql.query('begin');
  try {
    if (!limited) await sql.query('delete from policy_use; delete from policy');
    const outcomes = await act();
    await sql.query('set constraints all immediate');
    return { outcomes: outcomes.map(told), state: await stateNow() };
  } catch (error) {
    if (error instanceof pg.DatabaseError) return { raised: error.code };
    throw error;
  } finally {
    await sql.query('rollback');
  }
}

test('plans that share a transaction have the same result as if they ran one after another', {
  timeout: 60_000 + runs * 500,
}, async () => {
  let possible = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyGroup, { minLength: 2, maxLength: 9 }), fc.boolean(), async (makers, limited) => {
      const groups = makers.map((make) => make());
      const together = await attempt(limited, () => commitGroupsOn(sql, groups));
      const oneByOne = await attempt(limited, async () => {
        const outcomes: Outcome[] = [];
        for (const group of groups) outcomes.push(...(await commitGroupsOn(sql, [group])));
        return outcomes;
      });
      expect(together).toEqual(oneByOne);
      if (together instanceof Object && 'outcomes' in together) possible += 1;
    }),
    { numRuns: runs },
  );
  // Most of the generated plans must succeed, because otherwise the comparison would prove little.
  expect(possible).toBeGreaterThan(runs / 2);
});
