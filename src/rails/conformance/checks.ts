import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Fraction, parseDecimal, rateFault, tenTo, whole } from '../../core/fraction.ts';
import type { Rail, RailOrder, UmaReceiver } from '../rail.ts';
import type { LockRequest, RailDeposit, RailWebhook, RateLock } from '../rail-parts.ts';
import {
  Breach,
  type Check,
  expectNoAnswer,
  NotTried,
  providerOf,
  retryMs,
  TrialDrive,
  type Tried,
  withFault,
  words,
} from './driver.ts';
import type { Course, ProviderFault, TrialLock, TrialReceivers } from './trial.ts';

type OrderCheck = readonly [
  name: string,
  course: Course,
  run: (drive: TrialDrive, rail: Rail, tried: Tried) => Promise<void>,
];

const orderChecks: readonly OrderCheck[] = [
  ['settles an order, and moves its money once', 'settles', settles],
  ['ends an order that the provider refuses, with an explanation, and moves nothing', 'refused', refuses],
  ['moves the money once, even if the answer is lost', 'settles', losesAnswers],
  ['moves the money once, even if two processes have the same order', 'settles', answersTwice],
  ['reports no other outcome after settling', 'settles', contradicts],
  ['reports a slow order as pending, and settles it', 'slow', takesTime],
  ['treats a late answer as an unknown outcome', 'settles', survives('is-slow', 1)],
  ['treats a provider that is down as an unknown outcome', 'settles', survives('is-down', 2)],
  ['continues the order of a killed process', 'settles', killed],
  ['reports an order as failed after refunding it', 'settles', givesBack],
];

/** Returns the checks of what the port promises about orders, for payouts or collections. */
export function checksOfOrders(kind: RailOrder['kind']): Check[] {
  return orderChecks.map(([name, course, run]) => ({
    kind,
    name,
    async run(rail, tried) {
      const order = tried.trial.order(course, kind);
      if (!order) throw new NotTried(`the trial has no order that is: ${course}`);
      await run(new TrialDrive(tried, order), rail, tried);
    },
  }));
}

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
  // A lost answer reveals no outcome, so ask again. The order must still reach a final outcome.
  for (let lost = 0; first.kind === 'unknown' && lost < 3; lost += 1) first = await drive.ask(rail);
  if (first.kind !== 'pending') throw new Breach(`the order is under way, but the rail answered ${words(first)}`);
  await drive.expectSettledOnce(rail);
}

function survives(fault: ProviderFault, times: number): OrderCheck[2] {
  return async (drive, rail, tried) => {
    await withFault(tried, fault, () => drive.expectNothingFinal(rail, times));
    await drive.expectSettledOnce(rail);
  };
}

/** Simulates a process that is killed before it sees the answer. A new process knows nothing of the call. */
async function killed(drive: TrialDrive, rail: Rail, tried: Tried): Promise<void> {
  await drive.ask(rail);
  await drive.expectSettledOnce(await tried.open());
}

async function givesBack(drive: TrialDrive, rail: Rail, tried: Tried): Promise<void> {
  if (tried.kind === 'PAYOUT') throw new NotTried('only collected money can be returned');
  providerOf(tried);
  await drive.expectSettled(rail);
  // The gateway calls this at least once, because it cannot know whether a call whose answer was lost took effect.
  await rail.giveBack?.(drive.request(true));
  await rail.giveBack?.(drive.request(true));
  await drive.expectMoved(0n);
  const after = await drive.outcome(rail);
  if (after.kind !== 'failed') throw new Breach(`it gave the money back, and then answered ${words(after)}`);
}

/** The port's promises about rate locks, for rails that lock rates. */
export const lockChecks: readonly Check[] = [
  { kind: 'PAYOUT', name: 'locks the requested amount, on either side, and moves no money', run: locks },
  { kind: 'PAYOUT', name: 'takes and delivers the locked amounts', run: keepsAmounts },
  { kind: 'PAYOUT', name: 'keeps a lock for as long as it promises', run: keepsTime },
  { kind: 'PAYOUT', name: 'moves the money of a lock once, even if the answer is lost', run: losesLockAnswers },
  { kind: 'PAYOUT', name: 'locks nothing if the provider does not answer', run: locksNothing },
];

