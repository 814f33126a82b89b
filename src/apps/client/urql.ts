import type { SubscriptionForwarder } from '@urql/core';
import type { Payments } from './payments.ts';

/** Creates `forwardSubscription` for urql's subscriptionExchange. It uses the socket, and resumes after a reconnect. */
export const forwardSubscription =
  ({ socket }: Payments): SubscriptionForwarder =>
  ({ query = '', variables = {}, extensions = {} }) => ({
    subscribe: (sink) => ({
      unsubscribe: socket.client.subscribe({ query, variables, extensions }, sink),
    }),
  });
