import { expect, test } from 'vitest';
import { divideIntoBatches } from '../../src/domain/ledger/batches.ts';
import type { Leg, Plan, PlanGroup } from '../../src/domain/ledger/plan.ts';

// test/ledger/together.test.ts runs batches on a database, and compares the results with those of running the plans
// one by one.

const on = (account: string, amount = 1n): Leg => ({ account, currency: 'USD', amount });
const pays = (account: string, requireActive = {}): Plan => ({
  requireActive,
  journals: [{ kind: 'debit', legs: [on(account, -1n)] }],
});
const concludes = (...orders: string[]): Plan => ({ orders: orders.map((id) => ({ id, dueInMs: null })) });
const spend = { transactionId: 't', kind: 'TRANSFER_OUT', amount: 1n, currency: 'USD', subjects: [] } as const;
const limited: Plan = { spend: { ...spend, accountId: null, country: null, umaAddress: null } };
/** Returns the positions of the groups in each batch, for example "0 2 | 1". */
const divided = (groups: readonly PlanGroup[]) =>
  divideIntoBatches(groups)
    .map((batch) => batch.join(' '))
    .join(' | ');
const batchesOf = (...plans: Plan[]) => divided(plans.map((plan) => [{ platformId: 'p', plan }]));

test('plans with nothing in common form one batch, in order', () => {
  expect(batchesOf(pays('a'), pays('b'), {}, pays('c'))).toBe('0 1 2 3');
});

test('plans that read, but do not change, the same customers and external accounts share a batch', () => {
  const ready = { customers: ['someone'], accounts: ['outside'] };
  expect(batchesOf(pays('a', ready), pays('b', ready))).toBe('0 1');
});

test('plans for the same account share a batch and keep their order', () => {
  expect(batchesOf(pays('hot'), pays('a'), pays('hot'))).toBe('0 1 2');
  const later: Plan = { ...concludes('x'), ...pays('hot') };
  expect(batchesOf(concludes('x'), later, pays('hot'), pays('a'))).toBe('0 3 | 1 2');
});

test("a plan that depends on an account's balance comes after earlier movements of money and before later ones", () => {
  const arrives: Plan = { capacity: [{ account: 'a', amount: 1n }] };
  const showsAccount: Plan = { result: { type: 'Account', id: 'a' } };
  for (const reader of [arrives, showsAccount]) {
    expect(batchesOf(pays('a'), reader, pays('a'), pays('b'))).toBe('0 3 | 1 | 2');
  }
});

test('plans for the same order go into successive batches, together with other plans', () => {
  expect(batchesOf(concludes('x'), pays('a'), concludes('x'), pays('b'), concludes('x'))).toBe('0 1 3 | 2 | 4');
});

test('a plan comes after all earlier plans that share rows with it, and before all later ones that do', () => {
  const orders = ['a', ['a', 'b'], 'b', 'a', 'c'].map((ids) => concludes(...ids));
  expect(batchesOf(...orders)).toBe('0 4 | 1 | 2 3');
});

test('a group shares rows with another plan if any plan in the group does', () => {
  const group = [
    { platformId: 'p', plan: concludes('a') },
    { platformId: 'q', plan: concludes('b') },
  ];
  expect(divided([[{ platformId: 'p', plan: concludes('b') }], group])).toBe('0 | 1');
});

test('the same idempotency key on two platforms counts as two keys', () => {
  const plan: Plan = { claim: { operation: 'transferOut', key: 'k', hash: '' } };
  const groups = ['p', 'p', 'q'].map((platformId) => [{ platformId, plan }]);
  expect(divided(groups)).toBe('0 2 | 1');
});

test('a deletion does not share a batch with money movements or payments', () => {
  const deletion: Plan = { customers: [{ id: 'someone', set: { isDeleted: true } }] };
  const moves: Plan = { transactions: [{ id: 'payment', from: ['PROCESSING'], to: 'COMPLETED' }] };
  const rename: Plan = { customers: [{ id: 'another', set: { name: 'Grace' } }] };
  expect(batchesOf(pays('a'), deletion, pays('b'))).toBe('0 | 1 | 2');
  expect(batchesOf(moves, deletion, moves)).toBe('0 | 1 | 2');
  const begins: Plan = { insert: { transaction: [] } };
  expect(batchesOf(begins, deletion, begins)).toBe('0 | 1 | 2');
  expect(batchesOf(begins, begins)).toBe('0 1');
  expect(batchesOf(pays('a'), rename, pays('b'), moves)).toBe('0 1 2 3');
});

test('a payment that policies may limit does not share a batch with a payment that ends without delivery', () => {
  const fails: Plan = { transactions: [{ id: 'payment', from: ['PROCESSING'], to: 'FAILED' }] };
  expect(batchesOf(limited, limited, fails, limited)).toBe('0 1 | 2 | 3');
});

test('payments that policies may limit share a batch and keep their order', () => {
  expect(batchesOf(limited, concludes('x'), { ...concludes('x'), ...limited }, limited)).toBe('0 1 | 2 3');
});

test('an alternative is refused before anything is sent if it changes rows that its plan does not name', () => {
  const quotes: Plan['quotes'] = [{ id: 'quote', from: ['PENDING'], to: 'PROCESSING' }];
  const journals = pays('a').journals ?? [];
  expect(batchesOf({ quotes, journals, otherwise: { journals, otherwise: { expired: [{ id: 'quote' }] } } })).toBe('0');
  for (const otherwise of [
    { expired: [{ id: 'other' }] },
    { journals: pays('b').journals ?? [] },
    { otherwise: { expired: [{ id: 'other' }] } },
  ]) {
    expect(() => batchesOf({ quotes, journals, otherwise })).toThrow(
      'an alternative changes rows that its plan does not name',
    );
  }
});
