import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../infra/instruments/within.ts';
import type { Rail, RailOrder, RailOutcome } from '../rail.ts';
import type { TrialOrder, TrialTimes } from './trial.ts';

/** The error for a rail that breaks the contract of the port. */
export class Breach extends Error {}

/** The error for a check that cannot be run, because the rail or its provider does not support it. */
export class NotTried extends Error {}

/** The maximum wait that a rail may request from the gateway, in milliseconds: a day. */
const maxCheckInMs = 86_400_000;
/** The pause before asking again after a missing answer or deposit, in milliseconds. */
export const retryMs = 20;

/** A rail's answer; `unknown` if it threw or did not answer in time. */
export type Answer = RailOutcome | { readonly kind: 'unknown'; readonly error: unknown };

/** Runs a new order from the trial through a rail, filling in the fields that the gateway would set. */
export class TrialDrive {
  readonly id: string;
  readonly amount: bigint;
  readonly #times: TrialTimes;
  readonly #begin = performance.now();
  readonly #order: Pick<RailOrder, 'amount' | 'currency' | 'account' | 'umaAddress' | 'kind' | 'lock'>;
  #attempts = 0;

  constructor(
    order: TrialOrder & Pick<RailOrder, 'lock'>,
    kind: RailOrder['kind'],
    times: TrialTimes,
    id: string = randomUUID(),
  ) {
    this.id = id;
    this.amount = order.amount;
    this.#order = { ...order, kind };
    this.#times = times;
  }

  /** Passes the order to a rail, as the gateway does, and checks that the answer is well-formed. */
  async ask(rail: Rail, settled = false): Promise<Answer> {
    const order = this.request(settled);
    this.#attempts += 1;
    try {
      const called = order.kind === 'PAYOUT' ? rail.payOut?.(order) : rail.collect?.(order);
      if (!called) throw new NotTried('the rail has no such orders');
      return checkForm(await within(this.#times.answerMs, called));
    } catch (error) {
      if (error instanceof Breach || error instanceof NotTried) throw error;
      return { kind: 'unknown', error };
    }
  }

  /** Returns the order as the gateway would pass it to the rail now. */
  request(settled: boolean): RailOrder {
    return {
      ...this.#order,
      id: this.id,
      step: 'SETTLEMENT',
      settled,
      ageMs: performance.now() - this.#begin,
      attempts: this.#attempts,
      scenario: null,
    };
  }

  /** Queries the rail until there is an outcome. @throws Breach */
  async outcome(rail: Rail): Promise<RailOutcome> {
    const deadline = performance.now() + this.#times.outcomeMs;
    let last: Answer | undefined;
    while (performance.now() < deadline) {
      last = await this.ask(rail);
      if (last.kind !== 'unknown' && last.kind !== 'pending') return last;
      const waitMs = last.kind === 'pending' ? last.checkInMs : retryMs;
      await sleep(Math.max(0, Math.min(waitMs, deadline - performance.now())));
    }
    throw new Breach(`the order has no outcome after ${this.#times.outcomeMs} ms; the last answer was ${words(last)}`);
  }
}

export function words(answer: Answer | undefined): string {
  if (!answer) return 'none';
  if (answer.kind === 'unknown')
    return `an error (${answer.error instanceof Error ? answer.error.message : answer.error})`;
  return 'explanation' in answer ? `${answer.kind} (${answer.explanation})` : answer.kind;
}

const kinds = ['pending', 'settled', 'failed', 'rejected', 'returned', 'contradiction'];

function checkForm(outcome: RailOutcome): RailOutcome {
  if (typeof outcome !== 'object' || outcome === null || !kinds.includes(outcome.kind))
    throw new Breach(`an answer must be one of ${kinds.join(', ')}, not ${JSON.stringify(outcome)}`);
  const wait =
    outcome.kind === 'pending' ? outcome.checkInMs : outcome.kind === 'settled' ? outcome.watchMs : undefined;
  if (outcome.kind === 'pending' || wait !== undefined) {
    if (typeof wait !== 'number' || !(wait >= 0 && wait <= maxCheckInMs))
      throw new Breach(`the time until the next query must be from 0 to ${maxCheckInMs} ms, not ${wait}`);
  }
  if ('explanation' in outcome && (typeof outcome.explanation !== 'string' || outcome.explanation === ''))
    throw new Breach(`the answer ${outcome.kind} must have an explanation`);
  return outcome;
}
