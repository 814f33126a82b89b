import type { Logger } from 'pino';
import { outsideWait } from '../../core/outside-wait.ts';
import { Refusal } from '../../core/refusal.ts';
import { readableText } from '../../core/texts.ts';
import { msLeft } from '../../infra/instruments/request-facts.ts';
import { within } from '../../infra/instruments/within.ts';

/**
 * How long a rail may take to answer, in milliseconds. The lease of an account check is longer, and that of an order is
 * renewed, so no other process has taken the work when its outcome is written. And one silent rail does not block all
 * other work.
 */
const answerMs = 10_000;
/** How long a request takes to commit after the rail's answer, in milliseconds. */
const afterMs = 1_000;

/**
 * Waits for a rail's answer, without holding the slot of the request. A late answer is ignored. Characters that
 * Postgres cannot store are replaced by U+FFFD: some texts come from third parties, such as the payer.
 * @throws Error when the answer does not arrive in time
 */
export async function railAnswer<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return storable(await outsideWait(within(msLeft(answerMs, afterMs), answer, 'the rail did not answer')));
}

/**
 * Waits for an answer of the rail that a request needs before anything is written.
 * @throws Refusal SERVICE_UNAVAILABLE if the rail throws or does not answer in time: nothing has happened
 */
export async function neededOf<Answer>({ log }: { readonly log: Logger }, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await railAnswer(answer);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    log.error({ err: error }, 'a call to the rail failed that a request needed');
    throw new Refusal('SERVICE_UNAVAILABLE', 'the rail does not respond; try again', { retryAfter: 1 });
  }
}

/** Returns a copy of plain data whose texts can be stored and read back. */
function storable<Value>(value: Value): Value {
  // Texts stay texts, lists stay lists, and objects keep their fields.
  return storableData(value) as Value;
}

function storableData(value: unknown): unknown {
  if (typeof value === 'string') return readableText(value);
  if (Array.isArray(value)) return value.map(storableData);
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, storableData(one)])) : value;
}
