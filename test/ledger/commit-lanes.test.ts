import pg from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { CommitLanes, LockTimeout } from '../../src/domain/ledger/commit-lanes.ts';
import type { Plan } from '../../src/domain/ledger/plan.ts';
import { ownClient, testClient, testGateway, untilWaiting, uuidIn } from '../setup/gateway.ts';
import type { Scene } from '../setup/scene.ts';

// Only one of three connections commits plans, so all plans share one lane.
// A payment whose operation times out may still be made, so the time limit is longer than even a slow machine needs.
const settings = { SANDBOX_PACE_MS: 600_000, DATABASE_POOL: 3 };
const t = await testGateway(settings, undefined, { pace: { operationMs: 60_000 } });
const database = await testClient(t);

afterEach(() => {
  vi.useRealTimers();
});

/** Makes a payment, and returns it or the refusal. */
const pay = (scene: Scene, amount = 100) => t.platform.transfer('transferOut', scene, amount);

/** Locks accounts from another connection until the returned function is called. */
async function hold(lock: string, ...ids: string[]): Promise<() => Promise<void>> {
  const holder = await ownClient(t.databaseUrl);
  await holder.query('begin');
  await holder.query(`select from account where id = any ($1) for ${lock}`, [ids.map(uuidIn)]);
  return async () => void (await holder.query('rollback'));
}

test('if another connection has locked an account, payments from that account fail, but others submitted with them succeed', async () => {
  const stuck = await t.platform.makeScene(10_000n);
  const free = await t.platform.makeScene(10_000n);
  const release = await hold('update', stuck.usd);
  const payers = [free, stuck, free, free, stuck, free];
  const paid = await Promise.all(payers.map((scene) => pay(scene)));
  await release();
  const message = 'too many concurrent payments on the same account; try again';
  const refused = { code: 'SERVICE_UNAVAILABLE', message };
  expect(paid).toMatchObject(payers.map((scene) => (scene === stuck ? refused : { status: 'PENDING' })));
});

test('a payment refused because of a locked account is not made later, and does not delay other payments', async () => {
  const stuck = await t.platform.makeScene(10_000n);
  const free = await t.platform.makeScene(10_000n);
  const release = await hold('update', stuck.usd);
  // With more than twenty payments, some would time out on a busy machine while they wait for each other.
  const outcome = () => pay(stuck).then(({ code }) => code, String);
  const refused = Promise.all(Array.from({ length: 20 }, outcome));
  expect(await pay(free)).toHaveProperty('status');
  for (const each of await refused) expect(each).toMatch(/^SERVICE_UNAVAILABLE$|unreachable or overloaded/);
  await release();
  const { id } = await pay(stuck);
  const { rows } = await database.query('select id from transaction where source_account_id = $1', [uuidIn(stuck.usd)]);
  expect(rows).toEqual([{ id: uuidIn(id) }]);
});

test('payments to the same external account do not wait for each other', async () => {
  const scene = await t.platform.makeScene(10_000n);
  // Another connection holds the same shared lock that a payment to this account takes.
  const release = await hold('share', scene.outsideUsd);
  expect(await pay(scene)).toHaveProperty('status');
  await release();
});

test('concurrent payments share transactions, and each caller gets the payment that it requested', async () => {
  const stuck = await t.platform.makeScene(10_000n);
  const scenes = [await t.platform.makeScene(10_000n), await t.platform.makeScene(10_000n)];
  const asked = Array.from({ length: 40 }, (_, at) => ({ amount: at + 1, scene: scenes[at % 2] }));
  // While one payment waits for its account, the others arrive.
  const release = await hold('update', stuck.usd);
  const first = pay(stuck);
  await untilWaiting(t.owner, 1);
  const paying = Promise.all(asked.map(({ amount, scene }) => scene && pay(scene, amount)));
  await first;
  await release();
  const paid = await paying;
  const text = `select t.id, t.sent_amount::int as amount, t.source_account_id as account, t.xmin::text as written
    from transaction t where t.id = any ($1)`;
  const { rows } = await database.query(text, [paid.map(({ id }) => uuidIn(id))]);
  for (const [at, { amount, scene }] of asked.entries()) {
    const row = rows.find(({ id }) => id === uuidIn(paid[at].id));
    expect(row).toMatchObject({ amount, account: uuidIn(scene?.usd ?? '') });
  }
  // How many payments share a transaction depends on how fast they arrive, so it is enough that some of them do.
  expect(new Set(rows.map(({ written }) => written)).size).toBeLessThan(asked.length);
});

