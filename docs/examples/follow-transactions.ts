import type { Following, FollowOptions } from '../../src/apps/client/follow.ts';
import {
  FollowTransactions,
  type FollowTransactionsSubscription,
  type FollowTransactionsSubscriptionVariables,
  Transactions,
  type TransactionsQuery,
} from '../../src/apps/client/generated/operations.ts';
import type { Payments } from '../../src/apps/client/payments.ts';
import type { ClientToken } from '../../src/apps/client/tokens.ts';

/**
 * Following transactions from a web or mobile app with the client package: what both transports share. With
 * `over-websocket.ts` or `over-sse.ts` it is all that an app needs to miss nothing, even while it is closed.
 */

export type TransactionChange = FollowTransactionsSubscription['transactionUpdates'];

export interface App {
  /** The GraphQL endpoint: https://…/graphql */
  readonly url: string;
  /** Asks your own server for a client token (it calls createClientToken). */
  readonly token: () => Promise<ClientToken>;
  /** Where the last cursor is stored: localStorage, AsyncStorage, … */
  readonly store: {
    readonly load: () => Promise<string | null>;
    readonly save: (cursor: string) => Promise<void>;
  };
  /** The current transactions, when there is no cursor to resume from: draw all of them again. */
  readonly onSnapshot: (transactions: TransactionsQuery['transactions']['edges'][number]['node'][]) => void;
  /** One change. Each comes once and in order; after a crash between this and `save`, one may come again: compare version. */
  readonly onChange: (change: TransactionChange) => void;
}

/** Follows all changes, after a list that is read together with the end of the feed. */
export function followed(
  app: App,
  payments: Pick<Payments, 'execute'>,
): FollowOptions<FollowTransactionsSubscription, FollowTransactionsSubscriptionVariables> {
  return {
    document: FollowTransactions,
    variables: {},
    store: app.store,
    onMessage: ({ transactionUpdates }) => app.onChange(transactionUpdates),
    // The list and the end of the feed in one query: nothing falls between the two.
    async begin(signal) {
      const { viewer, transactions } = await payments.execute(Transactions, { first: 50 }, signal);
      app.onSnapshot(transactions.edges.map(({ node }) => node));
      return viewer.feedCursor;
    },
  };
}

export type { Following };
