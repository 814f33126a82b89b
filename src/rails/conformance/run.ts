import type { Rail } from '../rail.ts';
import { checks } from './checks.ts';
import { Breach, NotTried } from './driver.ts';
import { incomingChecks } from './incoming-checks.ts';
import { lockChecks } from './lock-checks.ts';
import { receiverChecks } from './receiver-checks.ts';
import type { CheckResult, RailTrial, TrialTimes } from './trial.ts';

/** The usual times: those of the gateway. */
const usualTimes: TrialTimes = { answerMs: 10_000, outcomeMs: 60_000 };

/**
 * Tries all promises of the port on a rail, for payouts, collections, rate locks, receivers, webhooks and deposits where it has
 * them.
 * One after the other, since they share the provider.
 */
export async function runConformance(trial: RailTrial, times: TrialTimes = usualTimes): Promise<CheckResult[]> {
  const rail = await trial.open();
  const kinds = [...(rail.payOut ? (['PAYOUT'] as const) : []), ...(rail.collect ? (['COLLECTION'] as const) : [])];
  const locks = rail.lockRate ? lockChecks : [];
  await rail.close?.();
  const results: CheckResult[] = [];
  const ofOrders = [
    ...kinds.flatMap((kind) => checks.map((check) => ({ ...check, kind }))),
    ...locks.map((check) => ({ ...check, kind: 'PAYOUT' as const })),
    ...receiverChecks(rail).map((check) => ({ ...check, kind: 'RECEIVER' as const })),
  ];
  for (const { name, kind, run } of ofOrders) {
    results.push(
      await runCheck(
        { name, kind, run: (open) => run({ trial, kind: kind === 'RECEIVER' ? 'PAYOUT' : kind, times, open }) },
        trial,
      ),
    );
  }
  for (const { name, kind, run } of incomingChecks(rail)) {
    results.push(await runCheck({ name, kind, run: (open) => run({ trial, times, open }) }, trial));
  }
  return results;
}

/** A check that is ready to be run. */
interface ReadyCheck {
  readonly name: string;
  readonly kind: CheckResult['kind'];
  readonly run: (open: () => Promise<Rail>) => Promise<void>;
}

async function runCheck(check: ReadyCheck, trial: RailTrial): Promise<CheckResult> {
  const opened: Rail[] = [];
  const open = async () => {
    const rail = await trial.open();
    opened.push(rail);
    return rail;
  };
  const about = { check: check.name, kind: check.kind };
  try {
    await check.run(open);
    return { ...about, result: 'passed' };
  } catch (error) {
    if (error instanceof NotTried) return { ...about, result: 'not tried', reason: error.message };
    if (error instanceof Breach) return { ...about, result: 'failed', reason: error.message };
    return { ...about, result: 'failed', reason: `the trial failed: ${error instanceof Error ? error.stack : error}` };
  } finally {
    await Promise.allSettled(opened.map((rail) => rail.close?.()));
  }
}
