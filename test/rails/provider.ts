import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { requiredCurrency } from '../../src/core/currencies.ts';
import type { ProviderFault, RailTrial, TrialTimes } from '../../src/rails/conformance/trial.ts';
import type { Rail, RailOrder, RailOutcome } from '../../src/rails/rail.ts';
import type { LockAnswer, LockRequest, RailDeposit, RailWebhook, RateLock } from '../../src/rails/rail-parts.ts';

/** The timings of a trial in tests. A slow provider responds after 60 ms. */
export const quickTimes: TrialTimes = { answerMs: 40, outcomeMs: 5_000 };
/** The timings for a faulty rail, so that the suite does not wait long for an outcome that never arrives. */
export const shortTimes: TrialTimes = { ...quickTimes, outcomeMs: 400 };

/** How long the provider holds a lock, in milliseconds. */
const lockMs = 600;

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const customerId = '0197f2a0-0000-7000-8000-000000000009';

type State = 'under way' | 'settled' | 'failed';

/** A payments provider that takes an idempotency key for each payment and fails in the ways that real providers do. */
export class Provider {
  fault: ProviderFault = 'none';
  /** The expiry of each lock. */
  readonly #locks = new Map<string, number>();
  readonly #payments = new Map<string, { order: RailOrder; state: State; asked: number; givenBack: boolean }>();

  readonly deposits: RailDeposit[] = [];
  /** The amounts that were made available, by key. */
  readonly taken = new Map<string, { readonly reference: string; readonly amount: bigint }>();

  /** Creates or finds the payment with this key, and returns its state. */
  async pay(key: string, order: RailOrder): Promise<State> {
    if (this.fault === 'is-down') throw new Error('connect ECONNREFUSED');
    const known = this.#payments.get(key);
    const payment = known ?? { order, state: 'under way', asked: 0, givenBack: false };
    this.#payments.set(key, payment);
    payment.asked += 1;
    const { identifier } = order.account ?? { identifier: '' };
    if (identifier === 'refused') payment.state = 'failed';
    else if (identifier !== 'slow' || payment.asked > 2) payment.state = 'settled';
    if (this.fault === 'loses-answers') throw new Error('socket hang up');
    if (this.fault === 'is-slow') await sleep(60);
    return this.fault === 'contradicts' && payment.state === 'settled' ? 'failed' : payment.state;
  }

  /** Throws if the test wants the provider to be down or to lose its responses. */
  async answer(): Promise<void> {
    if (this.fault === 'is-down') throw new Error('connect ECONNREFUSED');
    if (this.fault === 'loses-answers') throw new Error('socket hang up');
  }

  /** Locks a conversion at a rate of 1.25 with a fee of 10. */
  async lock({ lockedSide, amount }: LockRequest): Promise<RateLock> {
    if (this.fault === 'is-down') throw new Error('connect ECONNREFUSED');
    const [sent, received] =
      lockedSide === 'SENDING' ? [amount, ((amount - 10n) * 4n) / 5n] : [(amount * 5n) / 4n + 10n, amount];
    const lock = { reference: randomUUID(), sent, received, rate: '1.25', fees: 10n };
    this.#locks.set(lock.reference, performance.now() + lockMs);
    if (this.fault === 'loses-answers') throw new Error('socket hang up');
    return lock;
  }