type Side = LockRequest['lockedSide'];
const sides = ['SENDING', 'RECEIVING'] as const;

/** The maximum validity of a lock, in milliseconds: a day. */
const maxValidMs = 86_400_000;

async function locks(rail: Rail, tried: Tried): Promise<void> {
  for (const side of sides) {
    const request = requestOf(tried, side);
    const { lock, validMs, drive } = await lockOf(tried, rail, request);
    const amount = side === 'SENDING' ? lock.sent : lock.received;
    if (amount !== request.amount)
      throw new Breach(`it should have locked ${request.amount} ${side}, but locked ${amount}`);
    if (lock.fees < 0n || lock.fees >= lock.sent) throw new Breach(`fees of ${lock.fees} in ${lock.sent} sent`);
    if (!(validMs > 0 && validMs <= maxValidMs)) throw new Breach(`a lock cannot hold for ${validMs} ms`);
    const fault = rateFault(lock.rate);
    if (fault !== undefined) throw new Breach(`the rate ${lock.rate} ${fault}`);
    expectRateLaw(request, lock);
    await drive.expectMoved(0n);
  }
}

async function keepsAmounts(rail: Rail, tried: Tried): Promise<void> {
  for (const side of sides) {
    const locked = await lockOf(tried, rail, requestOf(tried, side));
    await expectLocked(locked, rail);
  }
}

async function keepsTime(rail: Rail, tried: Tried): Promise<void> {
  const begin = performance.now();
  const locked = await lockOf(tried, rail, requestOf(tried, 'SENDING'));
  if (locked.validMs > tried.times.outcomeMs)
    throw new NotTried(`the lock holds for ${locked.validMs} ms, which is longer than the suite waits`);
  await sleep(Math.max(0, begin + locked.validMs * lastMoment - performance.now()));
  await expectLocked(locked, rail);
}

/** The fraction of a lock's lifetime after which the suite uses the lock. The rest is left for the call. */
const lastMoment = 0.8;

async function losesLockAnswers(rail: Rail, tried: Tried): Promise<void> {
  const locked = await lockOf(tried, rail, requestOf(tried, 'RECEIVING'));
  await withFault(tried, 'loses-answers', () => locked.drive.expectNothingFinal(rail, 1));
  await expectLocked(locked, await tried.open());
}

async function locksNothing(rail: Rail, tried: Tried): Promise<void> {
  const newRequest = () => ({ ...requestOf(tried, 'SENDING'), id: randomUUID(), orderId: randomUUID() });
  await expectNoAnswer(tried, () => rail.lockRate?.(newRequest()).then(({ kind }) => kind));
}

function requestOf({ trial }: Tried, side: Side): TrialLock {
  const request = trial.lock?.(side);
  if (!request) throw new NotTried(`the trial has no request that locks the ${side} side`);
  return request;
}

/** Locks a rate and creates the order that uses it. @throws Breach if the rail does not lock the rate */
async function lockOf(tried: Tried, rail: Rail, request: TrialLock) {
  const orderId = randomUUID();
  const answer = await rail.lockRate?.({ ...request, id: randomUUID(), orderId });
  if (answer?.kind !== 'locked')
    throw new Breach(`it should have locked a rate, but answered ${JSON.stringify(answer)}`);
  const { lock, validMs } = answer;
  const order = { amount: lock.received, currency: request.receiving.code, account: request.account, lock };
  return { lock, validMs, drive: new TrialDrive(tried, { ...order, umaAddress: request.uma?.address }, orderId) };
}

/** Checks that an order settles with exactly the locked amounts, once. @throws Breach otherwise */
async function expectLocked({ lock, drive }: Awaited<ReturnType<typeof lockOf>>, rail: Rail): Promise<void> {
  const outcome = await drive.outcome(rail);
  if (outcome.kind !== 'settled') throw new Breach(`the lock held, but the rail answered ${words(outcome)}`);
  if (outcome.sent !== lock.sent || outcome.amount !== lock.received) {
    const said = `took ${outcome.sent} and delivered ${outcome.amount}`;
    throw new Breach(`it locked ${lock.sent} for ${lock.received}, and ${said}`);
  }
  await drive.expectMoved(1n);
}

