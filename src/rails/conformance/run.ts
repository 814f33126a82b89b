import type { Rail } from '../rail.ts';
import { checksOfOrders, incomingChecks, lockChecks, lookUpChecks, paymentChecks } from './checks.ts';
import { Breach, type Check, NotTried } from './driver.ts';
import type { CheckResult, RailTrial, TrialTimes } from './trial.ts';

/** The default time limits, the same as the gateway's. */
const usualTimes: TrialTimes = { answerMs: 10_000, outcomeMs: 60_000 };

/** Tests a rail against the port's promises that apply to it. The checks share the provider, so they run one by one. */
export async function runConformance(trial: RailTrial, times: TrialTimes = usualTimes): Promise<CheckResult[]> {
  const rail = await trial.open();
  await rail.close?.();
  const ready: readonly Check[] = [
    ...(rail.payOut ? checksOfOrders('PAYOUT') : []),
    ...(rail.collect ? checksOfOrders('COLLECTION') : []),
    ...(rail.lockRate ? lockChecks : []),
    ...(rail.lookUp ? lookUpChecks : []),
    ...(rail.lookUp && rail.lockRate ? paymentChecks : []),
    ...incomingChecks(rail),
  ];
  const results: CheckResult[] = [];
  for (const check of ready) results.push(await runCheck(check, trial, times));
  return results;
}

async function runCheck({ name, kind, run }: Check, trial: RailTrial, times: TrialTimes): Promise<CheckResult> {
  const opened: Rail[] = [];
  const open = async () => {
    const rail = await trial.open();
    opened.push(rail);
    return rail;
  };
  const about = { check: name, kind };
  try {
    await run(await open(), { trial, kind: kind === 'COLLECTION' ? kind : 'PAYOUT', times, open });
    return { ...about, result: 'passed' };
  } catch (error) {
    if (error instanceof NotTried) return { ...about, result: 'not tried', reason: error.message };
    if (error instanceof Breach) return { ...about, result: 'failed', reason: error.message };
    return { ...about, result: 'failed', reason: `the trial failed: ${error instanceof Error ? error.stack : error}` };
  } finally {
    await Promise.allSettled(opened.map((rail) => rail.close?.()));
  }
}
