import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../infra/instruments/within.ts';
import type { Rail, RailOrder, RailOutcome } from '../rail.ts';
import type { ProviderFault, RailTrial, TrialOrder, TrialProvider, TrialTimes } from './trial.ts';

/** The rail that a check tests, with the trial that provides the orders. */
export interface Tried {
  readonly trial: RailTrial;
  readonly kind: RailOrder['kind'];
  readonly times: TrialTimes;
  /** Opens the rail again, as another process would. The suite closes it after the check. */
  open(): Promise<Rail>;
}

/** The error for a rail that breaks the port's contract. */
export class Breach extends Error {}

/** The error for a check that cannot be run, because the rail or its provider does not support it. */
export class NotTried extends Error {}

/** The maximum `checkInMs` or `watchMs` that a rail may return: a day. */
const maxCheckInMs = 86_400_000;
/** The pause before asking again if there was no answer, in milliseconds. */
const retryMs = 20;

/** A rail's answer; `unknown` if it threw or did not answer in time. */
export type Answer = RailOutcome | { readonly kind: 'unknown'; readonly error: unknown };

/** Passes a new order from the trial to a rail, setting the fields that the gateway would set. */
export class TrialDrive {
  readonly #id = randomUUID();
  readonly #provider: TrialProvider | undefined;
  readonly #times: TrialTimes;
  readonly #begin = performance.now();
  readonly #order: TrialOrder & Pick<RailOrder, 'kind'>;
  #attempts = 0;

  constructor({ trial, kind, times }: Tried, order: TrialOrder) {
    this.#order = { ...order, kind };
    this.#provider = trial.provider;
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
      id: this.#id,
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

  async expectSettled(rail: Rail): Promise<void> {
    const outcome = await this.outcome(rail);
    if (outcome.kind !== 'settled')
      throw new Breach(`the provider settled the order, but the rail answered ${words(outcome)}`);
  }

  async expectSettledOnce(rail: Rail): Promise<void> {
    await this.expectSettled(rail);
    await this.expectMoved(1n);
  }

  /** Checks the rail's answer for a settled order, which must stay settled unless its money is returned. */
  async expectStanding(rail: Rail, kinds: readonly string[] = ['settled', 'returned', 'unknown']): Promise<void> {
    const answer = await this.ask(rail, true);
    if (!kinds.includes(answer.kind)) throw new Breach(`it answered settled, and then ${words(answer)}`);
  }

  /** Checks that the rail reports no final outcome while the provider is silent. */
  async expectNothingFinal(rail: Rail, times: number): Promise<void> {
    for (let asked = 0; asked < times; asked += 1) {
      const answer = await this.ask(rail);
      if (answer.kind !== 'unknown' && answer.kind !== 'pending')
        throw new Breach(`the provider did not answer, but the rail answered ${words(answer)}`);
    }
  }

  /** Checks that the provider, if the trial has one, has moved the order's amount exactly `times` times. */
  async expectMoved(times: bigint): Promise<void> {
    const moved = await this.#provider?.moved(this.#id);
    const right = times * this.#order.amount;
    if (moved !== undefined && moved !== right) throw new Breach(`the provider moved ${moved} instead of ${right}`);
  }
}

/** Returns the trial's provider. @throws NotTried if the trial has none */
export function providerOf({ trial }: Tried): TrialProvider {
  if (!trial.provider) throw new NotTried('the trial has no provider to inject faults into');
  return trial.provider;
}

/** Runs a step while a fault is injected into the provider. If the trial has no provider, runs `otherwise`. */
export async function withFault(
  tried: Tried,
  fault: ProviderFault,
  step: () => Promise<unknown>,
  otherwise?: () => Promise<unknown>,
): Promise<void> {
  if (!tried.trial.provider && otherwise) return void (await otherwise());
  const provider = providerOf(tried);
  await provider.setFault(fault);
  try {
    await step();
  } finally {
    await provider.setFault('none');
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
