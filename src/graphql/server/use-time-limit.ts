import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import { failure } from '../failure.ts';

/**
 * Answers an operation that takes longer than `limitMs` with TIMEOUT: a query, a mutation, or the opening of a stream
 * (an open stream lives on). The database ends its own statements after 10 s; a mutation may still have taken effect.
 */
export function useTimeLimit(limitMs: number): Plugin {
  const tooLong = () => ({
    errors: [
      failure(
        'TIMEOUT',
        `the operation took longer than ${limitMs} ms; whether a mutation took effect is told by mutationReceipt or a repeat with the same idempotencyKey`,
        { status: 504 },
      ),
    ],
  });
  return {
    onExecute({ executeFn, setExecuteFn }) {
      // Envelop leaves the arguments untyped on one side and typed on the other; they are passed on as they came.
      setExecuteFn((args: unknown) => limited(executeFn(args as never), limitMs, tooLong));
    },
    onSubscribe({ subscribeFn, setSubscribeFn }) {
      setSubscribeFn((args: unknown) =>
        limited(subscribeFn(args as never), limitMs, tooLong, (late) => {
          if (isAsyncIterable(late)) late[Symbol.asyncIterator]().return?.();
        }),
      );
    },
  };
}

/** What `work` comes to, or `otherwise` when that takes too long; `late` is then given what it came to after all. */
async function limited<T>(work: T | Promise<T>, limitMs: number, otherwise: () => object, late?: (result: T) => void) {
  if (!(work instanceof Promise)) return work;
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<object>((resolve) => {
    timer = setTimeout(() => {
      work.then(late, () => undefined);
      resolve(otherwise());
    }, limitMs);
  });
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
