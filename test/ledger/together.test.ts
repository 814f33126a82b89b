import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pay, quote, usdToEur } from '../setup/acts.ts';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

// Plans that share a transaction are checked one by one and carried out together (prisma/functions/commit_groups.sql). Whatever
// they have in common, that must come to the same as each after the other.

const uuidOf = (id: string) => id.slice(id.indexOf(':') + 1);

let t: TestGateway;
let sql: pg.Client;
let platform: string;
let scenes: [Scene, Scene];
let quotes: { id: string; transaction: string }[];
let payments: { id: string; order: string }[];
/** A payment on its way to the second scene's account, of half of what an account may hold. */
let coming: { id: string; order: string };
beforeAll(async () => {
  t = await startTestGateway({ SANDBOX_PACE_MS: 600_000, ROLE: 'serve' });
  sql = new pg.Client({ connectionString: t.databaseUrl });
  await sql.connect();
  scenes = [await makeScene(t.platform, 700n), await makeScene(t.platform, 300n)];
  quotes = [];
  payments = [];
  for (let i = 0; i < 3; i++) {
    const quoted = await quote(t.platform, usdToEur(scenes[0], { lockedCurrencyAmount: 200 }));
    quotes.push({ id: uuidOf(quoted.id), transaction: uuidOf(quoted.transaction.id) });
    const id = uuidOf((await pay(t.platform, scenes[0], 10)).id);
    const { rows } = await sql.query('select id from rail_order where transaction_id = $1', [id]);
    payments.push({ id, order: rows[0].id });
  }
  const { rows } = await sql.query('select platform_id from transaction limit 1');
  platform = rows[0].platform_id;
  // The time of one quote is over. What was quoted cannot change, so the triggers that say so are off for it.
  await sql.query('set session_replication_role = replica');
  await sql.query("update quote set expires_at = created_at + interval '1 millisecond' where id = $1", [quotes[2]?.id]);
  await sql.query('set session_replication_role = origin');
  const much: Data = collection(1, 4_600_000_000_000_000, true)[0]?.plan;
  coming = { id: much.insert.transaction[0].id, order: much.insert.rail_order[0].id };
  await commit([[plan(much)]]);
});
afterAll(async () => {
  await sql.end();
  await t.stop();
});

const plan = (of: object) => ({ platform, plan: of });
type Group = ReturnType<typeof plan>[];

async function commit(groups: readonly Group[]): Promise<Data[]> {
  const { rows } = await sql.query('select unnest(commit_groups($1::jsonb)) as answer', [JSON.stringify(groups)]);
  return rows.map(({ answer }) => answer);
}

const leg = (account: string, amount: number, more: object = {}) => ({
  account,
  currency: 'USD',
  amount: String(amount),
  ...more,
});
const clearing = (amount: number) => ({ system: 'CLEARING', currency: 'USD', amount: String(amount) });

/** A new payment, and its order of the rail. */
function paymentRows(
  type: 'OUTGOING' | 'INCOMING',
  { customerId }: Scene,
  { id, amount, from, to }: { id: string; amount: number; from: string; to: string },
) {
  const kind = type === 'OUTGOING' ? 'PAYOUT' : 'COLLECTION';
  return {
    transaction: [
      {
        ...{ platform_id: platform, id, type, status: 'PENDING', customer_id: uuidOf(customerId) },
        ...{ sent_amount: amount, sent_currency: 'USD', received_amount: amount, received_currency: 'USD' },
        ...{ source_kind: 'ACCOUNT', source_account_id: from, destination_kind: 'ACCOUNT', destination_account_id: to },
        ...{ reference: `PAY-${id}`, counterparty_information: {} },
      },
    ],
    rail_order: [{ platform_id: platform, id: randomUUID(), transaction_id: id, kind }],
  };
}

/** Pays out, as transferOut does. */
function payout(of: number, amount: number, key: string | undefined): Group {
  const scene = scenes[of] ?? scenes[0];
  const [from, to] = [uuidOf(scene.usd), uuidOf(scene.outsideUsd)];
  const id = randomUUID();
  return [
    plan({
      ...(key !== undefined && { claim: { operation: 'together', key, hash: amount % 2 === 0 ? 'aa' : 'bb' } }),
      ready: { customers: [uuidOf(scene.customerId)], accounts: [to] },
      insert: paymentRows('OUTGOING', scene, { id, amount, from, to }),
      journals: [{ kind: 'debit', transactionId: id, legs: [leg(from, -amount), clearing(amount)] }],
      result: { type: 'Transaction', id },
    }),
  ];
}

