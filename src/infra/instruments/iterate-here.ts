import { AsyncLocalStorage } from 'node:async_hooks';

/** Returns an iterator whose steps run in the caller's async context, that is, with its request and platform. */
export function iterateHere<T>(iterator: AsyncIterableIterator<T>): AsyncIterableIterator<T> {
  const here = AsyncLocalStorage.snapshot();
  return {
    next: () => here(() => iterator.next()),
    return: (value) => here(async () => iterator.return?.(value) ?? { done: true, value: await value }),
    throw: (error) => here(() => iterator.throw?.(error) ?? Promise.reject(error)),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
