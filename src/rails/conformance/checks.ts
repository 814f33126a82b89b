import type { Rail, RailOrder } from '../rail.ts';
import { Breach, NotTried, TrialDrive, words } from './driver.ts';
import type { CheckResult, Course, ProviderFault, RailTrial, TrialProvider, TrialTimes } from './trial.ts';

export interface Tried {
  readonly trial: RailTrial;
  readonly kind: RailOrder['kind'];
  readonly times: TrialTimes;
  /** Opens the rail, which is closed after the check. */
  open(): Promise<Rail>;
}

/** The check of one promise of the port. It throws a Breach if the rail breaks the promise. */
export interface Check {
  readonly name: string;
  readonly run: (tried: Tried) => Promise<void>;
}

export interface ReadyCheck extends Check {
  readonly kind: CheckResult['kind'];
}

const noProvider = 'the trial has no provider to inject faults into';

/** The promises of the port about orders, for payouts and collections alike. */
export const checks: readonly Check[] = [
  { name: 'settles an order, and moves its money once', run: settles },
  { name: 'ends an order that the provider refuses, with an explanation, and moves nothing', run: refuses },
  { name: 'moves the money once if the answer to it is lost', run: losesAnswers },
  { name: 'moves the money once if two processes have the same order', run: answersTwice },
  { name: 'reports no other outcome after settling', run: contradicts },
  { name: 'reports a slow order as pending, and settles it', run: takesTime },
  { name: 'treats a late answer as an unknown outcome', run: isSilent('is-slow', 1) },
  { name: 'treats a provider that is down as an unknown outcome', run: isSilent('is-down', 2) },
  { name: 'continues the order of a killed process', run: killed },
  { name: 'reports an order as failed after refunding it', run: givesBack },
];

async function settles(tried: Tried): Promise<void> {
  const drive = driveOf(tried, 'settles');
  const rail = await tried.open();
  await expectSettledOnce(tried, drive, rail);
  await expectStanding(drive, rail);
  await expectMoved(tried, drive, 1n);
}

async function refuses(tried: Tried): Promise<void> {
  const drive = driveOf(tried, 'refused');
  const rail = await tried.open();
  const first = await drive.outcome(rail);
  if (first.kind !== 'failed' && first.kind !== 'rejected') {
    throw new Breach(`the provider refused the order, but the rail answered ${words(first)}`);
  }
  const again = await drive.outcome(rail);
  if (again.kind !== first.kind) throw new Breach(`it answered ${words(first)}, and then ${words(again)}`);
  await expectMoved(tried, drive, 0n);
}

/**
 * Makes the gateway lose the rail's answer and, if the provider supports this fault, the rail lose the provider's
 * answer.
 */
async function losesAnswers(tried: Tried): Promise<void> {
  const drive = driveOf(tried, 'settles');
  const rail = await tried.open();
  await withFault(
    tried,
    'loses-answers',
    () => expectNothingFinal(drive, rail, 2),
    () => drive.ask(rail),
  );
  await expectSettledOnce(tried, drive, rail);
}

async function answersTwice(tried: Tried): Promise<void> {
  const drive = driveOf(tried, 'settles');
  const [first, second] = [await tried.open(), await tried.open()];
  await Promise.all([drive.ask(first), drive.ask(second), drive.ask(first)]);
  await expectSettled(drive, first);
  await expectSettledOnce(tried, drive, second);
}

async function contradicts(tried: Tried): Promise<void> {
  const drive = driveOf(tried, 'settles');
  const rail = await tried.open();
  await expectSettled(drive, rail);
  const standing = (kinds: readonly string[]) => () => expectStanding(drive, rail, kinds);
  await withFault(tried, 'contradicts', standing(['settled', 'contradiction', 'unknown']), standing(stands));
}

async function takesTime(tried: Tried): Promise<void> {
  const drive = driveOf(tried, 'slow');
  const rail = await tried.open();
  let first = await drive.ask(rail);
  // A lost answer reveals no outcome, so ask again: the order must still reach an outcome.
  for (let lost = 0; first.kind === 'unknown' && lost < 3; lost += 1) first = await drive.ask(rail);
  if (first.kind !== 'pending') throw new Breach(`the order is under way, but the rail answered ${words(first)}`);
  await expectSettledOnce(tried, drive, rail);
}