/** Collects later: the account must have room for it, or is not asked, as where somebody else sends. */
function collection(of: number, amount: number, asks: boolean): Group {
  const scene = scenes[of] ?? scenes[0];
  const [from, to] = [uuidOf(scene.outsideUsd), uuidOf(scene.usd)];
  const id = randomUUID();
  return [
    plan({
      ...(asks && { room: [{ account: to, amount: String(amount) }] }),
      insert: paymentRows('INCOMING', scene, { id, amount, from, to }),
      result: { type: 'Transaction', id },
    }),
  ];
}

/** Ends a payment, as settlement does: delivered, or failed with the money back. */
function outcome(of: number, fails: boolean): Group {
  const { id, order } = payments[of] ?? { id: '', order: '' };
  const back = uuidOf(scenes[0].usd);
  return [
    plan({
      orders: [{ id: order, dueInMs: null }],
      transactions: [
        {
          ...{ id, from: ['PENDING', 'PROCESSING'], to: fails ? 'FAILED' : 'COMPLETED', reason: 'so the rail says' },
          set: fails
            ? { failure_reason: 'QUOTE_EXECUTION_FAILED', refund_reference: `REFUND-${id}`, refund_amount: 10 }
            : {},
        },
      ],
      journals: [
        fails
          ? { kind: 'refund', transactionId: id, legs: [clearing(-10), leg(back, 10, { owed: true })] }
          : {
              kind: 'delivery',
              transactionId: id,
              legs: [clearing(-10), { system: 'OUTSIDE', currency: 'USD', amount: '10' }],
            },
      ],
    }),
  ];
}

/** Ends a payment that was on its way here: there is room for another. */
const uncollected = (): Group => [
  plan({
    orders: [{ id: coming.order, dueInMs: null }],
    transactions: [
      {
        ...{ id: coming.id, from: ['PENDING'], to: 'FAILED', reason: 'so the rail says' },
        set: { failure_reason: 'OFFRAMP_FAILED' },
      },
    ],
  }),
];

/** Executes a quote. */
function execution(of: number): Group {
  const { id, transaction } = quotes[of] ?? { id: '', transaction: '' };
  const move = { from: ['PENDING'], to: 'PROCESSING', reason: 'executed' };
  return [
    plan({
      quotes: [{ id, expiry: 'before', ...move }],
      transactions: [{ id: transaction, expectedInMs: 500, set: {}, ...move }],
      journals: [
        { kind: 'debit', transactionId: transaction, legs: [leg(uuidOf(scenes[0].usd), -200), clearing(200)] },
      ],
      result: { type: 'Quote', id },
    }),
  ];
}

/** A deposit for a quote: it executes the quote, or is credited where the quote has expired. */
function paidIn(of: number, amount: number): Group {
  const { id, transaction } = quotes[of] ?? { id: '', transaction: '' };
  const account = uuidOf(scenes[0].usd);
  const outside = { system: 'OUTSIDE', currency: 'USD', amount: String(-amount) };
  const arrived = { kind: 'deposit', transactionId: transaction, legs: [outside, leg(account, amount)] };
  const fails = { from: ['PENDING'], to: 'FAILED', reason: 'it came late' };
  const [executed] = execution(of);
  return [
    plan({
      ...executed?.plan,
      journals: [arrived, { kind: 'debit', transactionId: transaction, legs: [leg(account, -200), clearing(200)] }],
      otherwise: {
        quotes: [{ id, ...fails }],
        transactions: [{ id: transaction, set: { failure_reason: 'QUOTE_EXPIRED' }, ...fails }],
        journals: [arrived],
        otherwise: { expired: [{ id }], journals: [arrived] },
      },
    }),
  ];
}

/** Marks a quote EXPIRED whose time is over. */
function expiry(of: number): Group {
  const { id, transaction } = quotes[of] ?? { id: '', transaction: '' };
  const ends = { from: ['PENDING'], to: 'EXPIRED', reason: 'its time is over' };
  return [
    plan({
      quotes: [{ id, expiry: 'after', ...ends }],
      transactions: [{ id: transaction, set: { failure_reason: 'QUOTE_EXPIRED' }, ...ends }],
    }),
  ];
}

/** Moves money from one account here to the other. */
function move(of: number, amount: number): Group {
  const [from, to] = of === 0 ? scenes : [scenes[1], scenes[0]];
  return [plan({ journals: [{ kind: 'move', legs: [leg(uuidOf(from.usd), -amount), leg(uuidOf(to.usd), amount)] }] })];
}

