import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { type ResumableRequest, resumable, type SubscribingClient } from './resume.ts';
import { abortable, backoff } from './waiting.ts';

/** Where an app stores the cursor of the last message between two runs: localStorage, AsyncStorage, … */
export interface CursorStore {
  readonly load: () => Promise<string | null>;
  readonly save: (cursor: string) => Promise<void>;
}

/** Why a stream was refused, or ended for good. */
export class StreamRefusedError extends Error {
  /** The code of the refusal: NOT_FOUND, FORBIDDEN, … */
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'StreamRefusedError';
    this.code = code;
  }
}

/** The subscription to follow, and the callbacks for its messages. */
export interface FollowOptions<Result, Variables> {
  /** A subscription of one field. It needs neither `after` nor `cursor`: both are added. */
  readonly document: TypedDocumentNode<Result, Variables>;
  /** An `after` in them is where the stream begins when `store` has no newer cursor. */
  readonly variables: Variables;
  /** One message. Each comes once and in order; after a crash between this and `save`, one may come again: compare `version`. */
  readonly onMessage: (data: Result) => void;
  /**
   * Reads the state of things together with `viewer.feedCursor`, and returns that cursor, after which the stream then begins.
   * Called when there is no cursor to resume after, or it is too old. Without it the stream starts as the service begins it.
   */
  readonly begin?: (signal: AbortSignal) => Promise<string>;
  readonly store?: CursorStore;
  /** Ends everything, as `stop` does. */
  readonly signal?: AbortSignal;
}

/** A stream that is followed. */
export interface Following {
  /** Resolves when the stream is complete or stopped. Rejects with a StreamRefusedError, or what `onMessage` threw. */
  readonly done: Promise<void>;
  /** Reconnects at once: call it when the app comes to the foreground or the network is back. */
  readonly resumeNow: () => void;
  /** Ends the stream. Nothing is called afterwards, and nothing stays open. */
  readonly stop: () => void;
}

/** Refusals that the next attempt may not meet. Those of the cursor start again; all others end the stream. */
const passing = new Set(['UNAUTHENTICATED', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE', 'TIMEOUT', 'INTERNAL_SERVER_ERROR']);
const ofCursor = new Set(['CURSOR_EXPIRED', 'INVALID_INPUT']);

/**
 * Follows a subscription until the service completes it: reconnects forever, resumes after the last message, and starts again
 * if a cursor is too old. `client` is that of graphql-ws or graphql-sse.
 */
export function follow<Result, Variables>(
  client: SubscribingClient,
  options: FollowOptions<Result, Variables>,
): Following {
  const control = new AbortController();
  const signal = options.signal ? AbortSignal.any([control.signal, options.signal]) : control.signal;
  let hurry = new AbortController();
  const done = run(client, options, signal, () => AbortSignal.any([signal, hurry.signal])).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return {
    done,
    resumeNow() {
      const waiting = hurry;
      hurry = new AbortController();
      waiting.abort();
    },
    stop: () => control.abort(),
  };
}

/** `untilHurry` makes one attempt's signal: it ends with the stream, or when the next attempt should begin. */
async function run<Result, Variables>(
  client: SubscribingClient,
  options: FollowOptions<Result, Variables>,
  signal: AbortSignal,
  untilHurry: () => AbortSignal,
): Promise<void> {
  const request = resumable(options.document, options.variables as Readonly<Record<string, unknown>>);
  if (!request) throw new TypeError('Only a subscription of one field can be followed.');
  const next = (data: unknown) => {
    failures = 0;
    // The service answers by its schema, from which the document's types are made.
    options.onMessage(data as Result);
    const cursor = request.cursor();
    if (cursor !== undefined) options.store?.save(cursor).catch(() => undefined);
  };
  let failures = 0;
  for (let isLoaded = false; ; failures += 1) {
    const hurry = untilHurry();
    try {
      const stored = isLoaded ? null : await abortable(options.store?.load() ?? none, hurry);
      // Else the stream begins after what the variables say, if they say it.
      if (stored !== null) request.resumeAfter(stored);
      isLoaded = true;
      if (request.cursor() === undefined && options.begin) await begin(request, options, hurry);
      const end = await attempt(client, request, hurry, next);
      if (end.kind === 'COMPLETED') return;
      if (end.kind === 'THROWN') throw new Final(end.error);
      if (end.kind === 'REFUSED') restart(request, end.error);
      await backoff(failures, hurry);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Final) throw error.cause;
      // No network, no token at the moment, or a failing store. `hurry` ends the wait.
      if (!hurry.aborted) await backoff(failures, hurry).catch(() => signal.throwIfAborted());
    }
  }
}

/** An error that ends the stream. */
class Final extends Error {
  constructor(cause: unknown) {
    super('', { cause });
  }
}

async function begin<Result, Variables>(
  request: ResumableRequest,
  { begin, store }: FollowOptions<Result, Variables>,
  signal: AbortSignal,
): Promise<void> {
  if (!begin) return;
  const cursor = await abortable(begin(signal), signal);
  request.resumeAfter(cursor);
  if (store) await abortable(store.save(cursor), signal);
}

/** Decides what follows a refusal: the stream starts again, is retried, or has ended. */
function restart(request: ResumableRequest, error: StreamRefusedError): void {
  if (ofCursor.has(error.code) && request.cursor() !== undefined) request.resumeAfter(undefined);
  else if (!passing.has(error.code)) throw new Final(error);
}

const none = Promise.resolve(null);

type End =
  | { readonly kind: 'COMPLETED' | 'LOST' }
  | { readonly kind: 'REFUSED'; readonly error: StreamRefusedError }
  | { readonly kind: 'THROWN'; readonly error: unknown };

/** Subscribes once, reconnecting as the library does, and returns how it ended. Rejects when the signal ends it. */
function attempt(
  client: SubscribingClient,
  { document, variables, advance }: ResumableRequest,
  signal: AbortSignal,
  next: (data: unknown) => void,
): Promise<End> {
  let end: (end: End) => void = () => undefined;
  const ended = new Promise<End>((resolve) => {
    end = resolve;
  });
  let refusal: StreamRefusedError | undefined;
  const sink = {
    next({ data, errors }: { readonly data?: unknown; readonly errors?: unknown }) {
      if (signal.aborted) return;
      refusal ??= refusalIn(errors);
      if (data === null || data === undefined) return;
      advance({ data });
      // An exception of the app must not reach the library, which would take it for a failure of the connection.
      try {
        next(data);
      } catch (error) {
        end({ kind: 'THROWN', error });
      }
    },
    error(error: unknown) {
      const refused = refusalIn(error);
      end(refused ? { kind: 'REFUSED', error: refused } : { kind: 'LOST' });
    },
    complete: () => end(refusal ? { kind: 'REFUSED', error: refusal } : { kind: 'COMPLETED' }),
  };
  // Every version of graphql-ws takes these two; their types differ in what is optional.
  const subscribe = client.subscribe.bind(client) as (request: object, to: object) => () => void;
  const unsubscribe = subscribe({ query: print(document), variables }, sink);
  return abortable(ended, signal).finally(unsubscribe);
}

/** Finds the refusal in the errors of GraphQL, as libraries pass them on. */
function refusalIn(errors: unknown): StreamRefusedError | undefined {
  const [first] = (Array.isArray(errors) ? errors : []) as { message?: unknown; extensions?: { code?: unknown } }[];
  return first && new StreamRefusedError(String(first.extensions?.code ?? 'UNKNOWN'), String(first.message));
}
