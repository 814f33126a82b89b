import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  add,
  divide,
  type Fraction,
  isLess,
  multiply,
  parseDecimal,
  rateFault,
  subtract,
  tenTo,
  whole,
} from '../../core/fraction.ts';
import type { Rail, RailOrder, RailOutcome } from '../rail.ts';
import type { LockRequest, RateLock } from '../rail-parts.ts';
import { Breach, NotTried, TrialDrive, words } from './driver.ts';
import type { CheckResult, Course, ProviderFault, RailTrial, TrialLock, TrialProvider, TrialTimes } from './trial.ts';

export interface Tried {
  readonly trial: RailTrial;
  readonly kind: RailOrder['kind'];
  readonly times: TrialTimes;
  /** Opens the rail. The suite closes it after the check. */
  open(): Promise<Rail>;
}

/** A check of one of the port's promises. It throws a Breach if the rail breaks the promise. */
export interface Check {
  readonly kind: CheckResult['kind'];
  readonly name: string;
  readonly run: (tried: Tried) => Promise<void>;
}

/** The port's promises about orders, for both payouts and collections. */
export const checks: readonly Omit<Check, 'kind'>[] = [
  { name: 'settles an order, and moves its money once', run: settles },
  { name: 'ends an order that the provider refuses, with an explanation, and moves nothing', run: refuses },
  { name: 'moves the money once, even if the answer is lost', run: losesAnswers },
  { name: 'moves the money once, even if two processes have the same order', run: answersTwice },
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
  if (first.kind !== 'failed' && first.kind !== 'rejected')
    throw new Breach(`the provider refused the order, but the rail answered ${words(first)}`);
  const again = await drive.outcome(rail);
  if (again.kind !== first.kind) throw new Breach(`it answered ${words(first)}, and then ${words(again)}`);
  await expectMoved(tried, drive, 0n);
}

/** Loses the rail's answer to the gateway and, if possible, the provider's answer to the rail. */
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
  // A lost answer reveals no outcome, so ask again. The order must still reach a final outcome.
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

/** Simulates a process that is killed before it sees the answer. A new process knows nothing of the call. */
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

/** Returns the trial's provider. @throws NotTried if the trial has none */
export function providerOf({ trial }: Tried): TrialProvider {
  if (!trial.provider) throw new NotTried('the trial has no provider to inject faults into');
  return trial.provider;
}

/** Runs a step while a fault is injected into the provider. If the trial has no provider, runs `otherwise`. */
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

/** Checks that the rail gives no answer while the provider is silent, because any answer would be a guess. */
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
    if (answer.kind !== 'unknown' && answer.kind !== 'pending')
      throw new Breach(`the provider did not answer, but the rail answered ${words(answer)}`);
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

/** The answers allowed after `settled`: an order stays settled unless its money is returned. */
const stands = ['settled', 'returned', 'unknown'];

async function expectStanding(drive: TrialDrive, rail: Rail, kinds: readonly string[] = stands): Promise<void> {
  const answer = await drive.ask(rail, true);
  if (!kinds.includes(answer.kind)) throw new Breach(`it answered settled, and then ${words(answer)}`);
}

/** Checks that the provider has moved an order's amount exactly `times` times. @throws Breach otherwise */
export async function expectMoved({ trial: { provider } }: Tried, drive: TrialDrive, times: bigint): Promise<void> {
  if (!provider) return;
  const moved = await provider.moved(drive.id);
  const right = times * drive.amount;
  if (moved !== right) throw new Breach(`the provider moved ${moved} instead of ${right}`);
}

/** The port's promises about rate locks, for rails that lock rates. */
export const lockChecks: readonly Check[] = [
  { kind: 'PAYOUT', name: 'locks the requested amount, on either side, and moves no money', run: locks },
  { kind: 'PAYOUT', name: 'takes and delivers the locked amounts', run: keepsAmounts },
  { kind: 'PAYOUT', name: 'keeps a lock for as long as it promises', run: keepsTime },
  { kind: 'PAYOUT', name: 'moves the money of a lock once, even if the answer is lost', run: losesLockAnswers },
  { kind: 'PAYOUT', name: 'locks nothing if the provider does not answer', run: isDown },
];

type Side = LockRequest['lockedSide'];

/** The maximum validity of a lock, in milliseconds: a day. */
const maxValidMs = 86_400_000;

interface Locked {
  readonly lock: RateLock;
  readonly validMs: number;
  readonly drive: TrialDrive;
}

