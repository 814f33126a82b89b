import { type Client, createClient } from 'graphql-ws';
import { resumingClient } from './resume.ts';
import type { Tokens } from './tokens.ts';
import { backoff } from './waiting.ts';

/** Whether the app is connected to the service: CONNECTING also while it waits for the next try. */
export type ConnectionState = 'IDLE' | 'CONNECTING' | 'OPEN';

/** A WebSocket that reconnects forever, and the subscriptions on it. */
export interface PaymentsSocket {
  /**
   * A client of graphql-ws whose subscriptions resume: for GraphQLWsLink of Apollo, subscriptionExchange of urql, `follow`. Made
   * when it is first read: without a WebSocket class that throws, while requests need none.
   */
  readonly client: Client;
  readonly state: () => ConnectionState;
  /** Calls back with each change of the state; returns how to end that. */
  readonly onState: (changed: () => void) => () => void;
  /** Cuts the connection; the next one is made at once. Call it when the app comes to the foreground or the network is back. */
  readonly reconnect: () => void;
  readonly dispose: () => void;
}

/** How a socket is made. */
export interface SocketOptions {
  /** The GraphQL endpoint: https://…/graphql */
  readonly url: string;
  readonly tokens: Tokens;
  /** The class WebSocket, where there is no global one. */
  readonly webSocketImpl?: unknown;
  /** How often the app asks for a keep-alive, in milliseconds; 10 seconds when left out. */
  readonly pingIntervalMs?: number;
  readonly signal: AbortSignal;
}

/** Makes a socket. It opens with the first subscription and closes after the last. Before a token ends, a newer one is sent. */
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
      // It rejects with the reason if opening fails, which no longer matters.
      Promise.resolve(client?.dispose()).catch(() => undefined);
    },
  };
}

/** The state of the connection, and its listeners. */
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
  // In a page the address may be relative.
  const address = new URL(url, typeof location === 'undefined' ? undefined : location.href);
  address.protocol = address.protocol.replace('http', 'ws');
  const client: Client = createClient({
    // Without a token there is nothing to connect with: the socket is opened when there is one, and never when all is stopped.
    // The library does not catch what is thrown here.
    url: async () => {
      await tokens.ready(signal).catch(() => undefined);
      return signal.aborted ? new Promise<never>(() => undefined) : address.href;
    },
    ...(webSocketImpl !== undefined && { webSocketImpl }),
    connectionParams: async () => ({ authorization: await tokens.authorization(signal) }),
    // The defaults give up after five tries, and at once when the first fails.
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
      // A phone that changes its network does not notice the dead socket: a missing pong shows it.
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

/** The state of one connection: the renewal of its token, the answer to a ping, the wait for the next try. */
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

  /** Before the token ends, a newer one in a ping lets the socket and its streams live on. */
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
          // Without a newer token the server closes with 4403, and the reconnect asks for one again.
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

  /** Ends the wait for the next try. */
  hurry(): void {
    this.#hurry.abort();
    this.#hurry = new AbortController();
  }

  async waitForRetry(retries: number): Promise<void> {
    // graphql-ws goes on when the wait ends, for whatever reason; a disposed client does not connect any more.
    await backoff(retries, AbortSignal.any([this.#signal, this.#hurry.signal])).catch(() => undefined);
  }
}
