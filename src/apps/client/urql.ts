import { type Exchange, fetchExchange, makeOperation, mapExchange, subscriptionExchange } from '@urql/core';
import { Newest } from './newest.ts';
import type { Payments } from './payments.ts';

/**
 * Creates the exchanges that send operations; put them last. Streams use the socket, and resume after a reconnect. A
 * stream message is dropped if newer versions of all its objects are known. A query is resent, at most three times, if
 * data newer than its response has arrived in the meantime.
 */
export function paymentsExchanges(payments: Payments): Exchange[] {
  const newest = new Newest();
  return [
    mapExchange({
      onOperation(operation) {
        const { kind, key, context } = operation;
        if (kind !== 'query' && kind !== 'mutation') return operation;
        return makeOperation(kind, operation, { ...context, fetch: newest.fetchFor(kind, `${key}`, payments.fetch) });
      },
    }),
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: ({ query = '', variables = {}, extensions = {} }) => ({
        subscribe: (sink) => ({
          unsubscribe: payments.socket.client.subscribe(
            { query, variables, extensions },
            // The service's results are in the GraphQL response format, which urql's own type describes.
            { ...sink, next: (result) => newest.isOlder(result.data) || sink.next(result as never) },
          ),
        }),
      }),
    }),
  ];
}
