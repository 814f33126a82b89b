import { type Client, createClient } from 'graphql-ws/client';
import { resumingClient } from './resume.ts';
import type { Tokens } from './tokens.ts';
import { backoff } from './waiting.ts';

/** The state of the app's connection to the service. CONNECTING includes the wait for the next attempt. */
export type ConnectionState = 'IDLE' | 'CONNECTING' | 'OPEN';

/** Settings for a socket. */
export interface SocketOptions {
  /** The GraphQL endpoint: https://…/graphql */
  readonly url: string;
  readonly tokens: Tokens;
  /** The WebSocket class, if there is no global one. */
  readonly webSocketImpl?: unknown;
  /** The interval of the app's keep-alive pings, in milliseconds; 10 seconds by default. */
  readonly pingIntervalMs?: number;
  readonly signal: AbortSignal;
}

/**
 * A WebSocket that is open while there are subscriptions, and reconnects whenever the connection is lost. Renews tokens
 * before they expire.
 */
export class PaymentsSocket {
  readonly #options: SocketOptions;
  readonly #listeners = new Set<() => void>();
  #state: ConnectionState = 'IDLE';
  #client: Client | undefined;
  #renewal: ReturnType<typeof setTimeout> | undefined;
  #missingPong: ReturnType<typeof setTimeout> | undefined;
  #hurry = new AbortController();

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /**
   * A graphql-ws client with resumable subscriptions, for Apollo's GraphQLWsLink, urql's subscriptionExchange and
   * `follow`. Created on first access, which throws if there is no WebSocket class. Apps that send only requests do
   * not need one.
   */
  get client(): Client {
    this.#client ??= resumingClient(this.#connect());
    return this.#client;
  }

  readonly state = (): ConnectionState => this.#state;

  /** Calls `changed` on each change of the state. Returns the function that unsubscribes. */
  readonly onState = (changed: () => void): (() => void) => {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  };

  /** Drops the connection and reconnects at once. Call it when the app is back in the foreground or online. */
  readonly reconnect = (): void => {
    this.#hurry.abort();
    this.#hurry = new AbortController();
    if (this.#state === 'OPEN') this.#client?.terminate();
  };

  dispose(): void {
    this.#clearTimers();
    // `dispose` rejects if the socket failed to open, which no longer matters.
    Promise.resolve(this.#client?.dispose()).catch(() => undefined);
  }

  #connect(): Client {
    const { url, tokens, webSocketImpl, pingIntervalMs = 10_000, signal } = this.#options;
    if (webSocketImpl === undefined && typeof WebSocket === 'undefined')
      throw new TypeError('There is no global WebSocket: pass a class to openPayments as webSocketImpl.');
    // On a web page, the address may be relative.
    const address = new URL(url, typeof location === 'undefined' ? undefined : location.href);
    address.protocol = address.protocol.replace('http', 'ws');
    const client: Client = createClient({
      // The socket opens once there is a token, but never after everything has been stopped. The library does not catch
      // errors thrown here.
      url: async () => {
        await tokens.ready(signal).catch(() => undefined);
        return signal.aborted ? new Promise<never>(() => undefined) : address.href;
      },
      ...(webSocketImpl !== undefined && { webSocketImpl }),
      connectionParams: async () => ({ authorization: await tokens.authorization(signal) }),
      // By default, graphql-ws gives up after five attempts, and immediately if the first one fails.
      retryAttempts: Number.POSITIVE_INFINITY,
      shouldRetry: () => !signal.aborted,
      // When the wait ends, for whatever reason, graphql-ws reconnects, unless the client has been disposed.
      retryWait: (retries) => backoff(retries, AbortSignal.any([signal, this.#hurry.signal])).catch(() => undefined),
      keepAlive: pingIntervalMs,
      on: {
        connecting: () => this.#become('CONNECTING'),
        connected: (socket) => {
          this.#become('OPEN');
          // graphql-ws declares no type for the socket, but creates it with the class above.
          this.#renewLater(socket as WebSocket);
        },
        // A phone that has changed networks does not report that its socket is dead. Only a missing pong shows it.
        ping: (received) => {
          if (received) return;
          clearTimeout(this.#missingPong);
          this.#missingPong = setTimeout(() => client.terminate(), 5_000);
        },
        pong: () => clearTimeout(this.#missingPong),
        closed: (event) => {
          const { code } = (event ?? {}) as { readonly code?: unknown };
          // 4403: the token was refused.
          if (code === 4403) tokens.forget();
          this.#clearTimers();
          this.#become(code === 1000 || signal.aborted ? 'IDLE' : 'CONNECTING');
        },
      },
    });
    return client;
  }

  #become(state: ConnectionState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const changed of this.#listeners) changed();
  }

  /** Sends a newer token in a ping before the old one expires, so that the socket and its streams stay open. */
  #renewLater(socket: WebSocket): void {
    const { tokens, signal } = this.#options;
    const renew = async () => {
      const authorization = await tokens.authorization(signal);
      if (socket.readyState !== socket.OPEN) return;
      socket.send(JSON.stringify({ type: 'ping', payload: { authorization } }));
      this.#renewLater(socket);
    };
    this.#renewal = setTimeout(
      // Without a newer token, the server closes the socket with 4403. The client then requests a token to reconnect.
      () => renew().catch(() => undefined),
      Math.max(250, Math.min(tokens.renewalInMs() + 1, 2 ** 31 - 1)),
    );
  }

  #clearTimers(): void {
    clearTimeout(this.#renewal);
    clearTimeout(this.#missingPong);
  }
}
