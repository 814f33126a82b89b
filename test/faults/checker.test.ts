import { expect, test } from 'vitest';
import { check } from './checker.ts';
import type { Change, Command, Evidence } from './history.ts';

// Each test breaks one promise in evidence that is sound, and the checker must name it.

const command = (key: string, rest: Partial<Command> = {}): Command => ({
  key,
  operation: 'transferOut',
  accountId: 'A',
  change: -100n,
  outcome: 'succeeded',
  transactionIds: [`T-${key}`],
  during: 'a kill',
  ...rest,
});
const change = (sequence: bigint, id: string, status: string, version: number): Change => ({
  id: `E${sequence}`,
  sequence,
  payment: { id, status, version },
});

const execution = (rest: Partial<Command> = {}) =>
  command('execute', {
    operation: 'executeQuote',
    change: 0n,
    transactionIds: ['T-quote'],
    transactionId: 'T-quote',
    ...rest,
  });

const feed = [
  { id: 'E8', sequence: 8n },
  change(9n, 'T-out', 'PENDING', 1),
  change(10n, 'T-quote', 'PENDING', 1),
  change(11n, 'T-out', 'COMPLETED', 2),
  change(12n, 'T-quote', 'PROCESSING', 2),
  change(13n, 'T-quote', 'COMPLETED', 3),
];

/** An acknowledged transfer, a quote and its execution, a refused transfer and an unknown one that never happened. */
const sound: Evidence = {
  history: [
    command('out'),
    command('quote', { operation: 'createQuote', change: -1_000n }),
    execution(),
    command('refused', { outcome: 'refused', code: 'INSUFFICIENT_BALANCE', transactionIds: [] }),
    command('unknown', { outcome: 'unknown', transactionIds: [] }),
  ],
  internalErrors: [],
  receipts: new Map([
    ['out', { outcome: 'SUCCEEDED' }],
    ['quote', { outcome: 'SUCCEEDED' }],
    ['execute', { outcome: 'SUCCEEDED' }],
    ['refused', { outcome: 'REFUSED' }],
    ['unknown', { outcome: 'NONE' }],
  ]),
  payments: [
    { id: 'T-out', description: 'out', status: 'COMPLETED' },
    { id: 'T-quote', description: 'quote', status: 'COMPLETED' },
  ],
  start: 7n,
  feed,
  followers: new Map([['socket', feed.map(({ id }) => id)]]),
  webhooks: new Set(['E9', 'E10', 'E11', 'E12', 'E13']),
  balances: new Map([['A', { before: 5_000n, after: 3_900n }]]),
  // Of 10 dollars each.
  usage: new Map([['A', { payments: 2, amount: 2_000n }]]),
  breaches: [],
};

const kinds = (evidence: Partial<Evidence>) => [
  ...new Set(check({ ...sound, ...evidence }).map(({ kind }) => kind as string)),
];
const without = <T>(list: readonly T[], at: number) => list.toSpliced(at, 1);
const withPayment = (description: string) => ({
  payments: [...sound.payments, { id: 'T-more', description, status: 'COMPLETED' }],
  feed: [...feed, change(14n, 'T-more', 'PENDING', 1), change(15n, 'T-more', 'COMPLETED', 2)],
  followers: new Map([['socket', [...feed.map(({ id }) => id), 'E14', 'E15']]]),
  webhooks: new Set([...sound.webhooks, 'E14', 'E15']),
  balances: new Map([['A', { before: 5_000n, after: 3_800n }]]),
  usage: new Map([['A', { payments: 3, amount: 3_000n }]]),
});
const withReceipt = (key: string, outcome?: 'NONE' | 'SUCCEEDED' | 'REFUSED') => {
  const receipts = new Map(sound.receipts);
  if (outcome) receipts.set(key, { outcome });
  else receipts.delete(key);
  return { receipts };
};

test('sound evidence breaks no promise', () => {
  expect(check(sound)).toEqual([]);
});

test('an acknowledged payment that is lost is found, with the fault that was on', () => {
  const violations = check({ ...sound, payments: without(sound.payments, 0) });
  expect(violations).toContainEqual(expect.objectContaining({ kind: 'lost', during: 'a kill' }));
});

test('an acknowledged execution that is lost is found', () => {
  const unexecuted = feed.slice(0, 4);
  expect(
    kinds({
      feed: unexecuted,
      followers: new Map([['socket', unexecuted.map(({ id }) => id)]]),
      webhooks: new Set(['E9', 'E10', 'E11']),
      payments: [
        { id: 'T-out', description: 'out', status: 'COMPLETED' },
        { id: 'T-quote', description: 'quote', status: 'PENDING' },
      ],
      balances: new Map([['A', { before: 5_000n, after: 4_900n }]]),
      usage: new Map([['A', { payments: 1, amount: 1_000n }]]),
    }),
  ).toEqual(['lost', 'wrong receipt']);
});

test('a payment that was made twice is found', () => {
  expect(kinds(withPayment('out'))).toContain('doubled');
});

test('a repeat that is answered with another payment is found', () => {
  const [out, ...others] = sound.history;
  const answered = { ...command('out'), ...out, transactionIds: ['T-out', 'T-other'] };
  expect(kinds({ history: [answered, ...others] })).toContain('doubled');
});

test('a refused payment that happened is found', () => {
  expect(kinds(withPayment('refused'))).toContain('refused but happened');
});

test('a refused execution that happened is found', () => {
  const refused = execution({ outcome: 'refused', transactionIds: [] });
  expect(kinds({ history: sound.history.with(2, refused) })).toEqual(['refused but happened']);
});