/** Checks that the sent amount less fees is worth the received amount, to within one smallest unit of each currency. */
function expectRateLaw({ sending, receiving }: TrialLock, { sent, fees, received, rate }: RateLock): void {
  const unitsBought = tenTo(receiving.decimals - sending.decimals).over(parseDecimal(rate));
  const worth = whole(sent - fees).times(unitsBought);
  const tolerance = whole(1n).plus(unitsBought);
  const beyond = (difference: Fraction) => tolerance.isLessThan(difference);
  if (beyond(worth.minus(whole(received))) || beyond(whole(received).minus(worth)))
    throw new Breach(`${sent} less fees of ${fees} at ${rate} is not ${received}`);
}

/** The port's promises about UMA addresses, for rails that look up receivers. */
export const lookUpChecks: readonly Check[] = [
  { kind: 'RECEIVER', name: 'finds the receiver at a known UMA address, and none at an unknown one', run: finds },
  { kind: 'RECEIVER', name: 'treats a silent provider as unknown, not as no receiver', run: findsNothing },
];
export const paymentChecks: readonly Check[] = [
  { kind: 'RECEIVER', name: 'pays the locked amount to a UMA address once, even if the answer is lost', run: pays },
];

async function finds(rail: Rail, tried: Tried): Promise<void> {
  const { known, unknown } = receiversOf(tried);
  const found = await rail.lookUp?.(known);
  if (!found) throw new Breach(`${known} has a receiver, but it found none`);
  checkReceiver(found);
  if (await rail.lookUp?.(unknown)) throw new Breach(`${unknown} has no receiver, but it found one`);
}

/** Checks that a silent provider is not mistaken for a missing receiver. Otherwise, valid payments would be refused. */
async function findsNothing(rail: Rail, tried: Tried): Promise<void> {
  const { known } = receiversOf(tried);
  await expectNoAnswer(tried, () => rail.lookUp?.(known).then((found) => (found ? 'somebody' : 'nobody')));
}

