import { type Operation, sentAs } from './operation.ts';
import { advance, type Resuming, type SubscribingClient } from './resume.ts';
import { abortable, backoff } from './waiting.ts';

/** Stores the cursor of the last message between runs of an app, for example in localStorage or AsyncStorage. */
export interface CursorStore {
  readonly load: () => Promise<string | null>;
  readonly save: (cursor: string) => Promise<void>;
}

/** Reports why a stream was refused or has ended for good. */
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
  /** A subscription. It needs neither `after` nor `cursor`, because cursors are sent alongside the document. */
  readonly document: Operation<Result, Variables>;
  /** The variables. If they contain `after`, the stream begins there unless `store` has a newer cursor. */
  readonly variables: Variables;
  /**
   * Receives each message once and in order. In the app's next run, the last ones are repeated if `store` had not saved
   * their cursors. Compare `version` to recognize them.
   */
  readonly onMessage: (data: Result) => void;
  /**
   * Reads the current state together with `viewer.feedCursor`, and returns that cursor. The stream begins there.
   * Called if there is no cursor or the cursor is too old. If omitted, the service decides where to begin.
   */
  readonly begin?: (signal: AbortSignal) => Promise<string>;
  readonly store?: CursorStore;
  /** Ends the stream, as `stop` does. */
  readonly signal?: AbortSignal;
}

/** A followed stream. */
export interface Following {
  /** Resolves on completion or `stop`. Rejects with a StreamRefusedError, or with the error that `onMessage` throws. */
  readonly done: Promise<void>;
  /** Reconnects at once. Call it when the app returns to the foreground or the network comes back. */
  readonly resumeNow: () => void;
  /** Ends the stream. No callback is called afterwards, and no connection stays open. */
  readonly stop: () => void;
}

/** Refusals after which the stream is retried. A refused cursor makes it start again; all other refusals end it. */
const passing = new Set(['UNAUTHENTICATED', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE', 'TIMEOUT', 'INTERNAL_SERVER_ERROR']);
const ofCursor = new Set(['CURSOR_EXPIRED', 'INVALID_INPUT']);

/**
 * Follows a subscription until the service completes it: reconnects as often as needed, resumes after the last message,
 * and starts again if the cursor is too old. `client` is a graphql-ws or graphql-sse client.
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

/** Runs a stream to its end. `untilHurry` creates the signal that ends an attempt or a wait. */
async function run<Result, Variables>(
  client: SubscribingClient,
  options: FollowOptions<Result, Variables>,
  signal: AbortSignal,
  untilHurry: () => AbortSignal,
): Promise<void> {
  const { after, ...variables } = (options.variables ?? {}) as Readonly<Record<string, unknown>>;
  const resuming: Resuming = { after: typeof after === 'string' ? after : null };
  const request = { ...sentAs(options.document), variables, extensions: resuming };
  const next = (data: unknown) => {
    failures = 0;
    // The response conforms to the service's schema, from which the document's types are generated.
    options.onMessage(data as Result);
    void save();
  };
  let saved: string | null = null;
  let saving = Promise.resolve();
  // One at a time, because an older cursor that is saved late would replace a newer one.
  const save = () => {
    saving = saving.then(saveNewest).catch(() => undefined);
    return saving;
  };
  const saveNewest = async () => {
    const { after } = resuming;
    if (after === null || after === saved || signal.aborted) return;
    await options.store?.save(after);
    saved = after;
  };
  let failures = 0;
  for (let isLoaded = false; ; failures += 1) {
    const hurry = untilHurry();
    let begun: string | undefined;
    try {
      const stored = isLoaded ? null : await abortable(options.store?.load() ?? none, hurry);
      // If nothing is stored, the stream begins after the cursor in the variables, if they contain one.
      if (stored !== null) resuming.after = stored;
      isLoaded = true;
      if (resuming.after === null && options.begin) {
        begun = await abortable(options.begin(hurry), hurry);
        resuming.after = begun;
        await abortable(save(), hurry);
      }
      const end = await attempt(client, request, hurry, next);
      if (end === 'COMPLETED') return;
      if (end !== 'LOST') restart(resuming, end, begun);
      await backoff(failures, hurry);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Final) throw error.cause;
      // The network is down, there is no token, or the store has failed. `hurry` ends the wait.
      if (!hurry.aborted) await backoff(failures, hurry).catch(() => signal.throwIfAborted());
    }
  }
}

class Final extends Error {
  constructor(cause: unknown) {
    super('', { cause });
  }
}

/** Decides whether a refused stream restarts, is retried, or ends. `begun` is the cursor at which it began. */
function restart(resuming: Resuming, error: StreamRefusedError, begun: string | undefined): void {
  // The service would not refuse a cursor that it has just returned, so something else in the request is invalid.
  const isNew = error.code === 'INVALID_INPUT' && resuming.after === begun;
  if (ofCursor.has(error.code) && resuming.after !== null && !isNew) resuming.after = null;
  else if (!passing.has(error.code)) throw new Final(error);
}

const none = Promise.resolve(null);

type End = 'COMPLETED' | 'LOST' | StreamRefusedError;

/**
 * Subscribes once; the library may reconnect. Returns how the stream ended. Rejects if the signal or the app ended it.
 */
function attempt(
  client: SubscribingClient,
  request: { readonly extensions: Resuming },
  signal: AbortSignal,
  next: (data: unknown) => void,
): Promise<End> {
  let refusal: StreamRefusedError | undefined;
  let unsubscribe = () => {};
  const ended = new Promise<End>((end, reject) => {
    const sink = {
      next(result: { readonly data?: unknown; readonly errors?: unknown }) {
        if (signal.aborted) return;
        const { data, errors } = result;
        refusal ??= refusalIn(errors);
        if (data === null || data === undefined) return;
        advance(request.extensions, result);
        // An exception thrown by the app must not reach the library, which would treat it as a connection failure.
        try {
          next(data);
        } catch (error) {
          reject(new Final(error));
        }
      },
      error: (error: unknown) => end(refusalIn(error) ?? 'LOST'),
      complete: () => end(refusal ?? 'COMPLETED'),
    };
    // All versions of graphql-ws accept these two arguments, but their types disagree on which fields are optional.
    const subscribe = client.subscribe.bind(client) as (request: object, to: object) => () => void;
    unsubscribe = subscribe(request, sink);
  });
  return abortable(ended, signal).finally(() => unsubscribe());
}

/** Finds the refusal among GraphQL errors, in the forms in which libraries report them. */
function refusalIn(errors: unknown): StreamRefusedError | undefined {
  const [first] = (Array.isArray(errors) ? errors : []) as { message?: unknown; extensions?: { code?: unknown } }[];
  return first && new StreamRefusedError(String(first.extensions?.code ?? 'UNKNOWN'), String(first.message));
}
