import type { Logger } from 'pino';
import { outsideWait } from '../../core/outside-wait.ts';
import { Refusal } from '../../core/refusal.ts';

/**
 * The time that a rail has to answer, in milliseconds. The lease of an account check is longer, and that of an order is
 * renewed, so nobody else has taken it when its outcome is written. One silent rail does not stop all other work.
 */
const answerMs = 10_000;

/**
 * Waits for the answer of a rail, without the slot of the request. A late answer is ignored.
 * @throws Error when it does not come in time
 */
export async function railAnswer<Answer>(answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the rail did not answer within ${answerMs} ms`)), answerMs);
  });
  try {
    return await outsideWait(Promise.race([answer, timeout]));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Waits for what a request needs of a rail before anything is written.
 * @throws Refusal SERVICE_UNAVAILABLE where the rail throws or does not answer in time: nothing has happened
 */
export async function neededOf<Answer>({ log }: { readonly log: Logger }, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await railAnswer(answer);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    log.error({ err: error }, 'the rail could not be asked for what a request needs');
    throw new Refusal('SERVICE_UNAVAILABLE', 'the rail does not answer now; try again', { retryAfter: 1 });
  }
}
