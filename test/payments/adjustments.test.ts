import { expect, test } from 'vitest';
import { approveAdjustment, rejectAdjustment } from '../../src/domain/commands/adjustments.ts';
import { adjustment as journalOf } from '../../src/domain/commands/movements.ts';
import { commitPlanOn } from '../../src/domain/ledger/commit.ts';
import type { Plan } from '../../src/domain/ledger/plan.ts';
import { type Data, tester, testGateway, triedAs, uuidIn, withoutTriggers } from '../setup/gateway.ts';
import { askOps, runOps } from '../setup/ops.ts';

// Operators correct a balance: one person proposes the adjustment, and another approves it (decision 81).

const t = await testGateway();
const scene = await t.platform.makeScene(10_000n);

const ops = (...args: string[]) => runOps(t.databaseUrl, args);
const answer = (...args: string[]) => askOps(t.databaseUrl, args);
const maker = ['--by', 'Ada Lovelace', '--reason', 'a fee was charged twice'];
const checker = ['--by', 'Grace Hopper', '--reason', 'seen in the bank statement'];
const propose = (...amount: string[]) =>
  answer('adjust', 'propose', scene.usd, '--currency', 'USD', ...amount, ...maker);
const balance = () => t.platform.balanceOf(scene.usd);

test('a proposal moves no money until another person approves it; the API and the operator commands then show the correction', async () => {
  const before = await balance();
  const made = await propose('--credit', '12.50');
  expect(made).toMatchObject({ status: 'PROPOSED', amount: '12.50 USD', proposedBy: 'Ada Lovelace', decidedBy: null });
  expect(await balance()).toBe(before);
  expect((await answer('adjust', 'list')).map(({ adjustment }: Data) => adjustment)).toEqual([made.adjustment]);

  const spellings = [' ada  LOVELACE', 'Ada-Lovelace.', 'Adá Lovelacé', 'Ａｄａ Lovelace', 'Ada\u00a0Lovelace'];
  const approveAs = (by: string) => ops('adjust', 'approve', made.adjustment, '--by', by, '--reason', 'it is right');
  const err = `${made.adjustment} must be approved by someone other than the person who proposed it`;
  for (const alone of spellings) expect(await approveAs(alone)).toMatchObject({ code: 1, err });
  const invisible = { code: 2, err: expect.stringContaining('It must not have the invisible character U+200B') };
  expect(await approveAs('Love\u200blace')).toMatchObject(invisible);
  expect(await balance()).toBe(before);

  expect(await answer('adjust', 'approve', made.adjustment, ...checker)).toMatchObject({ status: 'APPROVED' });
  const updates = 'subscription ($id: ID!) { accountUpdates(of: { accountId: $id }) { newBalance { amount } } }';
  const hasRisen = ({ newBalance }: Data) => BigInt(newBalance.amount) === before + 1_250n;
  await t.platform.followed(updates, { id: scene.usd }, hasRisen);
  expect(await balance()).toBe(before + 1_250n);
  expect(await answer('adjust', 'list')).toEqual([]);
  const all = await answer('adjust', 'list', '--all');
  expect(all).toMatchObject([{ adjustment: made.adjustment, status: 'APPROVED', decidedBy: 'Grace Hopper' }]);

  const period = ['--from', '2020-01-01T00:00:00Z', '--to', '2100-01-01T00:00:00Z'];
  const { entries } = await answer('statement', scene.usd, ...period);
  expect(entries.at(-1)).toMatchObject({ kind: 'adjustment', amount: '1250', transactionId: null });
  const entry = 'ledgerEntries(first: 1) { edges { node { kind transaction { id } } } }';
  const account = await t.platform.fieldsOf('account', scene.usd, `... on InternalAccount { ${entry} }`);
  expect(account.ledgerEntries.edges[0].node).toMatchObject({ kind: 'ADJUSTMENT', transaction: null });

  const [proposer, approver] = ['Ada Lovelace', 'Grace Hopper'];
  expect(await answer('acts', '--subject', made.adjustment)).toMatchObject([
    { act: 'adjust approve', by: approver, after: { status: 'APPROVED' }, before: { proposedBy: proposer } },
    { act: 'adjust propose', by: proposer, after: { account: scene.usd, amount: '12.50 USD' } },
  ]);
  // A proposal can only be decided once.
  const decided = { code: 1, err: `${made.adjustment} is already APPROVED` };
  for (const decision of ['approve', 'reject'])
    expect(await ops('adjust', decision, made.adjustment, ...checker)).toMatchObject(decided);
  expect(await balance()).toBe(before + 1_250n);
});

