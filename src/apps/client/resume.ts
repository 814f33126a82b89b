/** A client of graphql-ws or graphql-sse. */
export interface SubscribingClient {
  subscribe(request: never, sink: never, ...rest: never[]): () => void;
}

/** A request in the form that graphql-ws and graphql-sse accept. */
interface Request {
  readonly extensions?: Record<string, unknown> | null | undefined;
}

interface Sink {
  next(result: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

type Subscribe = (request: Request, sink: Sink, ...rest: unknown[]) => () => void;

/** Where a subscription resumes. Updated in place, so that a library that resends a request sends the newest cursor. */
export interface Resuming {
  /** The cursor of the last message; null asks for cursors in the messages that follow. */
  after: string | null;
}

/** Stores the cursor of a result, so that the next attempt resumes after it. */
export function advance(resuming: Resuming, result: unknown): void {
  const { extensions } = (result ?? {}) as { readonly extensions?: { readonly cursor?: unknown } | null };
  if (typeof extensions?.cursor === 'string') resuming.after = extensions.cursor;
}

/**
 * Makes a graphql-ws or graphql-sse client resume: after a reconnect, each subscription continues after its last
 * message instead of showing the current state again. If it cannot resume yet because of a limit or because the service
 * is busy, it tries again. Pass the client to Apollo's GraphQLWsLink or urql's subscriptionExchange, or use it
 * directly. Documents need no changes.
 */
export function resumingClient<Client extends SubscribingClient>(client: Client): Client {
  const subscribe = client.subscribe.bind(client) as Subscribe;
  const resuming: Subscribe = (request, sink, ...rest) => {
    const extensions: Resuming & Record<string, unknown> = { after: null, ...request.extensions };
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isStopped = false;
    let unsubscribe = () => {};
    const attempt = () => {
      let retryIn: number | undefined;
      const endOrRetry = (end: () => void) => {
        if (retryIn === undefined || isStopped) end();
        else timer = setTimeout(attempt, retryIn);
      };
      const advancing: Sink = Object.assign(Object.create(sink), {
        next(result: { readonly data?: unknown; readonly errors?: unknown }) {
          retryIn = result.data ? undefined : retryMs(extensions, result.errors);
          if (retryIn !== undefined) return;
          advance(extensions, result);
          sink.next(result);
        },
        error(error: unknown) {
          retryIn = retryMs(extensions, error);
          endOrRetry(() => sink.error(error));
        },
        complete: () => endOrRetry(() => sink.complete()),
      });
      unsubscribe = subscribe({ ...request, extensions }, advancing, ...rest);
    };
    attempt();
    return () => {
      isStopped = true;
      clearTimeout(timer);
      unsubscribe();
    };
  };
  return Object.assign(Object.create(client), client, { subscribe: resuming, iterate: iterating(resuming) });
}

/** Returns the milliseconds until the next attempt; undefined for a new subscription, whose refusal the app handles. */
function retryMs({ after }: Resuming, errors: unknown): number | undefined {
  const [first] = (Array.isArray(errors) ? errors : []) as { extensions?: { code?: unknown; retryAfter?: number } }[];
  const { code, retryAfter = 1 } = first?.extensions ?? {};
  if (after === null || (code !== 'RATE_LIMITED' && code !== 'SERVICE_UNAVAILABLE')) return undefined;
  return (retryAfter + Math.random()) * 1_000;
}

/** Returns an `iterate` method that calls the given `subscribe`. The libraries' own `iterate` would bypass it. */
function iterating(subscribe: Subscribe) {
  return (request: Request, ...rest: unknown[]): AsyncIterableIterator<unknown> => {
    const results: unknown[] = [];
    let end: (() => void) | undefined;
    let wake = () => {};
    const finish = (how: () => void) => {
      end ??= how;
      wake();
    };
    const next = (result: unknown) => {
      results.push(result);
      wake();
    };
    const error = (reason: unknown) => {
      finish(() => {
        throw reason;
      });
    };
    const dispose = subscribe(request, { next, error, complete: () => finish(() => {}) }, ...rest);
    const iterator = (async function* iterate() {
      for (;;) {
        while (results.length > 0) yield results.shift();
        if (end) return end();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    })();
    const stop = iterator.return.bind(iterator);
    return Object.assign(iterator, {
      return() {
        results.length = 0;
        finish(() => {});
        dispose();
        return stop();
      },
    });
  };
}
