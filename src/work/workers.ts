import type { Logger } from 'pino';
import { Sequencer } from '../events/sequencer.ts';
import { checkDueAccounts, nextAccountCheck } from '../payments/accounts/account-moves.ts';
import type { Payments } from '../payments/command.ts';
import { expireQuotes, nextQuoteExpiry } from '../payments/quotes/expiry.ts';
import { nextOrderDue, settleDueOrders } from '../payments/settlement/settlement.ts';
import { Deliverer } from '../webhooks/delivery/deliverer.ts';
import { fanOut } from '../webhooks/delivery/fan-out.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { followClock } from './clock.ts';
import { tidyUp } from './housekeeping.ts';
import { startLoop } from './loop.ts';

/** How many orders or quotes one round takes. */
const batch = 100;
/** Without anything due, look again after so long: another process may have made something. */
const idleMs = 250;
/** Settlement takes together what comes due within so long: a round costs as much as settling some payments. */
const settlementRestMs = 20;
/**
 * A sequencer that just had work looks again soon, an idle one a little later. A commit of this process wakes an idle one;
 * it does not shorten the pause of a busy one, or under load each change would be a step of its own.
 */
const busySequencerMs = 4;
const idleSequencerMs = 20;
/** How often the database's clock is compared with what was seen of it. */
const clockMs = 1_000;
/** What is kept long enough is deleted each hour, in batches with room for other work between them. */
const housekeepingMs = 3_600_000;
const betweenBatchesMs = 100;
/** Where another process's step was under way, it did the work. What came after it began waits for the next step. */
const afterOthersMs = 10;

/** How many milliseconds a sequencer pauses after a step that sequenced `count` changes, or that found another's under way. */
export function pauseAfterStep(count: number | undefined): number {
  return count === undefined ? afterOthersMs : count > 0 ? busySequencerMs : idleSequencerMs;
}

/**
 * The background work of a process: sequencing the feed, carrying out the rail's orders, expiring quotes, checking accounts outside, delivering
 * webhooks, and deleting what has been kept long enough. Any number of processes may do it beside each other.
 */
export function startWorkers(payments: Payments, webhooks: Webhooks, log: Logger) {
  const deliverer = new Deliverer(webhooks);
  const delivering = startLoop('webhook delivery', log, () => deliverer.step());
  deliverer.onRoom = () => delivering.wake();
  const fanning = startLoop('webhook fan-out', log, async () => {
    const { count, moved } = await fanOut(webhooks);
    if (count > 0) delivering.wake();
    return moved > 0 ? 0 : idleMs;
  });
  const sequencer = new Sequencer(payments.database);
  const sequencing = startLoop(
    'sequencer',
    log,
    async () => {
      const count = await sequencer.step();
      if (count) fanning.wake();
      return pauseAfterStep(count);
    },
    busySequencerMs,
  );
  const settling = startLoop(
    'settlement',
    log,
    async () => {
      const count = await settleDueOrders(payments, batch);
      return count === batch
        ? 0
        : Math.max(settlementRestMs, Math.min(idleMs, (await nextOrderDue(payments)) ?? idleMs));
    },
    settlementRestMs,
  );
  const expiring = startLoop('expiry', log, async () => {
    const { found, done } = await expireQuotes(payments, batch);
    // What was found and could not be expired is still due: without a pause it would be found again at once.
    if (found > 0 && done === 0) return idleMs;
    return found === batch ? 0 : Math.min(idleMs, (await nextQuoteExpiry(payments)) ?? idleMs);
  });
  const checking = startLoop('account checks', log, async () => {
    const count = await checkDueAccounts(payments, batch);
    return count === batch ? 0 : Math.min(idleMs, (await nextAccountCheck(payments)) ?? idleMs);
  });
  const tidying = startLoop('housekeeping', log, async () =>
    (await tidyUp(payments.database)) ? betweenBatchesMs : housekeepingMs,
  );
  const following = startLoop('clock', log, async () => {
    await followClock(payments.database, log);
    return clockMs;
  });
  const wake = () => {
    sequencing.wake();
    settling.wake();
  };
  payments.database.commits.on('committed', wake);

  let delivered: Promise<void> | undefined;
  const stopDelivering = () => {
    delivered ??= delivering.stop().then(() => deliverer.stop());
    return delivered;
  };

  return {
    /** Begins no more webhook attempts, and ends those under way: what takes longest. `stop` includes it. */
    stopDelivering,
    async stop(): Promise<void> {
      payments.database.commits.off('committed', wake);
      const others = [settling, expiring, checking, fanning, tidying, following];
      await Promise.all([stopDelivering(), ...others.map((loop) => loop.stop())]);
      await sequencing.stop();
      await sequencer.close();
    },
  };
}
