/** The error of work that has not ended in time. The work continues, but nobody waits for it. */
export class TooLate extends Error {
  constructor(what: string, ms: number) {
    super(`${what} within ${Math.round(ms)} ms`);
    this.name = 'TooLate';
  }
}

/**
 * Awaits work for so many milliseconds at most.
 * @param what says in the error what has not come, such as "no answer"
 * @throws TooLate, and what the work throws
 */
export async function within<T>(ms: number, work: Promise<T>, what = 'no answer'): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TooLate(what, ms)), ms);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
