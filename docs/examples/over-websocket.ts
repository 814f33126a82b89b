import { createClient } from 'graphql-ws';
import { type App, backoff, type Following, follow, type StreamResult } from './follow-transactions.ts';

/**
 * Follows transactions over a WebSocket with graphql-ws, in a browser or React Native. (Where there is no global
 * WebSocket, give one as `webSocketImpl`.)
 */
export function followOverWebSocket(app: App, webSocketImpl?: unknown): Following {
  let stopped = false;
  let renewal: ReturnType<typeof setTimeout> | undefined;
  let pongMissing: ReturnType<typeof setTimeout> | undefined;
  let socket: WebSocket | undefined;
  let expiresAt = '';

  async function authorization(): Promise<string> {
    const minted = await app.token();
    expiresAt = minted.expiresAt;
    return `Bearer ${minted.token}`;
  }

  /** Before the token ends, a newer one in a ping keeps the socket and its streams. */
  function renewLater(): void {
    clearTimeout(renewal);
    const left = Date.parse(expiresAt) - Date.now();
    renewal = setTimeout(
      async () => {
        try {
          socket?.send(JSON.stringify({ type: 'ping', payload: { authorization: await authorization() } }));
          renewLater();
        } catch {
          // Without a newer token the server closes with 4403, and the reconnect asks for one again.
        }
      },
      Math.max(250, left * 0.7),
    );
  }

  const client = createClient({
    url: app.url.replace(/^http/, 'ws'),
    ...(webSocketImpl !== undefined && { webSocketImpl }),
    connectionParams: async () => ({ authorization: await authorization() }),
    // The defaults give up after five tries, and at once when the first fails.
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: backoff,
    // A phone that changes its network is not told that the socket is dead: a missing pong tells.
    keepAlive: 10_000,
    on: {
      opened: (opened) => {
        socket = opened as WebSocket;
      },
      connected: renewLater,
      ping: (received) => {
        if (!received) pongMissing = setTimeout(() => client.terminate(), 5_000);
      },
      pong: (received) => {
        if (received) clearTimeout(pongMissing);
      },
      closed: () => {
        clearTimeout(renewal);
        clearTimeout(pongMissing);
      },
    },
  });

  follow(
    app,
    () => stopped,
    (request, next) =>
      new Promise((resolve, reject) => {
        client.subscribe(
          { query: request.query, variables: request.variables },
          { next: (result) => next(result as StreamResult), error: reject, complete: resolve },
        );
      }),
  );
  return {
    resumeNow: () => client.terminate(),
    stop: () => {
      stopped = true;
      client.dispose();
    },
  };
}
