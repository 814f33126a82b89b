import type { Rail } from '../rail.ts';
import { type Check, checks, type Tried } from './checks.ts';
import { Breach, NotTried } from './driver.ts';
import { lockChecks } from './lock-checks.ts';
import type { CheckResult, RailTrial, TrialTimes } from './trial.ts';

/** The usual times: those of the gateway. */
const usualTimes: TrialTimes = { answerMs: 10_000, outcomeMs: 60_000 };

/**
 * Tries all promises of the port on a rail, for payouts, for collections and for rate locks where it has them. One after
 * the other, since they share the provider.
 */
export async function runConformance(trial: RailTrial, times: TrialTimes = usualTimes): Promise<CheckResult[]> {
  const rail = await trial.open();
  const kinds = [...(rail.payOut ? (['PAYOUT'] as const) : []), ...(rail.collect ? (['COLLECTION'] as const) : [])];
  const locks = rail.lockRate ? lockChecks : [];
  await rail.close?.();
  const results: CheckResult[] = [];
  for (const kind of kinds) {
    for (const check of checks) results.push(await runCheck(check, { trial, kind, times }));
  }
  for (const check of locks) results.push(await runCheck(check, { trial, kind: 'PAYOUT', times }));
  return results;
}

async function runCheck(check: Check, tried: Omit<Tried, 'open'>): Promise<CheckResult> {
  const opened: Rail[] = [];
  const open = async () => {
    const rail = await tried.trial.open();
    opened.push(rail);
    return rail;
  };
  const about = { check: check.name, kind: tried.kind };
  try {
    await check.run({ ...tried, open });
    return { ...about, result: 'passed' };
  } catch (error) {
    if (error instanceof NotTried) return { ...about, result: 'not tried', reason: error.message };
    if (error instanceof Breach) return { ...about, result: 'failed', reason: error.message };
    return { ...about, result: 'failed', reason: `the trial failed: ${error instanceof Error ? error.stack : error}` };
  } finally {
    await Promise.allSettled(opened.map((rail) => rail.close?.()));
  }
}
