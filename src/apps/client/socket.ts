import { type Client, createClient } from 'graphql-ws/client';
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

/** Ends the connection of a client whose ping is not answered. The library itself would keep it. */
export function endIfSilent(client: Client): Client {
  let missingPong: ReturnType<typeof setTimeout>;
  // A phone that has changed networks does not report that its socket is dead. Only a missing pong shows it.
  client.on('ping', (received) => {
    if (!received) missingPong = setTimeout(() => client.terminate(), 5_000);
  });
  for (const event of ['pong', 'closed'] as const) client.on(event, () => clearTimeout(missingPong));
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
  #socket: WebSocket | undefined;
  /** The `authorization` header that contains the open socket's token. */
  #authorization = '';
  #opening: ReturnType<typeof setTimeout> | undefined;
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
      this.#drop();
    }
    for (const act of this.#hurried) act();
  };

  dispose(): void {
    this.#clearTimers();
    // The client's `dispose` rejects if the socket failed to open, which no longer matters.
    Promise.resolve(this.#client?.dispose()).catch(() => undefined);
  }

  #connect(): Client {
    const { url, tokens, webSocketImpl, pingIntervalMs = 10_000, signal } = this.#options;
    if (webSocketImpl === undefined && typeof WebSocket === 'undefined')
      throw new TypeError('There is no global WebSocket: pass a class to openPayments as webSocketImpl.');
    const note = (socket: WebSocket) => {
      this.#socket = socket;
      this.#opening = setTimeout(() => this.#drop(), openingMs);
    };
    // A class passed by the app has the same interface as the global one.
    class NotedSocket extends ((webSocketImpl ?? WebSocket) as typeof WebSocket) {
      constructor(address: string, protocols: string) {
        super(address, protocols);
        note(this);
      }
    }
    // On a web page, the address may be relative.
    const address = new URL(url, typeof location === 'undefined' ? undefined : location.href);
    address.protocol = address.protocol.replace('http', 'ws');
    const client = createClient({
      // The socket opens once there is a token, but never after everything has been stopped. The library does not catch
      // errors thrown here.
      url: async () => {
        for (let failures = 0; !signal.aborted; failures += 1) {
          const isReady = await tokens.authorization(signal).then(Boolean, () => this.#wait(failures));
          if (isReady && !signal.aborted) return address.href;
        }
        return new Promise<never>(() => undefined);
      },
      webSocketImpl: NotedSocket,
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
          clearTimeout(this.#opening);
          this.#become('OPEN');
          // graphql-ws declares no type for the socket, but creates it with the class above.
          this.#renewLater(socket as WebSocket);
        },
        closed: (event) => {
          const { code } = (event ?? {}) as { readonly code?: unknown };
          // 4403: the token was refused.
          if (code === 4403) tokens.forget(this.#authorization);
          this.#clearTimers();
          // A dropped connection may come back to life and deliver messages that the next one has already delivered.
          if (this.#socket) this.#socket.onmessage = null;
          this.#become(code === 1000 || signal.aborted ? 'IDLE' : 'CONNECTING');
        },
      },
    });
    return endIfSilent(client);
  }

  /** Ends the connection or the attempt to open one. The client then tries again. */
  #drop(): void {
    // `terminate` removes the listeners. Without them, `ws` throws the error caused by closing a socket too early.
    if (this.#socket?.readyState === 0) this.#socket.close();
    else this.#client?.terminate();
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

  #clearTimers(): void {
    clearTimeout(this.#opening);
    clearTimeout(this.#renewal);
  }
}