function isSilent(fault: ProviderFault, times: number) {
  return async (tried: Tried): Promise<void> => {
    providerOf(tried);
    const drive = driveOf(tried, 'settles');
    const rail = await tried.open();
    await withFault(tried, fault, () => expectNothingFinal(drive, rail, times));
    await expectSettledOnce(tried, drive, rail);
  };
}

/** Simulates a killed process, which sees no answer: another process opens the rail, and knows nothing of the first. */
async function killed(tried: Tried): Promise<void> {
  const drive = driveOf(tried, 'settles');
  await drive.ask(await tried.open());
  await expectSettledOnce(tried, drive, await tried.open());
}

async function givesBack(tried: Tried): Promise<void> {
  if (tried.kind === 'PAYOUT') throw new NotTried('only collected money can be returned');
  providerOf(tried);
  const drive = driveOf(tried, 'settles');
  const rail = await tried.open();
  await expectSettled(drive, rail);
  // The gateway calls this at least once, because it cannot know whether a call whose answer was lost took effect.
  await rail.giveBack?.(drive.request(true));
  await rail.giveBack?.(drive.request(true));
  await expectMoved(tried, drive, 0n);
  const after = await drive.outcome(rail);
  if (after.kind !== 'failed') throw new Breach(`it gave the money back, and then answered ${words(after)}`);
}

function driveOf({ trial, kind, times }: Tried, course: Course): TrialDrive {
  const order = trial.order(course, kind);
  if (!order) throw new NotTried(`the trial has no order that is: ${course}`);
  return new TrialDrive(order, kind, times);
}

/**
 * Returns the provider of a trial.
 * @throws NotTried without one
 */
export function providerOf({ trial }: Tried): TrialProvider {
  if (!trial.provider) throw new NotTried(noProvider);
  return trial.provider;
}

/** Runs a step while the provider has a fault; without a provider, runs `otherwise`. */
export async function withFault(
  { trial: { provider } }: Tried,
  fault: ProviderFault,
  step: () => Promise<unknown>,
  otherwise?: () => Promise<unknown>,
): Promise<void> {
  if (!provider) return void (await otherwise?.());
  await provider.setFault(fault);
  try {
    await step();
  } finally {
    await provider.setFault('none');
  }
}

/** Checks that the rail gives no answer while the provider is silent, since any answer would be a guess. */
export async function expectNoAnswer(tried: Tried, ask: () => Promise<string | undefined> | undefined): Promise<void> {
  for (const fault of ['is-down', 'loses-answers'] as const) {
    await withFault(tried, fault, async () => {
      const answer = await ask()?.catch(() => undefined);
      if (answer) throw new Breach(`the provider did not answer, but the rail answered ${answer}`);
    });
  }
}

/** Checks that the rail reports no final outcome while the provider is silent. */
export async function expectNothingFinal(drive: TrialDrive, rail: Rail, times: number): Promise<void> {
  for (let asked = 0; asked < times; asked += 1) {
    const answer = await drive.ask(rail);
    if (answer.kind !== 'unknown' && answer.kind !== 'pending') {
      throw new Breach(`the provider did not answer, but the rail answered ${words(answer)}`);
    }
  }
}

async function expectSettled(drive: TrialDrive, rail: Rail): Promise<void> {
  const outcome = await drive.outcome(rail);
  if (outcome.kind !== 'settled')
    throw new Breach(`the provider settled the order, but the rail answered ${words(outcome)}`);
}

async function expectSettledOnce(tried: Tried, drive: TrialDrive, rail: Rail): Promise<void> {
  await expectSettled(drive, rail);
  await expectMoved(tried, drive, 1n);
}

/** The answers allowed after `settled`: a settled order stays settled, or its money is returned. */
const stands = ['settled', 'returned', 'unknown'];

async function expectStanding(drive: TrialDrive, rail: Rail, kinds: readonly string[] = stands): Promise<void> {
  const answer = await drive.ask(rail, true);
  if (!kinds.includes(answer.kind)) {
    throw new Breach(`it answered settled, and then ${words(answer)}`);
  }
}

/**
 * Checks that the provider has moved the amount of an order this many times.
 * @throws Breach otherwise
 */
export async function expectMoved({ trial: { provider } }: Tried, drive: TrialDrive, times: bigint): Promise<void> {
  if (!provider) return;
  const moved = await provider.moved(drive.id);
  const right = times * drive.amount;
  if (moved !== right) throw new Breach(`the provider moved ${moved} instead of ${right}`);
}
