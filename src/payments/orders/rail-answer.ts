/**
 * How long a rail may take to answer. Well below the lease of an order or a check, so that nobody else has taken it up when
 * its outcome is written, and one silent rail does not stop the work on everything else.
 */
const answerMs = 10_000;

/** The rail's answer, or an error when it does not come: an answer that comes later is not looked at. */
export async function railAnswer<Answer>(answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the rail did not answer within ${answerMs} ms`)), answerMs);
  });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}
