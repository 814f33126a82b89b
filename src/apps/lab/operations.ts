import { type DocumentNode, getOperationAST, Kind, parse } from 'graphql';
import { type Client, createClient } from 'graphql-ws';
import { resumingClient } from '../client/resume.ts';

interface Request {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: Record<string, unknown>;
}

interface Options {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly documentAST?: DocumentNode;
}

interface Observer {
  next(result: object): void;
  complete(): void;
}

/** The operation of a tab. It continues while another tab is open. */
interface Running {
  latest: object | undefined;
  isOver: boolean;
  observer: Observer | undefined;
  readonly abort: () => void;
}

interface OperationsOptions {
  /** The Authorization header to use if the tab's own headers contain none. */
  readonly authorization: () => string | undefined;
  /** Called with each result that has data. */
  readonly onResult: (operationName: string | null | undefined, data: unknown) => void;
}

/** The close code of a socket whose credentials are wrong or have expired. */
const forbidden = 4403;
/** The maximum number of stream messages that a tab shows. */
const shownMessages = 100;

/** Runs the operations of all tabs. GraphiQL itself has one at a time, and ends it when another tab is opened. */
export class Operations {
  readonly #options: OperationsOptions;
  readonly #byTab = new Map<string, Running>();
  readonly #sockets = new Map<string, Client>();
  readonly #listeners = new Set<() => void>();
  #running: ReadonlySet<string> = new Set();
  #openTab = '';
  #isLeaving = false;

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** Runs an operation for the open tab, or shows the one already in progress: GraphiQL's fetcher. */
  readonly fetcher = (given: Request, options: Options = {}) => {
    const headers = this.#headersOf(options);
    const request = withOwnName(given);
    if (request.operationName === 'IntrospectionQuery') return post(request, headers);
    const tab = this.#openTab;
    return {
      subscribe: (observer: Observer) => {
        const present = this.#byTab.get(tab);
        const running = present && !present.isOver ? present : this.#start(request, headers);
        this.#byTab.set(tab, running);
        this.#announce();
        return this.#show(running, observer);
      },
    };
  };

  /** Sets the open tab. Returns `run` if its operation continues, or the text of its last response. */
  open(tab: string): 'run' | { readonly result: object } | undefined {
    this.#openTab = tab;
    const running = this.#byTab.get(tab);
    if (!running) return undefined;
    if (!running.isOver) return 'run';
    return running.latest && { result: running.latest };
  }

  /** Performs an action that makes GraphiQL stop the open tab's operation, without ending the operation. */
  leave(act: () => void): void {
    this.#isLeaving = true;
    try {
      act();
    } finally {
      this.#isLeaving = false;
    }
  }

  close(tab: string): void {
    this.#byTab.get(tab)?.abort();
    this.#byTab.delete(tab);
  }

  /** The tabs with an operation in progress: a new set whenever they change. */
  readonly running = (): ReadonlySet<string> => this.#running;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Returns a socket with these credentials. It reconnects by itself, and its subscriptions resume. */
  socket(authorization: string): Client {
    let socket = this.#sockets.get(authorization);
    if (!socket) {
      socket = resumingClient(
        createClient({
          url: new URL('graphql', location.href).href.replace('http', 'ws'),
          connectionParams: { authorization },
          retryAttempts: Number.POSITIVE_INFINITY,
          shouldRetry: (error) => !(error instanceof CloseEvent && error.code === forbidden),
          // An unanswered ping means a dead connection: after a laptop's sleep, or after a change of network.
          keepAlive: 10_000,
        }),
      );
      this.#sockets.set(authorization, socket);
    }
    return socket;
  }

  #headersOf({ headers = {} }: Options): Record<string, string> {
    const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
    const authorization = this.#options.authorization();
    return { ...(authorization !== undefined && { authorization }), ...Object.fromEntries(given) };
  }

  #show(running: Running, observer: Observer) {
    running.observer = observer;
    // GraphiQL expects the subscription first and its results afterwards.
    queueMicrotask(() => {
      if (running.observer !== observer) return;
      if (running.latest) observer.next(running.latest);
      if (running.isOver) observer.complete();
    });
    return {
      unsubscribe: () => {
        running.observer = undefined;
        if (!this.#isLeaving) running.abort();
      },
    };
  }

  #start(request: Request, headers: Record<string, string>): Running {
    const abort = new AbortController();
    const running: Running = { latest: undefined, isOver: false, observer: undefined, abort: () => abort.abort() };
    const show = (result: object) => {
      running.latest = result;
      running.observer?.next(result);
    };
    const end = () => {
      running.isOver = true;
      this.#announce();
      running.observer?.complete();
    };
    abort.signal.addEventListener('abort', end);
    if (isSubscription(request)) this.#follow(request, headers, { show, end, signal: abort.signal });
    else {
      post(request, headers, abort.signal)
        .then((result) => {
          this.#take(request, result);
          show(result);
        })
        .catch((error: unknown) => !abort.signal.aborted && show(failure(error)))
        .finally(end);
    }
    return running;
  }

  #follow(
    request: Request,
    { authorization = '' }: Record<string, string>,
    { show, end, signal }: { show: (result: object) => void; end: () => void; signal: AbortSignal },
  ): void {
    let messages: readonly object[] = [];
    const shown = () => ({ latest: messages[0], before: messages.slice(1) });
    const unsubscribe = this.socket(authorization).subscribe(
      { query: request.query, variables: request.variables ?? null, operationName: request.operationName ?? null },
      {
        next: (result) => {
          this.#take(request, result);
          messages = [result, ...messages].slice(0, shownMessages);
          show(shown());
        },
        error: (error) => {
          show({ ...failure(error), ...(messages.length > 0 && shown()) });
          end();
        },
        complete: end,
      },
    );
    signal.addEventListener('abort', unsubscribe);
  }

  #announce(): void {
    this.#running = new Set([...this.#byTab].filter(([, { isOver }]) => !isOver).map(([tab]) => tab));
    for (const listener of this.#listeners) listener();
  }

  #take({ operationName }: Request, result: object): void {
    if ('data' in result) this.#options.onResult(operationName, result.data);
  }
}

/** Resolves the operation to run: after a change of tabs, GraphiQL may still name that of the previous tab. */
function withOwnName(request: Request): Request {
  try {
    const [operation, ...others] = parse(request.query).definitions.filter(
      ({ kind }) => kind === Kind.OPERATION_DEFINITION,
    );
    if (operation?.kind !== Kind.OPERATION_DEFINITION || others.length > 0) return request;
    return { ...request, operationName: operation.name?.value ?? null };
  } catch {
    return request;
  }
}

function isSubscription({ query, operationName }: Request): boolean {
  try {
    return getOperationAST(parse(query), operationName)?.operation === 'subscription';
  } catch {
    return false;
  }
}

/** Returns the response that the tab shows for a failed operation. */
function failure(error: unknown): object {
  if (Array.isArray(error)) return { errors: error };
  if (error instanceof CloseEvent)
    return { errors: [{ message: `the connection was closed: ${error.reason || error.code}` }] };
  return { errors: [{ message: error instanceof Error ? error.message : String(error) }] };
}

async function post(request: Request, headers: Record<string, string>, signal?: AbortSignal): Promise<object> {
  const response = await fetch('graphql', {
    method: 'POST',
    headers: { accept: 'application/graphql-response+json', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(request),
    ...(signal && { signal }),
  });
  return (await response.json()) as object;
}
