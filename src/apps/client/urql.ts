import type { DocumentNode } from 'graphql';
import type { Payments } from './payments.ts';
import { resumable } from './resume.ts';

interface Operation {
  readonly kind: string;
  readonly key: number;
  readonly query: DocumentNode;
  readonly variables?: Record<string, unknown> | undefined;
}

interface Result {
  readonly operation: Operation;
}

/** A source of wonka, urql's stream library: it signals its end (0), its start, and each value. */
type Source<T> = (sink: (signal: Signal<T>) => void) => void;
type Signal<T> = 0 | (readonly [unknown] & { readonly tag: 0 }) | (readonly [T] & { readonly tag: 1 });

type Exchange = (input: {
  readonly forward: (operations: Source<Operation>) => Source<Result>;
}) => (operations: Source<Operation>) => Source<Result>;

/** Resumes subscriptions after their last message. Put it before a subscriptionExchange that reconnects. */
export const resumeExchange: Exchange =
  ({ forward }) =>
  (operations) => {
    const advances = new Map<number, (result: unknown) => void>();
    const prepare = (operation: Operation): Operation => {
      if (operation.kind === 'teardown') advances.delete(operation.key);
      if (operation.kind !== 'subscription') return operation;
      const made = resumable(operation.query, operation.variables);
      if (!made) return operation;
      advances.set(operation.key, made.advance);
      return { ...operation, query: made.document, variables: made.variables };
    };
    const results = forward((sink) =>
      operations((signal) =>
        sink(
          signal !== 0 && signal.tag === 1
            ? Object.assign([prepare(signal[0])] as [Operation], { tag: 1 as const })
            : signal,
        ),
      ),
    );
    return (sink) =>
      results((signal) => {
        if (signal !== 0 && signal.tag === 1) advances.get(signal[0].operation.key)?.(signal[0]);
        sink(signal);
      });
  };

/** A subscription as urql forwards it. */
interface Forwarded {
  readonly query?: string;
  readonly variables?: Record<string, unknown> | undefined;
}

interface Sink {
  next(result: never): void;
  error(error: unknown): void;
  complete(): void;
}

/** Creates `forwardSubscription` for urql's subscriptionExchange: uses the socket, and resumes on reconnect. */
export const forwardSubscription =
  ({ socket }: Payments) =>
  ({ query = '', variables = {} }: Forwarded) => ({
    subscribe: (sink: Sink) => ({
      // The service returns the GraphQL response format, which urql's own type describes.
      unsubscribe: socket.client.subscribe(
        { query, variables },
        {
          next: (result) => sink.next(result as never),
          error: (error) => sink.error(error),
          complete: () => sink.complete(),
        },
      ),
    }),
  });
