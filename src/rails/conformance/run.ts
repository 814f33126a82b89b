import type { Rail, UmaReceiver } from '../rail.ts';
import {
  type Check,
  checks,
  expectLocked,
  expectMoved,
  expectNoAnswer,
  lockChecks,
  lockOf,
  providerOf,
  type Tried,
  withFault,
} from './checks.ts';
import { Breach, NotTried } from './driver.ts';
import { incomingChecks } from './incoming-checks.ts';
import type { CheckResult, RailTrial, TrialReceivers, TrialTimes } from './trial.ts';

/** The default time limits, the same as the gateway's. */
const usualTimes: TrialTimes = { answerMs: 10_000, outcomeMs: 60_000 };

/** Tests a rail against the port's promises that apply to it. The checks share the provider, so they run one by one. */
export async function runConformance(trial: RailTrial, times: TrialTimes = usualTimes): Promise<CheckResult[]> {
  const rail = await trial.open();
  const kinds = [...(rail.payOut ? (['PAYOUT'] as const) : []), ...(rail.collect ? (['COLLECTION'] as const) : [])];
  await rail.close?.();
  const ready: readonly Check[] = [
    ...kinds.flatMap((kind) => checks.map((check) => ({ ...check, kind }))),
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

const lookUpChecks: readonly Check[] = [
  { kind: 'RECEIVER', name: 'finds the receiver at a known UMA address, and none at an unknown one', run: finds },
  { kind: 'RECEIVER', name: 'treats a silent provider as unknown, not as no receiver', run: isDown },
];
const paymentChecks: readonly Check[] = [
  { kind: 'RECEIVER', name: 'pays the locked amount to a UMA address once, even if the answer is lost', run: pays },
];

async function finds(tried: Tried): Promise<void> {
  const { known, unknown } = receiversOf(tried);
  const rail = await tried.open();
  const found = await rail.lookUp?.(known);
  if (!found) throw new Breach(`${known} has a receiver, but it found none`);
  checkReceiver(found);
  if (await rail.lookUp?.(unknown)) throw new Breach(`${unknown} has no receiver, but it found one`);
}

/** Checks that a silent provider is not mistaken for a missing receiver, because a valid payment would be refused. */
async function isDown(tried: Tried): Promise<void> {
  providerOf(tried);
  const { known } = receiversOf(tried);
  const rail = await tried.open();
  await expectNoAnswer(tried, () => rail.lookUp?.(known).then((found) => (found ? 'somebody' : 'nobody')));
}

async function pays(tried: Tried): Promise<void> {
  const { lock } = receiversOf(tried);
  if (!lock) throw new NotTried('the trial has no payment to a UMA address');
  const rail = await tried.open();
  for (const side of ['SENDING', 'RECEIVING'] as const) {
    const locked = await lockOf(tried, rail, lock(side));
    await withFault(tried, 'loses-answers', () => locked.drive.ask(rail));
    expectLocked(locked, await locked.drive.outcome(await tried.open()));
    await expectMoved(tried, locked.drive, 1n);
  }
}

function receiversOf({ trial }: Tried): TrialReceivers {
  if (!trial.receivers) throw new NotTried('the trial has no receivers');
  return trial.receivers;
}

function checkReceiver({ currencies, requiredFields }: UmaReceiver): void {
  if (currencies.length === 0) throw new Breach('a receiver must accept at least one currency');
  for (const { code, minAmount, maxAmount } of currencies) {
    if (!(minAmount >= 0n && minAmount <= maxAmount))
      throw new Breach(`a receiver cannot accept from ${minAmount} to ${maxAmount} ${code}`);
  }
  for (const { name } of requiredFields) if (name === '') throw new Breach('a required field must have a name');
}
