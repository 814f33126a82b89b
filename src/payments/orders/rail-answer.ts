/**
 * The time that a rail has to answer, in milliseconds. The lease of an account check is longer, and that of an order is
 * renewed, so nobody else has taken it when its outcome is written. One silent rail does not stop all other work.
 */
const answerMs = 10_000;

/**
 * Waits for the answer of a rail. A late answer is ignored.
 * @throws Error when it does not come in time
 */
export async function railAnswer<Answer>(answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the rail did not answer within ${answerMs} ms`)), answerMs);
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
