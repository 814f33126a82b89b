import { getOperationAST, parse } from 'graphql';
import type { Client, SubscribePayload } from 'graphql-ws';
import { asPost } from '../client/operation.ts';
import { openSocket } from './socket.ts';
import { missingIn } from './step.ts';

interface Options {
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface Observer {
  next(result: object): void;
  complete(): void;
}

/** The result of an operation, or the messages of a stream. */
export interface Answer {
  /** The response to show in the operation's tab, without `extensions.cost`. */
  readonly result: object;
  /** The HTTP status, or the number of messages. */
  readonly status: string;
  /** The time from the request to this answer. */
  readonly milliseconds: number;
  readonly bytes: number;
  readonly cost?: Cost | undefined;
}

/** `extensions.cost`. */
export interface Cost {
  readonly cost: number;
}

/** The operation of a tab. It continues while another tab is open. */
interface Running {
  latest: Answer | undefined;
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

const shownMessages = 100;

/** Runs the operations of all tabs. GraphiQL itself runs only one at a time, and ends it when another tab is opened. */
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

  /** GraphiQL's fetcher. Runs an operation for the open tab, or shows the one already in progress. */
  readonly fetcher = (given: SubscribePayload, options: Options = {}) => {
    const headers = this.#headersOf(options);
    const request = withOwnName(given);
    if (request.operationName === 'IntrospectionQuery') return post(request, headers).then(({ result }) => result);
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

  /** Opens a tab. Returns `run` if its operation is running, otherwise its last answer. Ends an outdated operation. */
  open(tab: string, isOutdated: boolean): 'run' | Answer | undefined {
    this.#openTab = tab;
    if (isOutdated) this.close(tab);
    const running = this.#byTab.get(tab);
    return running?.isOver === false ? 'run' : running?.latest;
  }

  /** Returns the last answer to a tab's operation. Each answer is a new object. */
  answer(tab: string | undefined): Answer | undefined {
    return tab === undefined ? undefined : this.#byTab.get(tab)?.latest;
  }

  /** Performs an action that makes GraphiQL stop the open tab's operation, but lets the operation continue. */
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

  /** Returns the tabs with an operation in progress: a new set after each change. */
  readonly running = (): ReadonlySet<string> => this.#running;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  socket(authorization: string): Client {
    const socket = this.#sockets.get(authorization) ?? openSocket(authorization);
    this.#sockets.set(authorization, socket);
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
      if (running.latest) observer.next(running.latest.result);
      if (running.isOver) observer.complete();
    });
    return {
      unsubscribe: () => {
        running.observer = undefined;
        if (!this.#isLeaving) running.abort();
      },
    };
  }

  #start(request: SubscribePayload, headers: Record<string, string>): Running {
    const abort = new AbortController();
    const running: Running = { latest: undefined, isOver: false, observer: undefined, abort: () => abort.abort() };
    const startedAt = performance.now();
    const show = ({ cost = running.latest?.cost, ...received }: Received) => {
      running.latest = { ...received, cost, milliseconds: performance.now() - startedAt };
      this.#announce();
      running.observer?.next(received.result);
    };
    const end = () => {
      running.isOver = true;
      this.#announce();
      running.observer?.complete();
    };
    abort.signal.addEventListener('abort', end);
    const missing = missingIn(request.variables ?? {});
    if (missing !== undefined) {
      show({ ...failure(new Error(missing)), status: 'Not sent' });
      end();
    } else if (isSubscription(request)) this.#follow(request, headers, { show, end, signal: abort.signal });
    else {
      post(request, headers, abort.signal)
        .then((received) => {
          this.#take(request, received.result);
          show(received);
        })
        .catch((error: unknown) => !abort.signal.aborted && show(failure(error)))
        .finally(end);
    }
    return running;
  }

  #follow(
    request: SubscribePayload,
    { authorization = '' }: Record<string, string>,
    { show, end, signal }: { show: (received: Received) => void; end: () => void; signal: AbortSignal },
  ): void {
    let messages: readonly object[] = [];
    let [count, bytes] = [0, 0];
    const shown = () => ({ latest: messages[0], before: messages.slice(1) });
    const unsubscribe = this.socket(authorization).subscribe(request, {
      next: (message) => {
        const { cost, result } = withoutCost(message);
        this.#take(request, result);
        messages = [result, ...messages].slice(0, shownMessages);
        count += 1;
        bytes += sizeOf(JSON.stringify(message));
        show({ result: shown(), status: count === 1 ? '1 message' : `${count} messages`, bytes, cost });
      },
      error: (error) => {
        const { result, ...failed } = failure(error);
        show({ ...failed, bytes, result: { ...result, ...(count > 0 && shown()) } });
        end();
      },
      complete: end,
    });
    signal.addEventListener('abort', unsubscribe);
  }

  #announce(): void {
    this.#running = new Set([...this.#byTab].filter(([, { isOver }]) => !isOver).map(([tab]) => tab));
    for (const listener of this.#listeners) listener();
  }

  #take({ operationName }: SubscribePayload, result: object): void {
    if ('data' in result) this.#options.onResult(operationName, result.data);
  }
}

/** Sets the name of the operation to run. After a change of tabs, GraphiQL may still send the previous tab's name. */
function withOwnName(request: SubscribePayload): SubscribePayload {
  const only = operationIn({ query: request.query });
  return only ? { ...request, operationName: only.name?.value ?? null } : request;
}

export const isSubscription = (request: SubscribePayload) => operationIn(request)?.operation === 'subscription';

/** Finds the operation of a request; undefined if the request does not identify it or is invalid. */
function operationIn({ query, operationName }: SubscribePayload) {
  try {
    return getOperationAST(parse(query), operationName);
  } catch {
    return undefined;
  }
}

type Received = Omit<Answer, 'milliseconds'>;

function failure(error: unknown): Received {
  const errors = Array.isArray(error) ? error : [{ message: messageOf(error) }];
  return { result: { errors }, status: 'Failed', bytes: 0 };
}

function messageOf(error: unknown): string {
  if (error instanceof CloseEvent) return `The connection was closed: ${error.reason || error.code}`;
  // `fetch` throws this without a connection. Its message depends on the browser.
  if (error instanceof TypeError) return 'The service cannot be reached: check that it is running, and send again';
  return error instanceof Error ? error.message : String(error);
}

async function post(
  request: SubscribePayload,
  headers: Record<string, string>,
  signal?: AbortSignal,
): Promise<Received> {
  const { headers: usual, ...sent } = asPost(request);
  const response = await fetch('graphql', { ...sent, headers: { ...usual, ...headers }, signal: signal ?? null });
  const text = await response.text();
  return {
    ...withoutCost(JSON.parse(text)),
    status: `${response.status} ${response.statusText}`,
    bytes: sizeOf(text),
  };
}

/** Removes `extensions.cost`, which is longer than many results. */
function withoutCost({ extensions, ...others }: { readonly extensions?: unknown }) {
  const { cost, ...rest } = { cost: undefined, ...(extensions ?? {}) };
  const result: object = Object.keys(rest).length > 0 ? { ...others, extensions: rest } : others;
  return { result, ...(isCost(cost) && { cost }) };
}

const isCost = (value: unknown): value is Cost => typeof value === 'object' && value !== null && 'cost' in value;

const sizeOf = (text: string) => new Blob([text]).size;
