import { describe, expect, test } from 'vitest';
import { check } from './checker.ts';
import type { Change, Command, Evidence } from './history.ts';

// Each row changes valid evidence so that one promise is broken, which the checker must report.

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
  // Two payments of 10 dollars each.
  usage: new Map([['A', { payments: 2, amount: 2_000n }]]),
  breaches: [],
};

const ids = feed.map(({ id }) => id);
const without = <T>(list: readonly T[], at: number) => list.toSpliced(at, 1);
const withPayment = (description: string) => ({
  payments: [...sound.payments, { id: 'T-more', description, status: 'COMPLETED' }],
  feed: [...feed, change(14n, 'T-more', 'PENDING', 1), change(15n, 'T-more', 'COMPLETED', 2)],
  followers: new Map([['socket', [...ids, 'E14', 'E15']]]),
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
const withStatus = (status: string) => ({
  payments: sound.payments.with(0, { id: 'T-out', description: 'out', status }),
});
const withChange = (at: number, other: Change) => ({ feed: feed.with(at, other) });
const received = (...messages: readonly string[]) => ({ followers: new Map([['socket', messages]]) });
const counted = (payments: number, amount: bigint) => ({ usage: new Map([['A', { payments, amount }]]) });

/** Returns evidence of a held payment with the given statuses, and of an approval command with the given outcome. */
const decided = (outcome: 'succeeded' | 'refused', ...statuses: readonly string[]): Partial<Evidence> => {
  const changes = statuses.map((status, at) => change(14n + BigInt(at), 'T-held', status, at + 1));
  const status = statuses.at(-1) ?? '';
  const transactionIds = outcome === 'refused' ? [] : ['T-held'];
  return {
    history: [
      ...sound.history,
      command('held', { change: 0n, ends: ['COMPLETED', 'EXPIRED'] }),
      execution({ key: 'decision', operation: 'approveTransaction', transactionId: 'T-held', outcome, transactionIds }),
    ],
    receipts: new Map([
      ...sound.receipts,
      ['held', { outcome: 'SUCCEEDED' }] as const,
      ['decision', { outcome: outcome === 'refused' ? 'REFUSED' : 'SUCCEEDED' }] as const,
    ]),
    feed: [...feed, ...changes],
    payments: [...sound.payments, { id: 'T-held', description: 'held', status }],
    ...received(...ids, ...changes.map(({ id }) => id)),
    webhooks: new Set([...sound.webhooks, ...changes.map(({ id }) => id)]),
    ...(status === 'COMPLETED' && counted(3, 3_000n)),
  };
};

/** Changes to sound evidence, and the violations that the checker must report for them. `…` allows others as well. */
const broken: Readonly<Record<string, readonly [evidence: Partial<Evidence>, kinds: string]>> = {
  'sound evidence': [{}, ''],
  'an acknowledged payment that is lost': [{ payments: without(sound.payments, 0) }, 'lost …'],
  'an acknowledged execution that is lost': [
    {
      feed: feed.slice(0, 4),
      ...received(...ids.slice(0, 4)),
      webhooks: new Set(['E9', 'E10', 'E11']),
      payments: sound.payments.with(1, { id: 'T-quote', description: 'quote', status: 'PENDING' }),
      balances: new Map([['A', { before: 5_000n, after: 4_900n }]]),
      ...counted(1, 1_000n),
    },
    'lost, wrong receipt',
  ],
  'a payment that was made twice': [withPayment('out'), 'doubled …'],
  'a repeated command that returns a different payment': [
    { history: sound.history.with(0, command('out', { transactionIds: ['T-out', 'T-other'] })) },
    'doubled …',
  ],
  'a refused payment that happened': [withPayment('refused'), 'refused but happened …'],
  'a refused execution that happened': [
    { history: sound.history.with(2, execution({ outcome: 'refused', transactionIds: [] })) },
    'refused but happened',
  ],
  'a payment of unknown outcome that happened, as its receipt says': [
    { ...withPayment('unknown'), ...withReceipt('unknown', 'SUCCEEDED') },
    '',
  ],
  'a payment of unknown outcome that happened, but has no receipt': [withPayment('unknown'), 'wrong receipt'],
  'the receipt of a payment that never happened': [withReceipt('unknown', 'SUCCEEDED'), 'wrong receipt'],
  'a receipt that nobody could read': [withReceipt('unknown'), 'wrong receipt'],
  'a payment that no command requested': [
    { ...withPayment('nobody'), balances: sound.balances, usage: sound.usage },
    'from nowhere',
  ],
  'a decision that happened': [decided('succeeded', 'CREATED', 'PENDING', 'COMPLETED'), ''],
  'a decision that is lost': [decided('succeeded', 'CREATED', 'EXPIRED'), 'lost, wrong receipt'],
  'a refused decision that happened': [decided('refused', 'CREATED', 'PENDING', 'COMPLETED'), 'refused but happened …'],
  'a payment that a policy has counted twice': [counted(3, 2_000n), 'policy'],
  'a payment that a policy has not counted': [counted(2, 1_000n), 'policy'],
  'a payment that never ends': [withStatus('PENDING'), 'unfinished …'],
  'a feed without its beginning': [{ feed: without(feed, 0) }, 'feed …'],
  'a gap in the feed': [{ feed: without(feed, 2) }, 'feed …'],
  'a change that is in the feed twice': [{ feed: [...feed, { id: 'E9', sequence: 14n }] }, 'feed …'],
  'a payment whose status differs from its last status in the feed': [withStatus('FAILED'), 'feed …'],
  'an illegal last status': [withChange(3, change(11n, 'T-out', 'REFUNDED', 2)), 'status path …'],
  'an illegal first status': [withChange(1, change(9n, 'T-out', 'COMPLETED', 1)), 'status path …'],
  'a missing version': [withChange(3, change(11n, 'T-out', 'COMPLETED', 3)), 'status path'],
  'a follower that misses a message': [received(...without(ids, 1)), 'follower'],
  'a follower that misses the last message': [received(...without(ids, 5)), 'follower'],
  'a follower that gets a message twice': [received(...ids, 'E13'), 'follower'],
  'a follower that gets an earlier message again': [received(...ids.toSpliced(2, 0, 'E9')), 'follower'],
  'messages in a different order': [received(...ids.toReversed()), 'follower'],
  'a missing webhook': [{ webhooks: new Set(ids.slice(1, -1)) }, 'webhook'],
  'a webhook without a change': [{ webhooks: new Set([...sound.webhooks, 'E99']) }, 'webhook'],
  'money that is missing': [{ balances: new Map([['A', { before: 5_000n, after: 3_899n }]]) }, 'balance'],
  'a broken ledger rule': [{ breaches: [{ rule: 'all postings of a currency sum to zero', rows: [{}] }] }, 'audit'],
  'an answer that clients cannot act on': [{ internalErrors: ['500'] }, 'internal error'],
};

describe('the checker names', () => {
  test.each(Object.entries(broken))('%s', (_what, [evidence, names]) => {
    const kinds = [...new Set(check({ ...sound, ...evidence }).map(({ kind }) => kind))];
    if (names.endsWith(' …')) return expect(kinds).toContain(names.slice(0, -2));
    expect(kinds.join(', ')).toBe(names);
  });

  test('the latest fault', () => {
    const violations = check({ ...sound, payments: without(sound.payments, 0) });
    expect(violations).toContainEqual(expect.objectContaining({ kind: 'lost', during: 'a kill' }));
  });
});