async function locks(tried: Tried): Promise<void> {
  const rail = await tried.open();
  for (const side of ['SENDING', 'RECEIVING'] as const) {
    const request = requestOf(tried, side);
    const { lock, validMs, drive } = await lockFor(tried, rail, side);
    const amount = side === 'SENDING' ? lock.sent : lock.received;
    if (amount !== request.amount)
      throw new Breach(`it should have locked ${request.amount} ${side}, but locked ${amount}`);
    if (lock.fees < 0n || lock.fees >= lock.sent) throw new Breach(`fees of ${lock.fees} in ${lock.sent} sent`);
    if (!(validMs > 0 && validMs <= maxValidMs)) throw new Breach(`a lock cannot hold for ${validMs} ms`);
    const fault = rateFault(lock.rate);
    if (fault !== undefined) throw new Breach(`the rate ${lock.rate} ${fault}`);
    expectRateLaw(request, lock);
    await expectMoved(tried, drive, 0n);
  }
}

async function keepsAmounts(tried: Tried): Promise<void> {
  const rail = await tried.open();
  for (const side of ['SENDING', 'RECEIVING'] as const) {
    const locked = await lockFor(tried, rail, side);
    expectLocked(locked, await locked.drive.outcome(rail));
    await expectMoved(tried, locked.drive, 1n);
  }
}

async function keepsTime(tried: Tried): Promise<void> {
  const rail = await tried.open();
  const begin = performance.now();
  const locked = await lockFor(tried, rail, 'SENDING');
  if (locked.validMs > tried.times.outcomeMs)
    throw new NotTried(`the lock holds for ${locked.validMs} ms, which is longer than the suite waits`);
  await sleep(Math.max(0, begin + locked.validMs * lastMoment - performance.now()));
  expectLocked(locked, await locked.drive.outcome(rail));
}

/** The fraction of a lock's lifetime that passes before the suite uses it. The rest is left for the call. */
const lastMoment = 0.8;

async function losesLockAnswers(tried: Tried): Promise<void> {
  providerOf(tried);
  const rail = await tried.open();
  const locked = await lockFor(tried, rail, 'RECEIVING');
  await withFault(tried, 'loses-answers', () => expectNothingFinal(locked.drive, rail, 1));
  expectLocked(locked, await locked.drive.outcome(await tried.open()));
  await expectMoved(tried, locked.drive, 1n);
}

async function isDown(tried: Tried): Promise<void> {
  providerOf(tried);
  const rail = await tried.open();
  const newRequest = () => ({ ...requestOf(tried, 'SENDING'), id: randomUUID(), orderId: randomUUID() });
  await expectNoAnswer(tried, () => rail.lockRate?.(newRequest()).then(({ kind }) => kind));
}

function requestOf({ trial }: Tried, side: Side): TrialLock {
  const request = trial.lock?.(side);
  if (!request) throw new NotTried(`the trial has no request that locks the ${side} side`);
  return request;
}

function lockFor(tried: Tried, rail: Rail, side: Side): Promise<Locked> {
  return lockOf(tried, rail, requestOf(tried, side));
}

/** Locks a rate and creates the order that uses it. @throws Breach if the rail does not lock the rate */
export async function lockOf({ times }: Pick<Tried, 'times'>, rail: Rail, request: TrialLock): Promise<Locked> {
  const orderId = randomUUID();
  const answer = await rail.lockRate?.({ ...request, id: randomUUID(), orderId });
  if (answer?.kind !== 'locked')
    throw new Breach(`it should have locked a rate, but answered ${JSON.stringify(answer)}`);
  const { lock, validMs } = answer;
  const order = { amount: lock.received, currency: request.receiving.code, account: request.account, lock };
  const drive = new TrialDrive({ ...order, umaAddress: request.uma?.address }, 'PAYOUT', times, orderId);
  return { lock, validMs, drive };
}

/** Checks that an order settled with exactly the locked amounts. @throws Breach otherwise */
export function expectLocked({ lock }: Locked, outcome: RailOutcome): void {
  if (outcome.kind !== 'settled') throw new Breach(`the lock held, but the rail answered ${words(outcome)}`);
  if (outcome.sent !== lock.sent || outcome.amount !== lock.received) {
    const said = `took ${outcome.sent} and delivered ${outcome.amount}`;
    throw new Breach(`it locked ${lock.sent} for ${lock.received}, and ${said}`);
  }
}

/** Checks that the sent amount less fees is worth the received amount, to within one smallest unit of each currency. */
function expectRateLaw({ sending, receiving }: TrialLock, { sent, fees, received, rate }: RateLock): void {
  const unitsBought = divide(tenTo(receiving.decimals - sending.decimals), parseDecimal(rate));
  const worth = multiply(whole(sent - fees), unitsBought);
  const tolerance = add(whole(1n), unitsBought);
  const beyond = (difference: Fraction) => isLess(tolerance, difference);
  if (beyond(subtract(worth, whole(received))) || beyond(subtract(whole(received), worth)))
    throw new Breach(`${sent} less fees of ${fees} at ${rate} is not ${received}`);
}