const deleted = (of: number): Group => [
  plan({ customers: [{ id: uuidOf((scenes[of] ?? scenes[0]).customerId), set: { is_deleted: true } }] }),
];
const closed = (of: number): Group => [
  plan({
    accounts: [
      { id: uuidOf((scenes[of] ?? scenes[0]).outsideUsd), from: ['ACTIVE'], to: 'INACTIVE', reason: 'closed', set: {} },
    ],
  }),
];

const either = fc.integer({ min: 0, max: 1 });
const third = fc.integer({ min: 0, max: 2 });
const amount = fc.integer({ min: 1, max: 400 });
const anyGroup = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(either, amount, fc.option(fc.constantFrom('a', 'b'), { nil: undefined }))
      .map((a) => () => payout(...a)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(either, fc.constantFrom(5, 4_600_000_000_000_000), fc.boolean())
      .map((a) => () => collection(...a)),
  },
  { weight: 4, arbitrary: fc.tuple(third, fc.boolean()).map((a) => () => outcome(...a)) },
  { weight: 2, arbitrary: fc.constant(() => uncollected()) },
  { weight: 4, arbitrary: third.map((of) => () => execution(of)) },
  { weight: 4, arbitrary: fc.tuple(third, amount).map((a) => () => paidIn(...a)) },
  { weight: 2, arbitrary: third.map((of) => () => expiry(of)) },
  { weight: 2, arbitrary: fc.tuple(either, amount).map((a) => () => move(...a)) },
  { weight: 1, arbitrary: either.map((of) => () => deleted(of)) },
  { weight: 1, arbitrary: either.map((of) => () => closed(of)) },
  // Two sides that happen together or not at all.
  {
    weight: 2,
    arbitrary: fc.tuple(third, fc.boolean(), either, amount).map(([of, fails, to, much]) => () => [
      ...outcome(of, fails),
      ...move(to, much),
    ]),
  },
);

/** What the database holds, without moments and what is made anew each time. */
async function stateNow(): Promise<unknown> {
  const { rows } = await sql.query(`select
    (select jsonb_agg(jsonb_build_array(a.id, a.posted, a.version, a.status) order by a.id) from account a) as accounts,
    (select jsonb_agg(jsonb_build_array(t.id, t.status, t.version, t.refund_amount) order by t.id) from transaction t) as transactions,
    (select jsonb_agg(jsonb_build_array(q.id, q.status, q.version) order by q.id) from quote q) as quotes,
    (select jsonb_agg(jsonb_build_array(o.id, o.due_at is null) order by o.id) from rail_order o) as orders,
    (select jsonb_agg(jsonb_build_array(r.key, r.refusal, r.result -> 'row' -> 'id') order by r.key) from idempotency_record r
      where r.operation = 'together') as records,
    (select jsonb_agg(e.told order by e.thing, e.id) from (
      select o.id, coalesce(o.account_id, o.quote_id, o.transaction_id, o.customer_id) as thing,
        jsonb_build_array(o.type, coalesce(o.account_id, o.quote_id, o.transaction_id, o.customer_id), o.version,
                          o.previous_status, o.status, o.old_balance, o.new_balance) as told
      from outbox o) e) as events`);
  return rows[0];
}

const told = ({ outcome: kind, refusal, result }: Data) => ({
  kind,
  refusal: refusal ?? null,
  row: result?.row && { id: result.row.id, status: result.row.status, version: result.row.version },
});

/** Answers and what is left, or what was raised; nothing of it stays. */
async function attempt(act: () => Promise<Data[]>): Promise<unknown> {
  await sql.query('begin');
  try {
    const answers = await act();
    await sql.query('set constraints all immediate');
    return { answers: answers.map(told), state: await stateNow() };
  } catch (error) {
    if (error instanceof pg.DatabaseError) return { raised: error.code };
    throw error;
  } finally {
    await sql.query('rollback');
  }
}

test('plans that share a transaction come to the same as one after another, whatever they have in common', async () => {
  let possible = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyGroup, { minLength: 2, maxLength: 9 }), async (makers) => {
      const groups = makers.map((make) => make());
      const together = await attempt(() => commit(groups));
      const oneByOne = await attempt(async () => {
        const answers: Data[] = [];
        for (const group of groups) answers.push(...(await commit([group])));
        return answers;
      });
      expect(together).toEqual(oneByOne);
      if (together instanceof Object && 'answers' in together) possible += 1;
    }),
    { numRuns: 150 },
  );
  // Most of what was made up could be carried out, so that something was compared.
  expect(possible).toBeGreaterThan(75);
});
