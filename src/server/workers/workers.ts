import type { Logger } from 'pino';
import { createDeliverer } from '../../api/webhooks/delivery/deliverer.ts';
import { fanOut } from '../../api/webhooks/delivery/fan-out.ts';
import type { Webhooks } from '../../api/webhooks/webhooks.ts';
import { warnOfExpiry } from '../../domain/access/tokens/token-records.ts';
import { checkDueAccounts, nextAccountCheck } from '../../domain/accounts/external-accounts.ts';
import { checkDueIdentities } from '../../domain/customers/customers.ts';
import type { Sequencer } from '../../domain/events/sequencer.ts';
import { nextOrderDue } from '../../domain/orders/orders.ts';
import { creditDeposits, findDeposits } from '../../domain/providers/deposits.ts';
import { webhookIdleMs, workOnWebhooks } from '../../domain/providers/webhooks.ts';
import { expireQuotes, nextQuoteExpiry } from '../../domain/quotes/execute-quote.ts';
import { reconcileDueDays } from '../../domain/reconciliation/reconciliation.ts';
import { settleDueOrders } from '../../domain/settlement/settlement.ts';
import { blockersOf, type LockSession, lockSessions } from '../../infra/database/blockers.ts';
import type { Database } from '../../infra/database/database.ts';
import { statement } from '../../infra/database/statement.ts';
import { deleteExpired } from './housekeeping.ts';
import { startLoop } from './loop.ts';

const batchSize = 100;
/** How long a loop pauses when nothing is due. It must look again, because another process may add work. */
const idleMs = 250;
/** The pause between rounds of work on deposits and identity checks. Processing a provider's webhook ends it early. */
const reportedIdleMs = 1_000;
/** How long to collect due orders before a settlement round. A round itself costs as much as a few settlements. */
const settlementRestMs = 20;
/**
 * A sequencer's pauses. The pause is short after a step with work. After each step without work it doubles, up to a
 * maximum, to spare the database. A commit in this process wakes an idle sequencer. It does not shorten a busy
 * sequencer's pause, because otherwise each change would be a separate step under load.
 */
const busySequencerMs = 4;
const longestIdleSequencerMs = 80;
const clockMs = 1_000;
const locksMs = 2_000;
const reconciliationMs = 300_000;
/** How often expired rows are deleted, and the pause between batches, which gives other work a turn. */
const housekeepingMs = 3_600_000;
const betweenBatchesMs = 100;
/** The pause if another process was sequencing. That process did the work; later changes wait for the next step. */
const contendedSequencerMs = 10;

/** Returns a function that computes a sequencer's pause in ms. `count` is undefined if another process sequenced. */
export function sequencerPauses(): (count: number | undefined) => number {
  let latest = busySequencerMs;
  return (count) => {
    if (count === undefined) return contendedSequencerMs;
    latest = count > 0 ? busySequencerMs : Math.min(2 * latest, longestIdleSequencerMs);
    return latest;
  };
}

/**
 * Starts a process's background work, which any number of processes may do at the same time.
 * @param sequencer closed when the workers stop
 * @param reconcileHour the hour, in UTC, after which the previous day is reconciled with the rails' providers
 */
