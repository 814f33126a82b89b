/**
 * Following transactions from a web or mobile app: what both transports share. With `over-websocket.ts` or `over-sse.ts`
 * it is all that an app needs to miss nothing: it stores the cursor, comes back for ever, resumes, and renews its token.
 */

export interface TransactionChange {
  readonly cursor: string;
  readonly status: string;
  readonly terminal: boolean;
  readonly transaction: { readonly id: string; readonly version: number; readonly status: string };
}

export interface App {
  /** The GraphQL endpoint: https://…/graphql */
  readonly url: string;
  /** Asks your own server for a client token (it calls createClientToken). Called before each connection and each expiry. */
  readonly token: () => Promise<{ readonly token: string; readonly expiresAt: string }>;
  /** Where the last cursor is kept: localStorage, AsyncStorage, … */
  readonly store: {
    readonly load: () => Promise<string | null>;
    readonly save: (cursor: string) => Promise<void>;
  };
  /** The transactions as they are, where there is no cursor to resume from: draw them all anew. */
  readonly onSnapshot: (transactions: readonly TransactionChange['transaction'][]) => void;
  /** One change. Each comes once and in order; after a crash between this and `save`, one may come again: compare version. */
  readonly onChange: (change: TransactionChange) => void;
}

export interface Following {
  /** Reconnects at once: call it when the app comes to the foreground or the network is back. */
  readonly resumeNow: () => void;
  readonly stop: () => void;
}

export interface StreamRequest {
  readonly query: string;
  /** `after` moves on with every message, so that whenever the library sends the request again it resumes. */
  readonly variables: { after: string };
}

export interface StreamResult {
  readonly data?: { readonly transactionUpdates: TransactionChange } | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: unknown } }[];
}

const subscription = `subscription ($after: String!) {
  transactionUpdates(after: $after) { cursor status terminal transaction { id version status } }
}`;

/** The list and the end of the feed in one query: nothing falls between the two. */
const snapshot = `{
  viewer { feedCursor }
  transactions(first: 50) { edges { node { id version status } } }
}`;

/** How long to wait before the next try: longer each time, at most half a minute, and never all clients at once. */
export async function backoff(retries: number): Promise<void> {
  const ms = Math.min(30_000, 500 * 2 ** Math.min(retries, 6));
  await new Promise((resolve) => setTimeout(resolve, ms / 2 + (Math.random() * ms) / 2));
}

/** Follows until `stopped`. `open` runs one subscription, reconnecting as it must, and returns when the server ends it. */
export async function follow(
  app: App,
  stopped: () => boolean,
  open: (request: StreamRequest, next: (result: StreamResult) => void) => Promise<void>,
): Promise<void> {
  for (let refusals = 0; !stopped(); ) {
    let refused: unknown;
    try {
      const variables = { after: (await app.store.load()) ?? (await startAnew(app)) };
      await open({ query: subscription, variables }, ({ data, errors }) => {
        if (errors) refused = errors[0]?.extensions?.code;
        if (!data) return;
        refusals = 0;
        app.onChange(data.transactionUpdates);
        variables.after = data.transactionUpdates.cursor;
        app.store.save(variables.after).catch(() => undefined);
      });
      // Away for longer than the server replays: begin again with the list.
      if (refused === 'CURSOR_EXPIRED' || refused === 'INVALID_INPUT') await startAnew(app);
    } catch {
      // No network, or no token just now: try again like after any other end.
    }
    if (!stopped()) await backoff(refusals++);
  }
}

async function startAnew(app: App): Promise<string> {
  const response = await fetch(app.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${(await app.token()).token}` },
    body: JSON.stringify({ query: snapshot }),
  });
  const { data } = (await response.json()) as {
    data: {
      viewer: { feedCursor: string };
      transactions: { edges: { node: TransactionChange['transaction'] }[] };
    };
  };
  app.onSnapshot(data.transactions.edges.map((edge) => edge.node));
  await app.store.save(data.viewer.feedCursor);
  return data.viewer.feedCursor;
}
