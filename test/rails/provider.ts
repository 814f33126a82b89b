import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProviderFault, RailTrial, TrialTimes } from '../../src/rails/conformance/trial.ts';
import type { Rail, RailOrder, RailOutcome } from '../../src/rails/rail.ts';

/** The timings of a trial in tests. A slow provider responds after 60 ms. */
export const quickTimes: TrialTimes = { answerMs: 40, outcomeMs: 5_000 };
/** The timings for a faulty rail, so that the suite does not wait long for an outcome that never arrives. */
export const shortTimes: TrialTimes = { ...quickTimes, outcomeMs: 400 };

type State = 'under way' | 'settled' | 'failed';

/** A payments provider that takes an idempotency key for each payment and fails in the ways that real providers do. */
class Provider {
  fault: ProviderFault = 'none';
  readonly #payments = new Map<string, { order: RailOrder; state: State; asked: number; givenBack: boolean }>();

  /** Creates or finds the payment with the given key, and returns its state. */
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
export type Mistake = 'new keys' | 'guesses' | 'throws refusals' | 'forgets' | 'believes the last' | 'asks never';

/** Opens a rail for the provider: a correct one, or one with the given mistake. */
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
      return { kind: 'contradiction', explanation: 'reported as failed after it had settled' };
    return answers[state];
  };
  return {
    name: 'provider',
    expectedMs: () => 5,
    payOut: perform,
    collect: perform,
    giveBack: ({ id }) => provider.giveBack(id),
  };
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
    provider: {
      moved: (orderId) => provider.moved(orderId),
      setFault: async (fault) => {
        provider.fault = fault;
      },
    },
  };
}
