import type { Payments } from './payments.ts';

/** A subscription as urql forwards it. */
interface Forwarded {
  readonly query?: string;
  readonly variables?: Record<string, unknown> | undefined;
  readonly extensions?: Record<string, unknown> | undefined;
}

interface Sink {
  next(result: never): void;
  error(error: unknown): void;
  complete(): void;
}

/** Creates `forwardSubscription` for urql's subscriptionExchange: uses the socket, and resumes on reconnect. */
export const forwardSubscription =
  ({ socket }: Payments) =>
  ({ query = '', variables = {}, extensions = {} }: Forwarded) => ({
    subscribe: (sink: Sink) => ({
      // The service returns the GraphQL response format, which urql's own type describes.
      unsubscribe: socket.client.subscribe({ query, variables, extensions }, sink),
    }),
  });
