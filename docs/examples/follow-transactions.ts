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
 * Follows transactions from a web or mobile app with the client package. This file contains the code shared by
 * `over-websocket.ts` and `over-sse.ts`. Either way, an app misses no change, even if it was closed for a while.
 */

export type TransactionChange = FollowTransactionsSubscription['transactionUpdates'];

export interface App {
  /** The GraphQL endpoint: https://…/graphql */
  readonly url: string;
  /** Asks your own server for a client token, which the server creates with createClientToken. */
  readonly token: () => Promise<ClientToken>;
  /** Where the last cursor is stored: localStorage, AsyncStorage, … */
  readonly store: {
    readonly load: () => Promise<string | null>;
    readonly save: (cursor: string) => Promise<void>;
  };
  /** Called with the current transactions when there is no cursor to resume from: redraw all of them. */
  readonly onSnapshot: (transactions: TransactionsQuery['transactions']['edges'][number]['node'][]) => void;
  /** Called once per change, in order. After a crash before `save`, the last change is repeated: compare `version`. */
  readonly onChange: (change: TransactionChange) => void;
}

/** Returns the options for `follow`, which calls `begin` when there is no cursor to resume from. */
export function followed(
  app: App,
  payments: Pick<Payments, 'execute'>,
): FollowOptions<FollowTransactionsSubscription, FollowTransactionsSubscriptionVariables> {
  return {
    document: FollowTransactions,
    variables: {},
    store: app.store,
    onMessage: ({ transactionUpdates }) => app.onChange(transactionUpdates),
    // One query reads both the list and the feed's latest cursor, so no change is lost between the two.
    async begin(signal) {
      const { viewer, transactions } = await payments.execute(Transactions, { first: 50 }, signal);
      app.onSnapshot(transactions.edges.map(({ node }) => node));
      return viewer.feedCursor;
    },
  };
}

export type { Following };
