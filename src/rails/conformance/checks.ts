import type { Rail } from '../rail.ts';
import { Breach, NotTried, providerOf, type TrialDrive, type Tried, withFault, words } from './driver.ts';
import type { Course, ProviderFault } from './trial.ts';

/** Tests one of the port's promises with an order that takes `course`. Throws a Breach if the promise is broken. */
export type Check = readonly [
  name: string,
  course: Course,
  run: (drive: TrialDrive, rail: Rail, tried: Tried) => Promise<void>,
];

/** The checks of the port's promises about orders. Each check runs once for payouts and once for collections. */
export const checks: readonly Check[] = [
  ['settles an order, and moves its money once', 'settles', settles],
  ['ends a refused order with an explanation, and moves no money', 'refused', refuses],
  ['moves the money once, even if the answer is lost', 'settles', losesAnswers],
  ['moves the money once, even if two processes have the same order', 'settles', answersTwice],
  ['reports no other outcome after settling', 'settles', contradicts],
  ['reports a slow order as pending, and settles it', 'slow', takesTime],
  ['treats a late answer as an unknown outcome', 'settles', survives('is-slow', 1)],
  ['treats a provider that is down as an unknown outcome', 'settles', survives('is-down', 2)],
  ['continues the order of a killed process', 'settles', killed],
  ['reports an order as failed after refunding it', 'settles', givesBack],
];

async function settles(drive: TrialDrive, rail: Rail): Promise<void> {
  await drive.expectSettledOnce(rail);
  await drive.expectStanding(rail);
  await drive.expectMoved(1n);
}

async function refuses(drive: TrialDrive, rail: Rail): Promise<void> {
  const first = await drive.outcome(rail);
  if (first.kind !== 'failed' && first.kind !== 'rejected')
    throw new Breach(`the provider refused the order, but the rail answered ${words(first)}`);
  const again = await drive.outcome(rail);
  if (again.kind !== first.kind) throw new Breach(`it answered ${words(first)}, and then ${words(again)}`);
  await drive.expectMoved(0n);
}

/** Simulates the loss of the rail's answer to the gateway and, if possible, of the provider's answer to the rail. */
async function losesAnswers(drive: TrialDrive, rail: Rail, tried: Tried): Promise<void> {
  const lose = () => drive.expectNothingFinal(rail, 2);
  await withFault(tried, 'loses-answers', lose, () => drive.ask(rail));
  await drive.expectSettledOnce(rail);
}

async function answersTwice(drive: TrialDrive, rail: Rail, tried: Tried): Promise<void> {
  const second = await tried.open();
  await Promise.all([drive.ask(rail), drive.ask(second), drive.ask(rail)]);
  await drive.expectSettled(rail);
  await drive.expectSettledOnce(second);
}

async function contradicts(drive: TrialDrive, rail: Rail, tried: Tried): Promise<void> {
  await drive.expectSettled(rail);
  const contradicted = () => drive.expectStanding(rail, ['settled', 'contradiction', 'unknown']);
  await withFault(tried, 'contradicts', contradicted, () => drive.expectStanding(rail));
}

async function takesTime(drive: TrialDrive, rail: Rail): Promise<void> {
  let first = await drive.ask(rail);
  // A lost answer says nothing about the outcome, so ask again. The order must still reach a final outcome.
  for (let lost = 0; first.kind === 'unknown' && lost < 3; lost += 1) first = await drive.ask(rail);
  if (first.kind !== 'pending') throw new Breach(`the order is under way, but the rail answered ${words(first)}`);
  await drive.expectSettledOnce(rail);
}

function survives(fault: ProviderFault, times: number): Check[2] {
  return async (drive, rail, tried) => {
    await withFault(tried, fault, () => drive.expectNothingFinal(rail, times));
    await drive.expectSettledOnce(rail);
  };
}

/** Simulates a process that is killed before it sees the answer. The new process knows nothing about the call. */
async function killed(drive: TrialDrive, rail: Rail, tried: Tried): Promise<void> {
  await drive.ask(rail);
  await drive.expectSettledOnce(await tried.open());
}

async function givesBack(drive: TrialDrive, rail: Rail, tried: Tried): Promise<void> {
  if (tried.kind === 'PAYOUT') throw new NotTried('only collected money can be returned');
  providerOf(tried);
  await drive.expectSettled(rail);
  // The gateway may repeat giveBack, because after a lost answer it cannot know whether the call took effect.
  await rail.giveBack?.(drive.request(true));
  await rail.giveBack?.(drive.request(true));
  await drive.expectMoved(0n);
  const after = await drive.outcome(rail);
  if (after.kind !== 'failed') throw new Breach(`it gave the money back, and then answered ${words(after)}`);
}
