import { GraphQLError } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import { Refusal } from '../../core/refusal.ts';
import type { Context } from '../context.ts';

/**
 * How many streams are opened at once. When a server is restarted all its clients come at once: side by side they would
 * all wait for the database until all are given up, one after the other each has its turn.
 */
const openedAtOnce = 256;

/**
 * Opens streams a few at a time, and ends the connection where one could not be opened through no fault of its request
 * (the database is out of reach, or too slow). Stock clients take an error for the last word, but a connection that is
 * cut, or closed with 1013, for "come back and resume".
 */
export function useCloseForRetry(): Plugin<Context> {
  const turns: (() => void)[] = [];
  let opening = 0;
  const enter = async () => {
    if (opening < openedAtOnce) opening += 1;
    // Whoever leaves hands its place on, so nobody slips in between.
    else await new Promise<void>((resolve) => turns.push(resolve));
  };
  const leave = () => {
    const next = turns.shift();
    if (next) next();
    else opening -= 1;
  };
  return {
    onSubscribe({ args, subscribeFn, setSubscribeFn }) {
      setSubscribeFn(async (subscribeArgs: unknown) => {
        await enter();
        try {
          // Passed on as they came: Envelop types them on one side only.
          const result: unknown = await subscribeFn(subscribeArgs as never);
          if (!isAsyncIterable(result) && errorsOf(result).some(isOurs)) (args.contextValue as Context).closeForRetry();
          return result;
        } finally {
          leave();
        }
      });
    },
  };
}

function errorsOf(result: unknown): readonly unknown[] {
  const { errors } = result as { readonly errors?: readonly unknown[] };
  return errors ?? [];
}

/** Whether an error says nothing about the request, so that the same request may succeed another time. */
function isOurs(error: unknown): boolean {
  if (!(error instanceof GraphQLError)) return true;
  const { originalError } = error;
  if (originalError === undefined || originalError === null) return error.extensions.code === 'TIMEOUT';
  return !(originalError instanceof GraphQLError) && !(originalError instanceof Refusal);
}
