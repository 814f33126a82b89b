import { type Client, type ClientOptions, createClient } from 'graphql-ws/client';
import { resumingClient } from './resume.ts';
import type { Tokens } from './tokens.ts';
import { backoff } from './waiting.ts';

/** The state of the app's connection to the service. CONNECTING includes the wait for the next attempt. */
export type ConnectionState = 'IDLE' | 'CONNECTING' | 'OPEN';

/** How long a socket may take to open, in milliseconds. The service may take twelve seconds to refuse one. */
const openingMs = 20_000;

/** Settings for a socket. */
export interface SocketOptions {
  /** The GraphQL endpoint: https://…/graphql */
  readonly url: string;
  readonly tokens: Tokens;
  /** The WebSocket class, if there is no global one. */
  readonly webSocketImpl?: unknown;
  /** The interval between the app's keep-alive pings, in milliseconds; 10 seconds by default. */
  readonly pingIntervalMs?: number;
  readonly signal: AbortSignal;
}

/**
 * Creates a graphql-ws client that gives up a connection that does not open in time or does not answer a ping, and
 * ignores what a connection delivers after it was given up.
 */
export function createSteadyClient({ webSocketImpl, ...options }: ClientOptions): Client {
  let socket: WebSocket | undefined;
  let opening: ReturnType<typeof setTimeout>;
  let missingPong: ReturnType<typeof setTimeout>;
  const opens = (next: WebSocket) => {
    socket = next;
    // `terminate` takes away graphql-ws's own listener. Without one, `ws` throws if a socket is closed too early.
    socket.addEventListener('error', () => undefined);
    opening = setTimeout(() => client.terminate(), openingMs);
  };
  // An app's own class has the interface of the global one.
  class OpeningSocket extends ((webSocketImpl ?? WebSocket) as typeof WebSocket) {
    constructor(address: string, protocols: string) {
      super(address, protocols);
      opens(this);
    }
  }
  const client = createClient({ keepAlive: 10_000, ...options, webSocketImpl: OpeningSocket });
  client.on('connected', () => clearTimeout(opening));
  // A phone that has changed networks does not report that its socket is dead. Only a missing pong shows it.
  client.on('ping', (received) => {
    if (!received) missingPong = setTimeout(() => client.terminate(), 5_000);
  });
  client.on('pong', (received) => received && clearTimeout(missingPong));
  // After an error, the end of a hanging socket may be reported only when the next one is open.
  for (const event of ['error', 'closed'] as const)
    client.on(event, () => {
      clearTimeout(opening);
      clearTimeout(missingPong);
      // Otherwise, messages that arrive late would be delivered twice: by this connection and by the next.
      if (socket) socket.onmessage = null;
    });
  return client;
}

/**
 * A WebSocket that is open while there are subscriptions, and reconnects whenever the connection is lost. Renews tokens
 * before they expire.
 */
export class PaymentsSocket {
  readonly #options: SocketOptions;
  readonly #listeners = new Set<() => void>();
  readonly #hurried = new Set<() => void>();
  #state: ConnectionState = 'IDLE';
  #client: Client | undefined;
  /** The `authorization` header that contains the open socket's token. */
  #authorization = '';
  #renewal: ReturnType<typeof setTimeout> | undefined;
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

  /** Calls `act` on each `reconnect`. Returns the function that unsubscribes. */
  readonly onReconnect = (act: () => void): (() => void) => {
    this.#hurried.add(act);
    return () => this.#hurried.delete(act);
  };

  /** Drops the connection and reconnects at once. Call it when the app is back in the foreground or online. */
  readonly reconnect = (): void => {
    if (this.#state !== 'IDLE') {
      this.#hurry.abort();
      this.#client?.terminate();
    }
    for (const act of this.#hurried) act();
  };

  dispose(): void {
    clearTimeout(this.#renewal);
    // Otherwise, `dispose` would wait until the socket opens.
    if (this.#state === 'CONNECTING') this.#client?.terminate();
    // It rejects if the socket has failed to open, which no longer matters.
    Promise.resolve(this.#client?.dispose()).catch(() => undefined);
  }

  #connect(): Client {
    const { url, tokens, webSocketImpl, pingIntervalMs = 10_000, signal } = this.#options;
    if (webSocketImpl === undefined && typeof WebSocket === 'undefined')
      throw new TypeError('There is no global WebSocket: pass a class to openPayments as webSocketImpl.');
    // On a web page, the address may be relative.
    const address = new URL(url, typeof location === 'undefined' ? undefined : location.href);
    address.protocol = address.protocol.replace('http', 'ws');
    return createSteadyClient({
      // The socket opens once there is a token, but never after everything has been stopped. The library does not catch
      // errors thrown here.
      url: async () => {
        for (let failures = 0; !signal.aborted; failures += 1) {
          const isReady = await tokens.authorization(signal).then(Boolean, () => this.#wait(failures));
          if (isReady && !signal.aborted) return address.href;
        }
        return new Promise<never>(() => undefined);
      },
      webSocketImpl,
      connectionParams: async () => ({ authorization: await this.#newest() }),
      // By default, graphql-ws gives up after five attempts, and immediately if the first one fails.
      retryAttempts: Number.POSITIVE_INFINITY,
      shouldRetry: () => !signal.aborted,
      // When the wait ends, for whatever reason, graphql-ws reconnects, unless the client has been disposed.
      retryWait: (retries) => this.#wait(retries),
      keepAlive: pingIntervalMs,
      on: {
        connecting: () => this.#become('CONNECTING'),
        connected: (socket) => {
          this.#become('OPEN');
          // graphql-ws declares no type for the socket, but creates it with the class above.
          this.#renewLater(socket as WebSocket);
        },
        closed: (event) => {
          const { code } = (event ?? {}) as { readonly code?: unknown };
          // 4403: the token was refused.
          if (code === 4403) tokens.forget(this.#authorization);
          clearTimeout(this.#renewal);
          this.#become(code === 1000 || signal.aborted ? 'IDLE' : 'CONNECTING');
        },
      },
    });
  }

  /** Waits before the next attempt. `reconnect` ends the wait. */
  async #wait(failures: number): Promise<void> {
    await backoff(failures, AbortSignal.any([this.#options.signal, this.#hurry.signal])).catch(() => undefined);
    if (!this.#hurry.signal.aborted) return;
    this.#hurry = new AbortController();
    // A socket that is closed while opening reports an error before its close event. Without a pause, the client would
    // attribute that event to the next socket.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }

  #become(state: ConnectionState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const changed of this.#listeners) changed();
  }

  async #newest(): Promise<string> {
    const { tokens, signal } = this.#options;
    this.#authorization = await tokens.authorization(signal);
    return this.#authorization;
  }

  /** Sends a newer token in a ping before the old one expires, so that the socket and its streams stay open. */
  #renewLater(socket: WebSocket): void {
    const renew = async () => {
      const authorization = await this.#newest();
      if (socket.readyState !== socket.OPEN) return;
      socket.send(JSON.stringify({ type: 'ping', payload: { authorization } }));
      this.#renewLater(socket);
    };
    this.#renewal = setTimeout(
      // Without a newer token, the server closes the socket with 4403. The client then requests a token to reconnect.
      () => renew().catch(() => undefined),
      Math.max(250, Math.min(this.#options.tokens.renewalInMs() + 1, 2 ** 31 - 1)),
    );
  }
}
