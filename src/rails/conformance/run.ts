import type { Rail } from '../rail.ts';
import { checks, type ReadyCheck } from './checks.ts';
import { Breach, NotTried } from './driver.ts';
import { incomingChecks } from './incoming-checks.ts';
import { lockChecks } from './lock-checks.ts';
import { receiverChecks } from './receiver-checks.ts';
import type { CheckResult, RailTrial, TrialTimes } from './trial.ts';

/** The default time limits, the same as the gateway's. */
const usualTimes: TrialTimes = { answerMs: 10_000, outcomeMs: 60_000 };

/**
 * Tests a rail against all promises of the port, for payouts and collections, and for rate locks, receivers, webhooks
 * and deposits if it supports them. The checks run one after another, since they share the provider.
 */
export async function runConformance(trial: RailTrial, times: TrialTimes = usualTimes): Promise<CheckResult[]> {
  const rail = await trial.open();
  const kinds = [...(rail.payOut ? (['PAYOUT'] as const) : []), ...(rail.collect ? (['COLLECTION'] as const) : [])];
  const locks = rail.lockRate ? lockChecks : [];
  await rail.close?.();
  const ready: readonly ReadyCheck[] = [
    ...kinds.flatMap((kind) => checks.map((check) => ({ ...check, kind }))),
    ...locks.map((check) => ({ ...check, kind: 'PAYOUT' as const })),
    ...receiverChecks(rail).map((check) => ({ ...check, kind: 'RECEIVER' as const })),
    ...incomingChecks(rail),
  ];
  const results: CheckResult[] = [];
  for (const check of ready) results.push(await runCheck(check, trial, times));
  return results;
}

async function runCheck({ name, kind, run }: ReadyCheck, trial: RailTrial, times: TrialTimes): Promise<CheckResult> {
  const opened: Rail[] = [];
  const open = async () => {
    const rail = await trial.open();
    opened.push(rail);
    return rail;
  };
  const about = { check: name, kind };
  try {
    await run({ trial, kind: kind === 'COLLECTION' ? kind : 'PAYOUT', times, open });
    return { ...about, result: 'passed' };
  } catch (error) {
    if (error instanceof NotTried) return { ...about, result: 'not tried', reason: error.message };
    if (error instanceof Breach) return { ...about, result: 'failed', reason: error.message };
    return { ...about, result: 'failed', reason: `the trial failed: ${error instanceof Error ? error.stack : error}` };
  } finally {
    await Promise.allSettled(opened.map((rail) => rail.close?.()));
  }
}