test('an unknown payment that happened is sound if its receipt says so, and only then', () => {
  expect(kinds({ ...withPayment('unknown'), ...withReceipt('unknown', 'SUCCEEDED') })).toEqual([]);
  expect(kinds(withPayment('unknown'))).toEqual(['wrong receipt']);
  expect(kinds(withReceipt('unknown', 'SUCCEEDED'))).toEqual(['wrong receipt']);
  expect(kinds(withReceipt('unknown'))).toEqual(['wrong receipt']);
});

test('a payment that nobody ordered is found', () => {
  expect(kinds({ ...withPayment('nobody'), balances: sound.balances, usage: sound.usage })).toEqual(['from nowhere']);
});

test('a decision that is lost, or happened though it was refused, is found', () => {
  const decided = (rest: Partial<Command>) => {
    const decision = { operation: 'approveTransaction', transactionId: 'T-held', change: 0n, ...rest } as const;
    return {
      history: [
        ...sound.history,
        command('held', { change: 0n, ends: ['COMPLETED', 'EXPIRED'] }),
        command('decision', { transactionIds: ['T-held'], ...decision }),
      ],
      receipts: new Map([
        ...sound.receipts,
        ['held', { outcome: 'SUCCEEDED' }] as const,
        ['decision', { outcome: rest.outcome === 'refused' ? 'REFUSED' : 'SUCCEEDED' }] as const,
      ]),
    };
  };
  const held = (...statuses: readonly string[]) => {
    const changes = statuses.map((status, at) => change(14n + BigInt(at), 'T-held', status, at + 1));
    const ids = changes.map(({ id }) => id);
    const status = statuses.at(-1) ?? '';
    return {
      feed: [...feed, ...changes],
      payments: [...sound.payments, { id: 'T-held', description: 'held', status }],
      followers: new Map([['socket', [...feed.map(({ id }) => id), ...ids]]]),
      webhooks: new Set([...sound.webhooks, ...ids]),
      ...(status === 'COMPLETED' && { usage: new Map([['A', { payments: 3, amount: 3_000n }]]) }),
    };
  };
  const refused = { outcome: 'refused', transactionIds: [] } as const;
  expect(kinds({ ...decided({}), ...held('CREATED', 'PENDING', 'COMPLETED') })).toEqual([]);
  expect(kinds({ ...decided({}), ...held('CREATED', 'EXPIRED') })).toEqual(['lost', 'wrong receipt']);
  expect(kinds({ ...decided(refused), ...held('CREATED', 'PENDING', 'COMPLETED') })).toContain('refused but happened');
});

test('a payment that a policy has counted twice, or not at all, is found', () => {
  expect(kinds({ usage: new Map([['A', { payments: 3, amount: 2_000n }]]) })).toEqual(['policy']);
  expect(kinds({ usage: new Map([['A', { payments: 2, amount: 1_000n }]]) })).toEqual(['policy']);
});

test('a payment that never ends is found', () => {
  const [, ...others] = sound.payments;
  expect(kinds({ payments: [{ id: 'T-out', description: 'out', status: 'PENDING' }, ...others] })).toContain(
    'unfinished',
  );
});

test('a gap in the feed, a missing beginning, and a change that is in it twice are found', () => {
  expect(kinds({ feed: without(feed, 0) })).toContain('feed');
  expect(kinds({ feed: without(feed, 2) })).toContain('feed');
  expect(kinds({ feed: [...feed, { id: 'E9', sequence: 14n }] })).toContain('feed');
});

test('a feed that ends with another status than the payment has is found', () => {
  const [out, ...others] = sound.payments;
  expect(kinds({ payments: [{ id: 'T-out', description: 'out', ...out, status: 'FAILED' }, ...others] })).toContain(
    'feed',
  );
});

test('an illegal path of statuses is found, and a version that is left out', () => {
  const at = (index: number, other: Change) => ({ feed: feed.with(index, other) });
  expect(kinds(at(3, change(11n, 'T-out', 'REFUNDED', 2)))).toContain('status path');
  expect(kinds(at(1, change(9n, 'T-out', 'COMPLETED', 1)))).toContain('status path');
  expect(kinds(at(3, change(11n, 'T-out', 'COMPLETED', 3)))).toEqual(['status path']);
});

test('a message that a follower misses, gets twice or in another order is found', () => {
  const ids = feed.map(({ id }) => id);
  const received = (...messages: readonly string[]) => kinds({ followers: new Map([['socket', messages]]) });
  expect(received(...without(ids, 1))).toEqual(['follower']);
  expect(received(...without(ids, 5))).toEqual(['follower']);
  expect(received(...ids, 'E13')).toEqual(['follower']);
  expect(received(...ids.toSpliced(2, 0, 'E9'))).toEqual(['follower']);
  expect(received(...ids.toReversed())).toEqual(['follower']);
});

test('a webhook that is missing is found, and one for nothing', () => {
  expect(kinds({ webhooks: new Set(['E9', 'E10', 'E11', 'E12']) })).toEqual(['webhook']);
  expect(kinds({ webhooks: new Set([...sound.webhooks, 'E99']) })).toEqual(['webhook']);
});

test('money that is missing is found', () => {
  expect(kinds({ balances: new Map([['A', { before: 5_000n, after: 3_899n }]]) })).toEqual(['balance']);
});

test('what the auditor finds and what callers could not understand are reported', () => {
  expect(kinds({ breaches: [{ rule: 'all postings of a currency sum to zero', rows: [{}] }] })).toEqual(['audit']);
  expect(kinds({ internalErrors: ['500'] })).toEqual(['internal error']);
});