async function pays(rail: Rail, tried: Tried): Promise<void> {
  const { lock } = receiversOf(tried);
  if (!lock) throw new NotTried('the trial has no payment to a UMA address');
  for (const side of sides) {
    const locked = await lockOf(tried, rail, lock(side));
    const lose = () => locked.drive.ask(rail);
    await withFault(tried, 'loses-answers', lose, lose);
    await expectLocked(locked, await tried.open());
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

const webhookChecks: readonly Check[] = [
  { kind: 'WEBHOOK', name: 'accepts webhooks that its provider has signed, under the same id each time', run: accepts },
  { kind: 'WEBHOOK', name: 'refuses webhooks that its provider has not signed', run: refusesForgeries },
];
const depositChecks: readonly Check[] = [
  { kind: 'DEPOSIT', name: 'lists a deposit once, starting at its own time', run: lists },
  { kind: 'DEPOSIT', name: 'takes a deposit once, even if the answer is lost', run: takesOnce },
];

/** Returns the webhook and deposit checks that apply to this rail's methods. */
export function incomingChecks(rail: Rail): readonly Check[] {
  return [...(rail.receiveWebhook ? webhookChecks : []), ...(rail.deposits ? depositChecks : [])];
}

async function accepts(rail: Rail, tried: Tried): Promise<void> {
  const orderId = randomUUID();
  const webhook = await webhookOf(tried, orderId);
  const [first, again] = [await rail.receiveWebhook?.(webhook), await rail.receiveWebhook?.(webhook)];
  if (!first || !again) throw new Breach('it refused a webhook that the provider has signed');
  if (first.id !== again.id) throw new Breach(`the same webhook had the id ${first.id}, and then ${again.id}`);
  const other = await rail.receiveWebhook?.(await webhookOf(tried, orderId));
  if (other?.id === first.id) throw new Breach(`two webhooks have the id ${first.id}`);
  // A different process may handle the webhook, possibly for the second time.
  for (const reader of [rail, await tried.open()]) {
    const news = (await reader.readWebhook?.(webhook.body)) ?? [];
    if (!news.some((one) => one.kind === 'order' && one.orderId === orderId))
      throw new Breach(`it read ${JSON.stringify(news)} in a webhook about the order ${orderId}`);
  }
}

async function refusesForgeries(rail: Rail, tried: Tried): Promise<void> {
  const webhook = await webhookOf(tried, randomUUID());
  const body = Buffer.concat([webhook.body, Buffer.from(' ')]);
  const forgeries: readonly (readonly [string, RailWebhook])[] = [
    ['without header fields', { ...webhook, headers: {} }],
    ['with another body', { ...webhook, body }],
    ['of another order, with its header fields', { ...webhook, body: (await webhookOf(tried, randomUUID())).body }],
  ];
  for (const [words, forgery] of forgeries) {
    if (await rail.receiveWebhook?.(forgery)) throw new Breach(`it accepted a webhook ${words}`);
  }
}

async function lists(rail: Rail, tried: Tried): Promise<void> {
  const deposit = await depositOf(tried, rail);
  const again = await listed(rail, deposit.at);
  const same = again.filter(({ reference }) => reference === deposit.reference);
  if (same.length !== 1) throw new Breach(`a deposit is listed ${same.length} times starting at its own time`);
  const later = await listed(rail, new Date(deposit.at.getTime() + 86_400_000));
  if (later.some(({ reference }) => reference === deposit.reference))
    throw new Breach('a deposit is listed among the deposits that began a day later');
}

async function takesOnce(rail: Rail, tried: Tried): Promise<void> {
  const { incoming } = tried.trial;
  if (!incoming?.taken) throw new NotTried('the trial does not report how much of a deposit was taken');
  const { reference, amount, currency, heldAt } = await depositOf(tried, rail);
  const request = { id: randomUUID(), reference, amount, currency, heldAt };
  const take = async (of: Rail) => of.takeDeposit?.(request);
  const lose = () => take(rail).catch(() => undefined);
  await withFault(tried, 'loses-answers', lose, lose);
  // Another process takes over. It calls twice, as if the answer to its first call had also been lost.
  const successor = await tried.open();
  for (const one of [successor, successor]) {
    const taken = await take(one);
    if (taken?.kind !== 'taken') throw new Breach(`it did not take a deposit: ${JSON.stringify(taken)}`);
  }
  const moved = await incoming.taken(reference);
  if (moved !== amount) throw new Breach(`the provider made ${moved} available instead of ${amount}`);
}

async function webhookOf({ trial: { incoming } }: Tried, orderId: string): Promise<RailWebhook> {
  if (!incoming?.webhook) throw new NotTried('the trial has no webhooks');
  return incoming.webhook(orderId);
}

async function depositOf({ trial: { incoming }, times }: Tried, rail: Rail): Promise<RailDeposit> {
  if (!incoming?.deposit) throw new NotTried('the trial has no deposits');
  const from = new Date(Date.now() - 3_600_000);
  const before = new Set((await listed(rail, from)).map(({ reference }) => reference));
  const { amount, currency, customerId } = await incoming.deposit();
  const deadline = performance.now() + times.outcomeMs;
  while (performance.now() < deadline) {
    const found = (await listed(rail, from)).find(
      ({ reference, state }) => state === 'SETTLED' && !before.has(reference),
    );
    if (!found) {
      await sleep(retryMs);
      continue;
    }
    if (found.amount === amount && found.currency === currency && found.customerId === customerId) return found;
    throw new Breach(`${amount} ${currency} came in for ${customerId}, but the rail listed a different deposit`);
  }
  throw new Breach(`a deposit is not listed after ${times.outcomeMs} ms`);
}

async function listed(rail: Rail, from: Date): Promise<readonly RailDeposit[]> {
  const all: RailDeposit[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await rail.deposits?.({ from, cursor });
    all.push(...(page?.deposits ?? []));
    cursor = page?.nextCursor;
    if (cursor === undefined) return all;
  }
}
