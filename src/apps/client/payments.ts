import { type Following, type FollowOptions, follow } from './follow.ts';
import { asPost, type Operation, sentAs } from './operation.ts';
import { PaymentsSocket, type SocketOptions } from './socket.ts';
import { type ClientToken, Tokens } from './tokens.ts';

/** Settings for connecting an app to the service. */
export interface PaymentsOptions extends Omit<SocketOptions, 'tokens' | 'signal'> {
  /** Requests a client token from your own server (createClientToken), on first use and before each token expires. */
  readonly token: (signal: AbortSignal) => Promise<ClientToken>;
  readonly fetch?: typeof fetch;
}

/** The app's interface to the service. */
export interface Payments {
  /** The GraphQL endpoint. */
  readonly url: string;
  readonly tokens: Tokens;
  readonly socket: PaymentsSocket;
  /** `fetch` with the newest token: for Apollo's HttpLink, or as urql's `fetch`. */
  readonly fetch: typeof fetch;
  /** Sends a query or a mutation. Rejects with a RequestError if it is refused, or with `fetch`'s own error. */
  execute<Result, Variables>(
    operation: Operation<Result, Variables>,
    variables: Variables,
    signal?: AbortSignal,
  ): Promise<Result>;
  follow<Result, Variables>(options: FollowOptions<Result, Variables>): Following;
  /** Ends all streams and requests, and closes the socket. */
  stop(): void;
}

/** Reports why a request was refused or failed. */
export class RequestError extends Error {
  /** The code of the service's first error; `UNKNOWN` if the response did not come from the service. */
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  /** The number of seconds after which to retry, if the response states it. */
  readonly retryAfter: number | undefined;
  /** The data returned along with the errors. */
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

/** An error as the service returns it. */
export interface ResponseError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly retryAfter?: number; readonly [name: string]: unknown };
}

interface ResponseBody {
  readonly data?: unknown;
  readonly errors?: readonly ResponseError[];
}

/** Reads a response. Returns an empty object for one that the service did not send, such as a proxy's HTML page. */
export async function bodyOf(response: Response): Promise<ResponseBody> {
  const text = await response.text();
  try {
    const body = JSON.parse(text);
    return typeof body === 'object' && Array.isArray(body?.errors ?? []) ? (body ?? {}) : {};
  } catch {
    return {};
  }
}

/** Reads `Retry-After`, which is a number of seconds or a date. A date contains a colon; "3600.5" is not a year. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = header.includes(':') ? (Date.parse(header) - Date.now()) / 1_000 : Number.parseFloat(header);
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

/** Creates an app's client for the service. It sends nothing before the first request or subscription. */
export function openPayments({ url, token, fetch: send = fetch, ...options }: PaymentsOptions): Payments {
  const control = new AbortController();
  const tokens = new Tokens(token);
  const socket = new PaymentsSocket({ url, tokens, signal: control.signal, ...options });

  const authorized: typeof fetch = async (input, init) => {
    const signal = init?.signal ? AbortSignal.any([control.signal, init.signal]) : control.signal;
    const attempt = (authorization: string) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', authorization);
      return send(input, { ...init, headers, signal });
    };
    const authorization = await tokens.authorization(signal);
    const response = await attempt(authorization);
    if (response.status !== 401) return response;
    // The token was refused before its expiry: retry once with a newer one.
    tokens.forget(authorization);
    return attempt(await tokens.authorization(signal));
  };

  return {
    url,
    tokens,
    socket,
    fetch: authorized,
    async execute(operation, variables, signal) {
      const request = asPost({ ...sentAs(operation), variables });
      const response = await authorized(url, { ...request, ...(signal && { signal }) });
      const body = await bodyOf(response);
      if (!body.data || body.errors?.length) throw new RequestError(response, body);
      // The response conforms to the service's schema, from which the document's types are generated.
      return body.data as never;
    },
    follow(followed) {
      const signal = followed.signal ? AbortSignal.any([control.signal, followed.signal]) : control.signal;
      const following = follow(socket.client, { ...followed, signal });
      const done = following.done.finally(socket.onReconnect(following.resumeNow));
      // Always reconnects, because a request sent over a dead socket would get no response.
      return { ...following, done, resumeNow: socket.reconnect };
    },
    stop() {
      control.abort();
      socket.dispose();
    },
  };
}
