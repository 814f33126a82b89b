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
  /** How often the app asks for a keep-alive, in milliseconds; 10 seconds when left out. */
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

/** Why a request was refused, or failed. */
export class RequestError extends Error {
  /** The code of the service's first error; `UNKNOWN` where the answer was not that of the service. */
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  /** After how many seconds it may be tried again, where the answer says so. */
  readonly retryAfter: number | undefined;
  /** What was answered beside the errors. */
  readonly data: unknown;
  /** The service's errors. */
  readonly errors: readonly ResponseError[];

  constructor(response: Response, { data, errors = [] }: ResponseBody) {
    const [error] = errors;
    super(error?.message ?? `${response.status} ${response.statusText || 'without data'}`);
    this.name = 'RequestError';
    this.code = error?.extensions?.code ?? 'UNKNOWN';
    this.status = response.status;
    this.retryAfter = error?.extensions?.retryAfter ?? secondsOf(response.headers.get('retry-after'));
    this.data = data;
    this.errors = errors;
  }
}

/** An error as the service answers it. */
export interface ResponseError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly retryAfter?: number; readonly [name: string]: unknown };
}

interface ResponseBody {
  readonly data?: unknown;
  readonly errors?: readonly ResponseError[];
}

/** Reads `Retry-After`, which is a number of seconds or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - Date.now()) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
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
    // The token has ended early: once more, with a newer one.
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
      // A proxy in between may answer a page of HTML.
      const body = (await response.json().catch(() => ({}))) as ResponseBody | null;
      if (!body?.data || body.errors) throw new RequestError(response, body ?? {});
      // The service answers by its schema, from which the document's types are made.
      return body.data as Result;
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
