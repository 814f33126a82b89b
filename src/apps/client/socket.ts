import { type Client, createClient } from 'graphql-ws/client';
import { resumingClient } from './resume.ts';
import type { Tokens } from './tokens.ts';
import { backoff } from './waiting.ts';

/** The state of the app's connection to the service. CONNECTING includes the wait for the next attempt. */
export type ConnectionState = 'IDLE' | 'CONNECTING' | 'OPEN';

/** A WebSocket that reconnects forever, and its subscriptions. */
export interface PaymentsSocket {
  /**
   * A graphql-ws client whose subscriptions resume: for Apollo's GraphQLWsLink, urql's subscriptionExchange and
   * `follow`. Created on first access, which throws if there is no WebSocket class. Apps that send only requests need
   * no such class.
   */
  readonly client: Client;
  readonly state: () => ConnectionState;
  /** Calls `changed` on each change of the state. Returns the function that unsubscribes. */
  readonly onState: (changed: () => void) => () => void;
  /** Drops the connection and reconnects at once. Call it when the app is in the foreground or online again. */
  readonly reconnect: () => void;
  readonly dispose: () => void;
}

/** Settings of a socket. */
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
 * Creates a socket that is open from the first subscription until the last one ends. Renews tokens before they expire.
 */
export function openSocket(options: SocketOptions): PaymentsSocket {
  const state = new State();
  const life = new Life(options.tokens, options.signal);
  let client: Client | undefined;
  let resuming: Client | undefined;
  return {
    get client() {
      client ??= connect(options, state, life);
      resuming ??= resumingClient(client);
      return resuming;
    },
    state: () => state.current,
    onState: (call) => state.onChange(call),
    reconnect() {
      life.hurry();
      if (state.current === 'OPEN') client?.terminate();
    },
    dispose() {
      life.closed();
      // `dispose` rejects if the socket failed to open, which no longer matters.
      Promise.resolve(client?.dispose()).catch(() => undefined);
    },
  };
}

class State {
  current: ConnectionState = 'IDLE';
  readonly #calls = new Set<() => void>();

  become(next: ConnectionState): void {
    if (this.current === next) return;
    this.current = next;
    for (const call of this.#calls) call();
  }

  onChange(call: () => void): () => void {
    this.#calls.add(call);
    return () => this.#calls.delete(call);
  }
}

function connect(
  { url, tokens, webSocketImpl, pingIntervalMs = 10_000, signal }: SocketOptions,
  state: State,
  life: Life,
): Client {
  if (webSocketImpl === undefined && typeof WebSocket === 'undefined')
    throw new TypeError('There is no global WebSocket: give openPayments a class as webSocketImpl.');
  // On a web page, the address may be relative.
  const address = new URL(url, typeof location === 'undefined' ? undefined : location.href);
  address.protocol = address.protocol.replace('http', 'ws');
  const client: Client = createClient({
    // The socket opens once there is a token, and never after everything was stopped. The library does not catch errors
    // thrown here.
    url: async () => {
      await tokens.ready(signal).catch(() => undefined);
      return signal.aborted ? new Promise<never>(() => undefined) : address.href;
    },
    ...(webSocketImpl !== undefined && { webSocketImpl }),
    connectionParams: async () => ({ authorization: await tokens.authorization(signal) }),
    // The defaults give up after five attempts, and immediately if the first one fails.
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => !signal.aborted,
    retryWait: (retries) => life.waitForRetry(retries),
    keepAlive: pingIntervalMs,
    on: {
      connecting: () => state.become('CONNECTING'),
      opened: (socket) => life.opened(socket as WebSocket),
      connected: () => {
        state.become('OPEN');
        life.renewLater();
      },
      // A phone that changes networks does not notice that its socket is dead, but the missing pong reveals it.
      ping: (received) => {
        if (!received) life.awaitPong(() => client.terminate());
      },
      pong: (received) => {
        if (received) life.pong();
      },
      closed: (event) => {
        const { code } = (event ?? {}) as { readonly code?: unknown };
        // 4403: the token was refused.
        if (code === 4403) tokens.forget();
        life.closed();
        state.become(code === 1000 || signal.aborted ? 'IDLE' : 'CONNECTING');
      },
    },
  });
  return client;
}

/** Manages a connection: the renewal of its token, the wait for a ping's pong, and the wait for the next attempt. */
class Life {
  readonly #tokens: Tokens;
  readonly #signal: AbortSignal;
  #socket: WebSocket | undefined;
  #renewal: ReturnType<typeof setTimeout> | undefined;
  #missingPong: ReturnType<typeof setTimeout> | undefined;
  #hurry = new AbortController();

  constructor(tokens: Tokens, signal: AbortSignal) {
    this.#tokens = tokens;
    this.#signal = signal;
  }

  opened(socket: WebSocket): void {
    this.#socket = socket;
  }

  /** Sends a newer token in a ping before the old one expires, so that the socket and its streams stay open. */
  renewLater(): void {
    clearTimeout(this.#renewal);
    const socket = this.#socket;
    this.#renewal = setTimeout(
      async () => {
        try {
          const authorization = await this.#tokens.authorization(this.#signal);
          if (this.#socket !== socket) return;
          socket?.send(JSON.stringify({ type: 'ping', payload: { authorization } }));
          this.renewLater();
        } catch {
          // Without a newer token, the server closes the socket with 4403, and the reconnect requests a token again.
        }
      },
      Math.max(250, Math.min(this.#tokens.renewalInMs() + 1, 2 ** 31 - 1)),
    );
  }

  awaitPong(missed: () => void): void {
    clearTimeout(this.#missingPong);
    this.#missingPong = setTimeout(missed, 5_000);
  }

  pong(): void {
    clearTimeout(this.#missingPong);
  }

  closed(): void {
    this.#socket = undefined;
    clearTimeout(this.#renewal);
    clearTimeout(this.#missingPong);
  }

  /** Ends the wait for the next attempt. */
  hurry(): void {
    this.#hurry.abort();
    this.#hurry = new AbortController();
  }

  async waitForRetry(retries: number): Promise<void> {
    // graphql-ws continues when the wait ends, for whatever reason; a disposed client no longer connects.
    await backoff(retries, AbortSignal.any([this.#signal, this.#hurry.signal])).catch(() => undefined);
  }
}
