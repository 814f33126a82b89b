import type { Rail, RailOrder } from '../rail.ts';
import { type Check, checks } from './checks.ts';
import { Breach, NotTried, TrialDrive } from './driver.ts';
import type { CheckResult, RailTrial, TrialTimes } from './trial.ts';

/** The default time limits, the same as the gateway's. */
const usualTimes: TrialTimes = { answerMs: 10_000, outcomeMs: 60_000 };

/** Tests a rail against the port's promises about orders. The checks share the provider, so they run one by one. */
export async function runConformance(trial: RailTrial, times: TrialTimes = usualTimes): Promise<CheckResult[]> {
  const rail = await trial.open();
  await rail.close?.();
  const results: CheckResult[] = [];
  if (rail.payOut) for (const check of checks) results.push(await runCheck(check, 'PAYOUT', trial, times));
  if (rail.collect) for (const check of checks) results.push(await runCheck(check, 'COLLECTION', trial, times));
  return results;
}

async function runCheck(
  [check, course, run]: Check,
  kind: RailOrder['kind'],
  trial: RailTrial,
  times: TrialTimes,
): Promise<CheckResult> {
  const opened: Rail[] = [];
  const open = async () => {
    const rail = await trial.open();
    opened.push(rail);
    return rail;
  };
  const about = { check, kind };
  try {
    const tried = { trial, kind, times, open };
    const rail = await open();
    const order = trial.order(course, kind);
    if (!order) throw new NotTried(`the trial has no order with the course "${course}"`);
    await run(new TrialDrive(tried, order), rail, tried);
    return { ...about, result: 'passed' };
  } catch (error) {
    if (error instanceof NotTried) return { ...about, result: 'not tried', reason: error.message };
    if (error instanceof Breach) return { ...about, result: 'failed', reason: error.message };
    return { ...about, result: 'failed', reason: `the trial failed: ${error instanceof Error ? error.stack : error}` };
  } finally {
    await Promise.allSettled(opened.map((rail) => rail.close?.()));
  }
}