test('rejected and expired proposals move no money; a debit cannot take frozen money or overdraw the account', async () => {
  const before = await balance();
  const rejected = await propose('--debit', '1');
  expect(await answer('adjust', 'reject', rejected.adjustment, ...maker)).toMatchObject({ status: 'REJECTED' });
  expect((await ops('adjust', 'approve', rejected.adjustment, ...checker)).err).toContain('is already REJECTED');

  const late = await propose('--debit', '1');
  await withoutTriggers(t.databaseUrl, (client) =>
    client.query(
      `update adjustment set expires_at = clock_ms(), proposed_at = clock_ms() - interval '7 days' where status = 'PROPOSED'`,
    ),
  );
  const expired = { err: `${late.adjustment} has expired: propose it again` };
  expect(await ops('adjust', 'approve', late.adjustment, ...checker)).toMatchObject(expired);
  expect(await answer('adjust', 'list')).toEqual([]);

  const debit = await propose('--debit', '1000000');
  const beyond = await ops('adjust', 'approve', debit.adjustment, ...checker);
  expect(beyond.err).toMatch(/^nothing done: the account holds/);
  const small = await propose('--debit', '1');
  await answer('account', 'freeze', scene.usd, ...maker);
  expect((await ops('adjust', 'approve', small.adjustment, ...checker)).err).toMatch(/^nothing done: .*frozen/);
  await answer('account', 'thaw', scene.usd, ...maker);
  expect(await balance()).toBe(before);
  expect(await answer('adjust', 'approve', small.adjustment, ...checker)).toMatchObject({ amount: '-1.00 USD' });
  expect(await balance()).toBe(before - 100n);
});

test('an invalid proposal is refused, and the refusal says what is wrong', async () => {
  const refused = async (account: string, ...rest: string[]) =>
    (await ops('adjust', 'propose', account, ...rest, ...maker)).err;
  const usd = ['--currency', 'USD'];
  expect(await refused(scene.outsideUsd, ...usd, '--credit', '1')).toBe(
    `there is no internal account ${scene.outsideUsd}`,
  );
  expect(await refused(scene.usd, '--currency', 'EUR', '--credit', '1')).toBe(`${scene.usd} is in USD, not in EUR`);
  for (const [amount, words] of [
    ['1.234', 'USD has at most 2 decimal places, but 1.234 has 3'],
    ['-1', 'the amount must be at least 0.01 USD'],
    ['0', 'the amount must be at least 0.01 USD'],
    ['one', 'an amount in major units must be digits'],
    ['1e3', 'an amount in major units must be digits'],
  ] as const)
    expect(await refused(scene.usd, ...usd, '--credit', amount)).toContain(words);
  expect(await refused(scene.usd, ...usd)).toContain('Give the amount: --credit or --debit.');
  for (const wrong of [
    [...usd, '--credit', '1', '--debit', '1'],
    ['--currency', 'XXX', '--credit', '1'],
  ])
    expect((await ops('adjust', 'propose', scene.usd, ...wrong, ...maker)).code).toBe(2);
  expect((await ops('adjust', 'propose', scene.usd, ...usd, '--credit', '1', '--by', 'Ada')).code).toBe(2);
  const unknown = 'Adjustment:0197f2a0-0000-7000-8000-000000000001';
  expect((await ops('adjust', 'approve', unknown, ...checker)).err).toBe(`there is no ${unknown}`);
});

test('only one of several concurrent approvals moves the money, and no other plan can adjust a balance', async () => {
  const { database } = t.gateway.payments;
  const before = await balance();
  const { adjustment } = await propose('--credit', '2');
  const approvals = await Promise.allSettled(
    ['Grace', 'Joan', 'Mary'].map((by) => approveAdjustment(database, adjustment, { ...tester, by })),
  );
  expect(approvals.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(await balance()).toBe(before + 200n);

  const other = await propose('--credit', '3');
  const [id, account] = [other.adjustment, scene.usd].map((one) => uuidIn(one));
  const approval = { id: id ?? '', by: 'Grace' };
  const journal = journalOf(account ?? '', 'USD', 300n);
  const plans: readonly Plan[] = [
    { journals: [journal] },
    { journals: [{ ...journal, kind: 'deposit' }] },
    { adjustments: [approval], journals: [journalOf(account ?? '', 'USD', 301n)] },
    { adjustments: [approval], journals: [journal, journalOf(account ?? '', 'USD', 1n)] },
    { adjustments: [approval] },
    { adjustments: [approval, approval], journals: [journal] },
    { adjustments: [{ ...approval, id: '0197f2a0-0000-7000-8000-00000000000a' }], journals: [journal] },
  ];
  for (const plan of plans) {
    await expect(commitPlanOn(database.pool, t.platform.platformId, plan)).rejects.toMatchObject({ code: 'LG012' });
  }
  // The role that runs commands cannot approve anything itself, and a proposal is immutable.
  const as = (role: string, text: string) => triedAs(t, role, text);
  const approve = `update adjustment set status = 'APPROVED', decided_by = 'x', decided_at = now() where status = 'PROPOSED'`;
  expect(await as('gateway_work', approve)).toBe('23514');
  expect(await as('gateway_work', 'update adjustment set journal_id = uuid_v7()')).toBe('42501');
  expect(await as('gateway_serving', 'select from adjustment')).toBe('42501');
  expect(await as('owner', 'delete from adjustment')).toBe('LG001');
  const reject = approve.replace("'APPROVED'", "'REJECTED', amount = 1");
  expect(await as('owner', reject)).toBe('LG001');
  await rejectAdjustment(database, other.adjustment, tester);
  expect(await balance()).toBe(before + 200n);
});
