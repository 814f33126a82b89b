import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { type Following, type FollowOptions, follow } from './follow.ts';
import { openSocket, type PaymentsSocket } from './socket.ts';
import { type ClientToken, Tokens } from './tokens.ts';

/** How an app reaches the service. */
export interface PaymentsOptions {
  /** The GraphQL endpoint: https://…/graphql */
  readonly url: string;
  /** Asks your own server for a client token (it calls createClientToken). Called before the first request and each expiry. */
  readonly token: (signal: AbortSignal) => Promise<ClientToken>;
  readonly fetch?: typeof fetch;
  /** The class WebSocket, where there is no global one. */
  readonly webSocketImpl?: unknown;
  /** How often the app asks for a sign of life, in milliseconds; 10 seconds when left out. */
  readonly pingIntervalMs?: number;
}

/** The service, as an app sees it. */
export interface Payments {
  /** The GraphQL endpoint. */
  readonly url: string;
  readonly tokens: Tokens;
  readonly socket: PaymentsSocket;
  /** `fetch` with the newest token: for the HttpLink of Apollo, or `fetch` of urql. */
  readonly fetch: typeof fetch;
  /** Sends a query or a mutation. Rejects with a RequestError when it is refused, or with what `fetch` rejects with. */
  execute<Result, Variables>(
    document: TypedDocumentNode<Result, Variables>,
    variables: Variables,
    signal?: AbortSignal,
  ): Promise<Result>;
  /** Follows a subscription over the socket. */
  follow<Result, Variables>(options: FollowOptions<Result, Variables>): Following;
  /** Ends everything: streams, requests, the socket. */
  stop(): void;
}

/** Why a request was refused. */
export class RequestError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'RequestError';
    this.code = code;
  }
}

/** Opens the service for an app. Nothing is sent before the first request or subscription. */
export function openPayments({ url, token, fetch: send = fetch, ...options }: PaymentsOptions): Payments {
  const control = new AbortController();
  const tokens = new Tokens(token);
  const socket = openSocket({ url, tokens, signal: control.signal, ...options });

  const authorized: typeof fetch = async (input, init) => {
    const signal = init?.signal ? AbortSignal.any([control.signal, init.signal]) : control.signal;
    const attempt = async () => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', await tokens.authorization(signal));
      return send(input, { ...init, headers, signal });
    };
    const response = await attempt();
    if (response.status !== 401) return response;
    // The token has ended before its time: once more, with a newer one.
    tokens.forget();
    return attempt();
  };

  return {
    url,
    tokens,
    socket,
    fetch: authorized,
    async execute<Result, Variables>(
      document: TypedDocumentNode<Result, Variables>,
      variables: Variables,
      signal?: AbortSignal,
    ): Promise<Result> {
      const response = await authorized(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
        body: JSON.stringify({ query: print(document), variables }),
        ...(signal && { signal }),
      });
      const { data, errors } = (await response.json()) as {
        readonly data?: Result | null;
        readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
      };
      const [error] = errors ?? [];
      if (error || !data) throw new RequestError(error?.extensions?.code ?? 'UNKNOWN', error?.message ?? 'no data');
      return data;
    },
    follow: (followed) => ({
      ...follow(socket.client, {
        ...followed,
        signal: followed.signal ? AbortSignal.any([control.signal, followed.signal]) : control.signal,
      }),
      // Asked over the same socket, a dead one would not answer.
      resumeNow: socket.reconnect,
    }),
    stop() {
      control.abort();
      socket.dispose();
    },
  };
}
