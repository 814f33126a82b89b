import type { Change, Command, Evidence, Payment } from './history.ts';
import { amount } from './load-acts.ts';

export interface Violation {
  readonly kind:
    | 'lost'
    | 'doubled'
    | 'refused but happened'
    | 'wrong receipt'
    | 'internal error'
    | 'disturbed'
    | 'unfinished'
    | 'from nowhere'
    | 'feed'
    | 'status path'
    | 'follower'
    | 'webhook'
    | 'balance'
    | 'policy'
    | 'audit';
  readonly words: string;
  /** If a command violated a promise, the last fault injected before that command ended. */
  readonly during?: string;
}

/** The status changes of a transaction (decision 57) that are possible for payments without a receiver lookup. */
const moves: Readonly<Record<string, readonly string[]>> = {
  '': ['PENDING', 'CREATED'],
  CREATED: ['PENDING', 'PROCESSING', 'COMPLETED', 'REJECTED', 'EXPIRED'],
  PENDING: ['CREATED', 'PROCESSING', 'COMPLETED', 'REJECTED', 'FAILED', 'EXPIRED'],
  PROCESSING: ['COMPLETED', 'REJECTED', 'FAILED'],
  COMPLETED: ['REFUNDED'],
};

/** Checks, from the visible state and the audit's report, whether the promises were kept. Returns the violations. */
export function check(evidence: Evidence): Violation[] {
  return [
    ...evidence.internalErrors.map((words): Violation => ({ kind: 'internal error', words })),
    ...checkCommands(evidence),
    ...checkPayments(evidence),
    ...checkFeed(evidence),
    ...checkStatusPaths(evidence),
    ...checkFollowers(evidence),
    ...checkWebhooks(evidence),
    ...checkBalances(evidence),
    ...checkUsage(evidence),
    ...evidence.breaches.map(({ rule, rows }): Violation => ({ kind: 'audit', words: `${rule}: ${rows.length} rows` })),
  ];
}

/**
 * Checks that acknowledged commands took effect exactly once, that refused commands had no effect, and that commands
 * with an unknown outcome agree with their receipts.
 */
export function checkCommands(evidence: Pick<Evidence, 'history' | 'payments' | 'feed' | 'receipts'>): Violation[] {
  const made = Map.groupBy(evidence.payments, ({ description }) => description ?? '');
  const done: Partial<Record<Command['operation'], ReadonlySet<string>>> = {
    executeQuote: executedIn(evidence.feed),
    approveTransaction: decidedIn(evidence.feed, ['PENDING', 'PROCESSING', 'COMPLETED']),
    rejectTransaction: decidedIn(evidence.feed, ['REJECTED']),
  };
  return evidence.history.flatMap((command) => {
    const { key, operation, outcome, code, transactionIds, transactionId = '', during } = command;
    const changed = done[operation];
    const effects = changed
      ? [transactionId].filter((id) => changed.has(id))
      : (made.get(key) ?? []).map(({ id }) => id);
    const name = `${operation} ${key}`;
    const violations: Violation[] = [];
    const report = (kind: Violation['kind'], words: string) =>
      violations.push({ kind, words: `${name} ${words}`, during });
    const receipt = evidence.receipts.get(key)?.outcome;

    if (effects.length > 1) report('doubled', `made ${effects.length} payments`);
    if (new Set(transactionIds).size > 1) report('doubled', `was answered with ${transactionIds.join(' and ')}`);
    if (outcome === 'succeeded' && !transactionIds.every((id) => effects.includes(id)))
      report('lost', `was acknowledged with ${transactionIds.join()}, but there is ${effects.join() || 'nothing'}`);
    if (outcome === 'refused' && effects.length > 0)
      report('refused but happened', `was refused with ${code}, but there is ${effects.join()}`);
    if (receipt === undefined) report('wrong receipt', 'has no receipt');
    else if ((receipt === 'SUCCEEDED') !== effects.length > 0)
      report('wrong receipt', `has the receipt ${receipt}, but there is ${effects.join() || 'nothing'}`);
    return violations;
  });
}

/** Returns the payments that have started or await approval. A payment is PENDING until its quote is executed. */
export function executedIn(feed: readonly Change[]): ReadonlySet<string> {
  return new Set(
    feed.flatMap(({ payment }) => (payment && /^(PROCESSING|CREATED)$/.test(payment.status) ? [payment.id] : [])),
  );
}

/** Returns the payments that waited for approval and then reached one of the given statuses. */
function decidedIn(feed: readonly Change[], statuses: readonly string[]): ReadonlySet<string> {
  const waits = new Set<string>();
  return new Set(
    feed.flatMap(({ payment }) => {
      if (!payment) return [];
      const waited = waits.delete(payment.id);
      if (payment.status === 'CREATED') waits.add(payment.id);
      return waited && statuses.includes(payment.status) ? [payment.id] : [];
    }),
  );
}

export function commandsOf(history: readonly Command[]) {
  const byKey = new Map<string | null, Command>(history.map((command) => [command.key, command]));
  return ({ description }: Payment): Command | undefined => byKey.get(description);
}