test('payments in one transaction lock their accounts in the same order, regardless of their order of arrival', async () => {
  const [stuck, one, other] = [
    await t.platform.makeScene(),
    await t.platform.makeScene(),
    await t.platform.makeScene(),
  ];
  const [low, high] = one.usd < other.usd ? [one, other] : [other, one];
  const releases = [await hold('update', stuck.usd), await hold('update', low.usd)];
  // The other payments wait behind the first one, and are then committed together.
  const first = pay(stuck);
  await untilWaiting(t.owner, 1);
  const paid = [high, low].map((scene) => pay(scene));
  expect(await first).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  await untilWaiting(t.owner, 1);
  await database.query('select from account where id = $1 for update nowait', [uuidIn(high.usd)]);
  for (const release of releases) await release();
  expect((await Promise.all(paid)).map(({ code }) => code ?? 'PAID')).toEqual(['PAID', 'PAID']);
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a plan that has waited longer than the connection timeout is not started', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const begun: string[] = [];
  const first = Promise.withResolvers<string>();
  const alone = ({ platformId }: { platformId: string }) => {
    begun.push(platformId);
    return begun.length === 1 ? first.promise : Promise.resolve('done');
  };
  const pool = new pg.Pool({ max: 3, connectionTimeoutMillis: 5_000 });
  const lanes = new CommitLanes<string>(pool, { alone, together: () => Promise.reject(new Error('nothing to share')) });
  const added = lanes.add('first', {});
  await turn();
  const outcomes = Promise.allSettled([added, lanes.add('too late', {})]);
  vi.advanceTimersByTime(5_001);
  const last = lanes.add('last', {});
  first.resolve('done');
  expect(await last).toBe('done');
  expect(await outcomes).toMatchObject([{ value: 'done' }, { reason: expect.any(LockTimeout) }]);
  expect(begun).toEqual(['first', 'last']);
});

/** Builds two lanes. The test decides when their transactions finish. */
function lanesByHand() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const commit = (names: readonly string[]) => {
    begun.push(names.join('+'));
    return new Promise<string[]>((resolve) => ends.set(names.join('+'), () => resolve([...names])));
  };
  const lanes = new CommitLanes<string>(new pg.Pool({ max: 6 }), {
    alone: async ({ platformId }) => (await commit([platformId]))[0] ?? '',
    together: (plans) => commit(plans.map(({ platformId }) => platformId)),
  });
  return { lanes, begun, end: (name = begun.at(-1) ?? '') => ends.get(name)?.() };
}

test('plans behind a slow transaction move to another lane, unless they use the same account', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  const { lanes, begun, end } = lanesByHand();
  const on = (account: string): Plan => ({
    journals: [{ kind: 'debit', legs: [{ account, currency: 'USD', amount: -1n }] }],
  });
  const first = lanes.add('first', on('a'));
  await turn();
  const rest = [lanes.add('same account', on('a')), lanes.add('another', on('b')), lanes.add('none', {})];
  vi.advanceTimersByTime(49);
  await turn();
  expect(begun).toEqual(['first']);
  vi.advanceTimersByTime(1);
  await turn();
  expect(begun).toEqual(['first', 'another+none']);
  // A new plan does not wait for the slow transaction either.
  const late = lanes.add('late', on('c'));
  end('another+none');
  await turn();
  expect(begun.at(-1)).toBe('late');
  end('late');
  end('first');
  await turn();
  expect(begun.at(-1)).toBe('same account');
  end('same account');
  expect(await Promise.all([first, ...rest, late])).toEqual(['first', 'same account', 'another', 'none', 'late']);
});

test('a lane that becomes free takes over the plans queued behind a slow transaction', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { lanes, begun, end } = lanesByHand();
  const added: Promise<string>[] = [];
  for (const name of ['slow', 'slow too']) {
    added.push(lanes.add(name, {}));
    await turn();
    vi.advanceTimersByTime(50);
  }
  added.push(lanes.add('one', {}), lanes.add('two', {}));
  await turn();
  expect(begun).toEqual(['slow', 'slow too']);
  end('slow too');
  await turn();
  // The plans queued behind the finished transaction start first, then those behind the other transaction.
  expect(begun.slice(2).join(' ')).toMatch(/^(one\+two|one|two)$/);
  end();
  await turn();
  end();
  await turn();
  expect(new Set(begun.slice(2).join('+').split('+'))).toEqual(new Set(['one', 'two']));
  end('slow');
  expect(await Promise.all(added)).toEqual(['slow', 'slow too', 'one', 'two']);
});