  holds({ reference }: RateLock): boolean {
    return performance.now() < (this.#locks.get(reference) ?? 0);
  }

  knows(key: string): boolean {
    return this.#payments.has(key);
  }

  /** Refunds the payment with this key, once. */
  async giveBack(key: string): Promise<void> {
    const payment = this.#payments.get(key);
    if (payment) payment.givenBack = true;
  }

  wasGivenBack(key: string): boolean {
    return this.#payments.get(key)?.givenBack === true;
  }

  /** Returns the amount that was moved for an order, under all of the order's keys. */
  async moved(orderId: string): Promise<bigint> {
    const moved = [...this.#payments.values()].filter(
      ({ order, state, givenBack }) => order.id === orderId && state === 'settled' && !givenBack,
    );
    return moved.reduce((sum, { order }) => sum + order.amount, 0n);
  }
}

const answers: Readonly<Record<State, RailOutcome>> = {
  'under way': { kind: 'pending', checkInMs: 5 },
  settled: { kind: 'settled' },
  failed: { kind: 'failed', explanation: 'refused by the provider' },
};

/** A mistake that a rail's author can make. */
export type Mistake = OrderMistake | LockMistake | ReceiverMistake | IncomingMistake;
type OrderMistake = 'new keys' | 'guesses' | 'throws refusals' | 'forgets' | 'believes the last' | 'asks never';
type ReceiverMistake = 'finds everybody' | 'guesses receivers';
type IncomingMistake = 'believes anybody' | 'takes anew' | 'lists all';
type LockMistake = (typeof lockMistakes)[number];

const lockMistakes = [
  ...(['promises longer', 'takes more', 'delivers less', 'names no amounts'] as const),
  ...(['locks the other side', 'hides fees', 'invents locks'] as const),
] as const;

function triesLocks(mistake: Mistake | undefined): boolean {
  return mistake === undefined || lockMistakes.some((one) => one === mistake);
}

/** Opens a rail for the provider, correct or with one mistake by its author. */
function openRail(provider: Provider, mistake: Mistake | undefined): Rail {
  /** Payments that are known only to this process. */
  const sent = new Set<string>();
  const perform = async (order: RailOrder): Promise<RailOutcome> => {
    if (order.kind === 'COLLECTION' && provider.wasGivenBack(order.id))
      return { kind: 'failed', explanation: 'given back' };
    if (mistake === 'forgets' && order.attempts > 0 && !sent.has(order.id))
      return { kind: 'failed', explanation: 'unknown order' };
    sent.add(order.id);
    const key = mistake === 'new keys' ? randomUUID() : order.id;
    const state = await provider.pay(key, order).catch((error: unknown): State => {
      if (mistake === 'guesses') return 'failed';
      throw error;
    });
    if (mistake === 'throws refusals' && state === 'failed') throw new Error('422 refused');
    if (mistake === 'asks never' && state === 'under way')
      return { kind: 'pending', checkInMs: Number.POSITIVE_INFINITY };
    // A settled order stays settled, whatever the provider reports afterwards.
    if (order.settled && state === 'failed' && mistake !== 'believes the last')
      return { kind: 'contradiction', explanation: 'failed, of what was settled' };
    return state === 'settled' && order.lock ? settledLock(order.lock, mistake) : answers[state];
  };
  const payOut = async (order: RailOrder): Promise<RailOutcome> =>
    order.lock && !provider.knows(order.id) && !provider.holds(order.lock)
      ? { kind: 'failed', explanation: 'the lock has ended' }
      : perform(order);
  return {
    name: 'provider',
    expectedMs: () => 5,
    rate: async () => undefined,
    lockRate: (request) => lockAt(provider, request, mistake),
    lookUp: (address) => lookUpAt(provider, address, mistake),
    payOut,
    collect: perform,
    giveBack: ({ id }) => provider.giveBack(id),
    receiveWebhook: async (webhook) => receivedAt(webhook, mistake),
    readWebhook: async (body) => [
      { kind: 'order', orderId: JSON.parse(Buffer.from(body).toString()).order, mayHaveReturned: false },
    ],
    deposits: async ({ from }) => ({
      deposits: provider.deposits.filter(({ at }) => mistake === 'lists all' || at >= from),
    }),
    async takeDeposit({ id, reference, amount }) {
      provider.taken.set(mistake === 'takes anew' ? randomUUID() : id, { reference, amount });
      await provider.answer();
      return { kind: 'taken' };
    },
  };
}

/** Returns the id of a webhook with a valid signature, or of any webhook if the mistake is not to check it. */
function receivedAt({ headers, body }: RailWebhook, mistake: Mistake | undefined) {
  const id = String(headers['webhook-id']);
  if (mistake === 'believes anybody') return { id };
  try {
    new Webhook(secret).verify(Buffer.from(body), headers as Record<string, string>);
    return { id };
  } catch {
    return undefined;
  }
}

/** Returns a webhook about an order, signed as this service signs. */
function signedWebhook(orderId: string): RailWebhook {
  const [id, at, body] = [`message-${randomUUID()}`, new Date(), JSON.stringify({ order: orderId })];
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
  return { headers, body: Buffer.from(body) };
}

const receivers = { known: '$ana@provider.example', unknown: '$nobody@provider.example' };

/** Looks up a receiver at the provider, correctly or with a mistake. */
async function lookUpAt(provider: Provider, address: string, mistake: Mistake | undefined) {
  try {
    await provider.answer();
  } catch (error) {
    if (mistake === 'guesses receivers') return undefined;
    throw error;
  }
  if (address !== receivers.known && mistake !== 'finds everybody') return undefined;
  const currencies = [{ code: 'EUR', minAmount: 1n, maxAmount: 100_000n }];
  return { vaspName: 'Provider', currencies, requiredFields: [], information: {} };
}

/** Locks a rate at the provider, correctly or with a mistake. */
async function lockAt(provider: Provider, request: LockRequest, mistake: Mistake | undefined): Promise<LockAnswer> {
  const other = request.lockedSide === 'SENDING' ? 'RECEIVING' : 'SENDING';
  const wanted = mistake === 'locks the other side' ? ({ ...request, lockedSide: other } as const) : request;
  const lock = await provider.lock(wanted).catch((error: unknown): RateLock => {
    if (mistake !== 'invents locks') throw error;
    return { reference: 'none', sent: 1_000n, received: 792n, rate: '1.25', fees: 10n };
  });
  const told = mistake === 'hides fees' ? { ...lock, fees: 0n } : lock;
  return { kind: 'locked', lock: told, validMs: mistake === 'promises longer' ? lockMs * 1.5 : lockMs * 0.8 };
}

function settledLock({ sent, received }: RateLock, mistake: Mistake | undefined): RailOutcome {
  if (mistake === 'names no amounts') return { kind: 'settled' };
  const taken = mistake === 'takes more' ? sent + 1n : sent;
  return { kind: 'settled', sent: taken, amount: mistake === 'delivers less' ? received - 1n : received };
}

export function providerTrial(mistake?: Mistake): RailTrial {
  const provider = new Provider();
  return {
    open: async () => openRail(provider, mistake),
    order: (course) => ({
      amount: 700n,
      currency: 'EUR',
      account: { type: 'IBAN', identifier: course, details: {} },
      umaAddress: undefined,
    }),
    lock: (lockedSide) =>
      triesLocks(mistake)
        ? {
            ...{ sending: requiredCurrency('USD'), receiving: requiredCurrency('EUR') },
            ...{ lockedSide, amount: 1_000n, account: { type: 'IBAN', identifier: 'settles', details: {} } },
          }
        : undefined,
    receivers: {
      ...receivers,
      lock: (lockedSide) => ({
        ...{ sending: requiredCurrency('USD'), receiving: requiredCurrency('EUR'), lockedSide, amount: 1_000n },
        account: undefined,
        uma: {
          address: receivers.known,
          sender: { customerId: randomUUID(), customerType: 'INDIVIDUAL', name: 'Grace Hopper', information: {} },
        },
      }),
    },
    incoming: {
      webhook: async (orderId) => signedWebhook(orderId),
      async deposit() {
        const deposit = { amount: 900n, currency: 'EUR', customerId };
        const about = { reference: randomUUID(), at: new Date(), state: 'SETTLED', heldAt: 'an account' } as const;
        provider.deposits.push({ ...deposit, ...about });
        return deposit;
      },
      taken: async (of) =>
        [...provider.taken.values()].reduce((sum, { reference, amount }) => sum + (reference === of ? amount : 0n), 0n),
    },
    provider: {
      moved: (orderId) => provider.moved(orderId),
      setFault: async (fault) => {
        provider.fault = fault;
      },
    },
  };
}