/** Checks that each payment belongs to a command, has ended if it should have, and has its final status in the feed. */
function checkPayments({ history, payments, feed }: Pick<Evidence, 'history' | 'payments' | 'feed'>): Violation[] {
  const commandOf = commandsOf(history);
  const executed = executedIn(feed);
  const latest = new Map(feed.flatMap(({ payment }) => (payment ? [[payment.id, payment.status] as const] : [])));
  return payments.flatMap((payment): Violation[] => {
    const { id, description, status } = payment;
    const command = commandOf(payment);
    if (!command) return [{ kind: 'from nowhere', words: `nobody ordered ${id}: ${description}` }];
    const violations: Violation[] = [];
    const waits = command.operation === 'createQuote' && !executed.has(id);
    if (!waits && !(command.ends ?? ['COMPLETED']).includes(status))
      violations.push({ kind: 'unfinished', words: `${command.operation} ${id} is ${status}`, during: command.during });
    if (latest.get(id) !== status)
      violations.push({ kind: 'feed', words: `${id} is ${status}, but its last change says ${latest.get(id)}` });
    return violations;
  });
}

/** Checks that the feed's numbers have no gaps and that no change occurs twice. */
function checkFeed({ feed, start }: Evidence): Violation[] {
  const seen = new Set<string>();
  return feed.flatMap(({ id, sequence }, at): Violation[] => {
    const before = feed[at - 1]?.sequence ?? start;
    const violations: Violation[] = [];
    if (sequence !== before + 1n) violations.push({ kind: 'feed', words: `${sequence} follows ${before}` });
    if (seen.has(id)) violations.push({ kind: 'feed', words: `${id} is in it twice` });
    seen.add(id);
    return violations;
  });
}

/** Checks that each payment's changes have the versions 1, 2, 3 … and that every status change is allowed. */
function checkStatusPaths({ feed }: Evidence): Violation[] {
  const stories = Map.groupBy(
    feed.flatMap(({ payment }) => payment ?? []),
    ({ id }) => id,
  );
  return [...stories].flatMap(([id, story]): Violation[] => {
    const isLegal = story.every(
      ({ status, version }, at) => version === at + 1 && (moves[story[at - 1]?.status ?? ''] ?? []).includes(status),
    );
    const path = story.map(({ status, version }) => `${status} (${version})`).join(', ');
    return isLegal ? [] : [{ kind: 'status path', words: `${id}: ${path}` }];
  });
}

/** Checks that each follower received each change in the feed once, in feed order. */
function checkFollowers({ feed, followers }: Evidence): Violation[] {
  return [...followers].flatMap(([name, received]): Violation[] => {
    const at = feed.findIndex(({ id }, index) => received[index] !== id);
    if (at < 0 && received.length === feed.length) return [];
    const counts = `${received.length} messages, ${new Set(received).size} different ones, for ${feed.length} changes`;
    const words = `${name}: ${counts}; differs from the feed from ${at < 0 ? feed.length : at} on`;
    return [{ kind: 'follower', words }];
  });
}

/** Checks that webhooks reported each change to a payment at least once, and nothing else. */
function checkWebhooks({ feed, webhooks }: Evidence): Violation[] {
  const due = new Set(feed.filter(({ payment }) => payment !== undefined).map(({ id }) => id));
  return [
    ...[...due].filter((id) => !webhooks.has(id)).map((id) => `${id} is missing`),
    ...[...webhooks].filter((id) => !due.has(id)).map((id) => `${id} is not in the feed`),
  ].map((words) => ({ kind: 'webhook', words }));
}

/** Checks that balances were changed by all completed payments, and by nothing else. */
function checkBalances({ history, payments, balances }: Evidence): Violation[] {
  const commandOf = commandsOf(history);
  const completed = payments.flatMap((payment) => (payment.status === 'COMPLETED' ? (commandOf(payment) ?? []) : []));
  return [...balances].flatMap(([id, { before, after }]): Violation[] => {
    const expected = completed.reduce((sum, one) => sum + (one.accountId === id ? one.change : 0n), before);
    return after === expected ? [] : [{ kind: 'balance', words: `${id} has ${after} instead of ${expected}` }];
  });
}

/** Checks that policies have counted all completed payments, and no others. */
function checkUsage({ history, payments, usage }: Evidence): Violation[] {
  const commandOf = commandsOf(history);
  const completed = payments.filter(({ status }) => status === 'COMPLETED');
  return [...usage].flatMap(([id, used]): Violation[] => {
    const count = completed.filter((payment) => commandOf(payment)?.accountId === id).length;
    const sum = BigInt(count) * amount;
    if (used.payments === count && used.amount === sum) return [];
    const words = `${id}: ${used.payments} payments of ${used.amount} instead of ${count} of ${sum}`;
    return [{ kind: 'policy', words }];
  });
}

/** Returns descriptions of the payments that have not ended yet, or whose final status is not in the feed yet. */
export function underWay(payments: readonly Payment[], feed: readonly Change[], history: readonly Command[]): string[] {
  return checkPayments({ history, payments, feed })
    .filter(({ kind }) => kind === 'unfinished' || kind === 'feed')
    .map(({ words }) => words);
}
