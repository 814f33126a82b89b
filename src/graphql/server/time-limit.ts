import type { ExecutionResult } from 'graphql';
import { failure } from '../failure.ts';

/**
 * Answers what an operation comes to, or TIMEOUT when it takes longer than `limitMs`: a query, a mutation, or the opening of a
 * stream (an open stream lives on). The database ends its own statements after 10 s; a mutation may still have taken effect.
 * @param on.over called when the time is over
 * @param on.late called with what the operation comes to after that
 */
export function withinTime<Result>(
  work: Promise<Result>,
  limitMs: number,
  on: { readonly over?: () => void; readonly late?: (result: Result) => void } = {},
): Promise<Result | ExecutionResult> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      on.over?.();
      resolve(tooLong(limitMs));
    }, limitMs);
    work.then(
      (result) => {
        clearTimeout(timer);
        if (isLate) on.late?.(result);
        else resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

function tooLong(limitMs: number): ExecutionResult {
  const message = `the operation took longer than ${limitMs} ms; whether a mutation took effect is told by mutationReceipt or a repeat with the same idempotencyKey`;
  return { errors: [failure('TIMEOUT', message, { status: 504 })] };
}
