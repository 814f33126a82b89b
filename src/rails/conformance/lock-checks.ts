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
import type { Rail, RailOutcome } from '../rail.ts';
import type { LockRequest, RateLock } from '../rate-lock.ts';
import {
  type Check,
  expectMoved,
  expectNoAnswer,
  expectNothingFinal,
  providerOf,
  type Tried,
  withFault,
} from './checks.ts';
import { Breach, NotTried, TrialDrive, words } from './driver.ts';
import type { TrialLock } from './trial.ts';

/** The promises of the port about rate locks, for rails that lock rates. */
export const lockChecks: readonly Check[] = [
  { name: 'locks the requested amount, on either side, and moves no money', run: locks },
  { name: 'takes and delivers the locked amounts', run: keepsAmounts },
  { name: 'keeps a lock for as long as it promises', run: keepsTime },
  { name: 'moves the money of a lock once if the answer is lost', run: losesAnswers },
  { name: 'locks nothing if the provider does not answer', run: isDown },
];

type Side = LockRequest['lockedSide'];

/** The longest time for which a lock may be valid, in milliseconds: a day. */
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
  if (locked.validMs > tried.times.outcomeMs) {
    throw new NotTried(`the lock holds for ${locked.validMs} ms, which is longer than the suite waits`);
  }
  await sleep(Math.max(0, begin + locked.validMs * lastMoment - performance.now()));
  expectLocked(locked, await locked.drive.outcome(rail));
}

/** The fraction of a lock's lifetime after which it is used. The rest is left for the call. */
const lastMoment = 0.8;

async function losesAnswers(tried: Tried): Promise<void> {
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
  if (!request) throw new NotTried(`the trial has no request that locks the side ${side}`);
  return request;
}

function lockFor(tried: Tried, rail: Rail, side: Side): Promise<Locked> {
  return lockOf(tried, rail, requestOf(tried, side));
}

/**
 * Locks a rate and creates the order that uses it.
 * @throws Breach if the rail does not lock
 */
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

/**
 * Checks that an order settled with exactly the locked amounts.
 * @throws Breach otherwise
 */
export function expectLocked({ lock }: Locked, outcome: RailOutcome): void {
  if (outcome.kind !== 'settled') {
    throw new Breach(`the lock held, but the rail answered ${words(outcome)}`);
  }
  if (outcome.sent !== lock.sent || outcome.amount !== lock.received) {
    const said = `took ${outcome.sent} and delivered ${outcome.amount}`;
    throw new Breach(`it locked ${lock.sent} for ${lock.received}, and ${said}`);
  }
}

/** Checks that the sent amount without fees is worth the received amount, within one smallest unit of each currency. */
function expectRateLaw({ sending, receiving }: TrialLock, { sent, fees, received, rate }: RateLock): void {
  const unitsBought = divide(tenTo(receiving.decimals - sending.decimals), parseDecimal(rate));
  const worth = multiply(whole(sent - fees), unitsBought);
  const tolerance = add(whole(1n), unitsBought);
  const beyond = (difference: Fraction) => isLess(tolerance, difference);
  if (beyond(subtract(worth, whole(received))) || beyond(subtract(whole(received), worth))) {
    throw new Breach(`${sent} less fees of ${fees} at ${rate} is not ${received}`);
  }
}
