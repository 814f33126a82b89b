import type pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { deposit } from '../../src/domain/commands/movements.ts';
import { commitGroupsOn } from '../../src/domain/ledger/commit.ts';
import type { Plan, PlanGroup } from '../../src/domain/ledger/plan.ts';
import { ownClient, testClient, testGateway, untilWaiting, uuidIn } from '../setup/gateway.ts';
import type { Scene } from '../setup/scene.ts';

// Two transactions that need the same rows lock them in the same order (prisma/functions/commit/lock_plans.sql), so
// that one waits for the other instead of deadlocking. In these tests, one connection holds the locks that the others
// are waiting for.

const t = await testGateway({ SANDBOX_PACE_MS: 600_000, ROLE: 'serve' });
const [one, other] = [await testClient(t), await testClient(t)];
let scenes: Scene[];
let holder: pg.Client;
beforeEach(async () => {
  scenes = [await t.platform.makeScene(10_000n), await t.platform.makeScene(10_000n)];
  holder = await ownClient(t.databaseUrl);
  await holder.query('begin');
});

const group = (...plans: Plan[]): PlanGroup => plans.map((plan) => ({ platformId: t.platform.platformId, plan }));

const hold = (id: string) => holder.query('select from account where id = $1 for update', [id]);

test.each([
  ['on the same account', 0],
  ['on another account', 1],
])('a batch waits for a single call that has claimed one of its keys, and both succeed: %s', async (_where, at) => {
  const accounts = scenes.map(({ usd }) => uuidIn(usd));
  const [mine, its] = accounts;
  const plan = (account = '', key = ''): PlanGroup =>
    group({ journals: [deposit(account, 'USD', 1n)], claim: { operation: 'batch', key, hash: 'aa' } });
  // The single call already holds its key and is waiting for a locked account when the batch arrives with the same key.
  await hold(mine ?? '');
  const first = commitGroupsOn(one, [plan(mine, `shared-${at}`)]);
  await untilWaiting(t.owner, 1);
  const second = commitGroupsOn(other, [plan(its, `its-own-${at}`), plan(accounts[at], `shared-${at}`)]);
  await untilWaiting(t.owner, 2);
  await holder.query('rollback');
  expect(await first).toMatchObject([{ kind: 'done', replayed: false }]);
  expect(await second).toMatchObject([
    { kind: 'done', replayed: false },
    { kind: 'done', replayed: true },
  ]);
});

test('two transactions, each changing rows that the other only reads, lock all rows in the same order', async () => {
  const [low = '', high = ''] = scenes.map(({ outsideUsd }) => uuidIn(outsideUsd)).toSorted();
  const [lowCustomer = '', highCustomer = ''] = scenes.map(({ customerId }) => uuidIn(customerId)).toSorted();
  const plan = (changed: string, looked: string, changedCustomer: string, lookedCustomer: string): PlanGroup[] => [
    group({ requireActive: { accounts: [looked], customers: [lookedCustomer] } }),
    group({
      accounts: [{ id: changed, from: ['ACTIVE'], to: 'UNDER_REVIEW', reason: 'looked at' }],
      customers: [{ id: changedCustomer, set: { name: 'Grace Brewster Hopper' } }],
    }),
  ];
  for (const [table, lowest, highest] of [
    ['customer', lowCustomer, highCustomer],
    ['account', low, high],
  ] as const) {
    await holder.query(`select from ${table} where id = $1 for update`, [lowest]);
    const commits = [
      commitGroupsOn(one, plan(low, high, lowCustomer, highCustomer)),
      commitGroupsOn(other, plan(high, low, highCustomer, lowCustomer)),
    ];
    await untilWaiting(t.owner, 2);
    // Both transactions are waiting for the first of the two rows, and neither has locked the second.
    await holder.query(`select from ${table} where id = $1 for update nowait`, [highest]);
    await holder.query('rollback');
    await holder.query('begin');
    // The second transaction may be refused, because it sees the accounts as the first one left them.
    for (const outcomes of await Promise.all(commits)) expect(outcomes).toHaveLength(2);
  }
});