export function startWorkers(webhooks: Webhooks, sequencer: Sequencer, reconcileHour: number) {
  const { payments } = webhooks;
  const { database, log } = payments;
  const start = (name: string, round: () => Promise<number>, restMs?: number) => startLoop(name, log, round, restMs);
  /** Starts work on due rows. The next round begins at once after a full batch, otherwise after `next` or `idle` ms. */
  const startDue = (
    name: string,
    work: () => Promise<number>,
    { next, idle = idleMs, restMs = 0 }: { next?: () => Promise<number | undefined>; idle?: number; restMs?: number },
  ) => {
    const round = async () => {
      if ((await work()) >= batchSize) return 0;
      return Math.max(restMs, Math.min(idle, (await next?.()) ?? idle));
    };
    return start(name, round, restMs);
  };

  const deliverer = createDeliverer(webhooks, () => delivery.wake());
  const delivery = start('webhook delivery', () => deliverer.step());
  let stopped: Promise<void> | undefined;
  const stopDelivering = () => {
    stopped ??= delivery.stop().then(() => deliverer.stop());
    return stopped;
  };
  const fanOutLoop = start('webhook fan-out', async () => {
    const { count, moved } = await fanOut(webhooks);
    if (count > 0) delivery.wake();
    return moved > 0 ? 0 : idleMs;
  });
  const pauseAfter = sequencerPauses();
  const sequence = async () => {
    const count = await sequencer.step();
    if (count) fanOutLoop.wake();
    return pauseAfter(count);
  };
  const sequencing = start('sequencer', sequence, busySequencerMs);
  const settlement = startDue('settlement', () => settleDueOrders(payments, batchSize), {
    next: () => nextOrderDue(database.pool),
    restMs: settlementRestMs,
  });
  const findAndCredit = async () =>
    Math.max(await findDeposits(payments, batchSize), await creditDeposits(payments, batchSize));
  const deposits = startDue('deposits', findAndCredit, { idle: reportedIdleMs });
  const identities = startDue('identity checks', () => checkDueIdentities(payments, batchSize), {
    idle: reportedIdleMs,
  });
  const handleReceived = async () => {
    const count = await workOnWebhooks(payments, batchSize);
    if (count > 0) for (const loop of [deposits, identities]) loop.wake();
    return count;
  };
  const received = startDue('provider webhooks', handleReceived, { idle: webhookIdleMs });
  const watchLocks = lockWatch(database, log);
  const others = [
    ...[settlement, received, deposits, identities, fanOutLoop],
    startDue('account checks', () => checkDueAccounts(payments, batchSize), {
      next: () => nextAccountCheck(database.pool),
    }),
    start('expiry', async () => {
      const { found, done } = await expireQuotes(payments, batchSize);
      // Quotes that could not be expired are still due. Without a pause, the next round would find them at once.
      if (found > 0 && done === 0) return idleMs;
      return found === batchSize ? 0 : Math.min(idleMs, (await nextQuoteExpiry(payments)) ?? idleMs);
    }),
    start('reconciliation', () => reconcileDueDays(payments, reconcileHour).then(() => reconciliationMs)),
    start('housekeeping', async () => {
      const warned = await warnOfExpiry(database, batchSize);
      return (await deleteExpired(database)) || warned === batchSize ? betweenBatchesMs : housekeepingMs;
    }),
    start('locks', () => watchLocks().then(() => locksMs)),
    start('clock', () => followClock(database, log).then(() => clockMs)),
  ];
  const wake = () => {
    sequencing.wake();
    settlement.wake();
  };
  const wakeReceived = () => received.wake();
  database.commits.on('committed', wake).on('received', wakeReceived);

  return {
    /** Stops webhook attempts, which take the longest to end. `stop` also does this. */
    stopDelivering,
    async stop(): Promise<void> {
      database.commits.off('committed', wake).off('received', wakeReceived);
      await Promise.all([stopDelivering(), ...others.map((loop) => loop.stop())]);
      await sequencing.stop();
      await sequencer.close();
    },
  };
}

const followStatement = statement<{ backMs: number | null }>('follow_clock', 'select follow_clock() as back_ms');

/** If the database clock was set back, moves due times with it, except the expiry of quotes, and logs a warning. */
async function followClock(database: Database, log: Logger): Promise<void> {
  const [row] = await followStatement(database.pool);
  if (typeof row?.backMs !== 'number') return;
  log.warn({ backMs: Math.round(row.backMs) }, "the database's clock was set back; due times were moved accordingly");
}

/** How long a session may block others before it is logged, in seconds: as long as a request waits for a lock. */
const patienceSeconds = 2;

/** Returns a function that logs which sessions block others, but only if they have changed since its last call. */
export function lockWatch({ pool }: Database, log: Logger, seconds = patienceSeconds): () => Promise<void> {
  let said = '';
  return async () => {
    const sessions = await lockSessions(pool);
    const roots = (await blockersOf(pool, sessions)).filter(({ openSeconds }) => openSeconds >= seconds);
    const now = roots.map(({ id }) => id).join();
    if (now === said) return;
    said = now;
    if (roots.length === 0) log.info('no session is waiting long for a lock anymore');
    else
      log.error(
        { blockers: roots.map(({ name }) => name), waiting: waitingFor(sessions) },
        'sessions are waiting for locks: `npm run ops -- blocked` shows them',
      );
  };
}

/** Returns the locks that sessions are waiting for, each with the number waiting: `AccessShareLock on customer: 12`. */
function waitingFor(sessions: readonly LockSession[]): string[] {
  const waiting = Map.groupBy(sessions, ({ waitsFor }) => waitsFor);
  waiting.delete(null);
  return [...waiting].map(([lock, of]) => `${lock}: ${of.length}`);
}
