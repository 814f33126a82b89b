/** Reports work that has not finished in time. The work continues, but its result is ignored. */
export class TooLate extends Error {
  constructor(what: string, ms: number) {
    super(`${what} within ${Math.round(ms)} ms`);
    this.name = 'TooLate';
  }
}

/** Awaits work for at most `ms` milliseconds; `what` names the missing result. @throws TooLate, or the work's error */
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
