import type { ExecutionResult } from 'graphql';
import { failure } from '../failure.ts';

/**
 * Returns the result of an operation, or TIMEOUT when it takes longer than `limitMs`: a query, a mutation, or the opening of a
 * stream (an open stream has no limit). The database ends its own statements after 10 s; a mutation may still have taken effect.
 * @param on.onTimeout called when the time limit is over
 * @param on.onLateResult called with a result that comes after the limit
 */
export function withTimeLimit<Result>(
  work: Promise<Result>,
  limitMs: number,
  on: { readonly onTimeout?: () => void; readonly onLateResult?: (result: Result) => void } = {},
): Promise<Result | ExecutionResult> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      on.onTimeout?.();
      resolve(timeout(limitMs));
    }, limitMs);
    work.then(
      (result) => {
        clearTimeout(timer);
        if (isLate) on.onLateResult?.(result);
        else resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

function timeout(limitMs: number): ExecutionResult {
  const message = `the operation took longer than ${Math.round(limitMs)} ms; to find out whether a mutation took effect, query mutationReceipt or repeat it with the same idempotencyKey`;
  return { errors: [failure('TIMEOUT', message, { status: 504 })] };
}
