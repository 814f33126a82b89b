/** Waits for a promise. If the signal aborts first, rejects with the signal's reason and ignores the promise. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Waits before the next attempt: longer after each failure, up to half a minute, with random jitter. */
export function backoff(failures: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(30_000, 500 * 2 ** Math.min(failures, 6));
  let timer: ReturnType<typeof setTimeout>;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms / 2 + (Math.random() * ms) / 2);
  });
  return abortable(passed, signal).finally(() => clearTimeout(timer));
}
