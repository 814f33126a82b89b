import { getOperationAST, parse } from 'graphql';
import type { Client, SubscribePayload } from 'graphql-ws';
import {
  asapScheduler,
  catchError,
  finalize,
  map,
  Observable,
  observeOn,
  of,
  ReplaySubject,
  Subscription,
  scan,
  tap,
} from 'rxjs';
import { fromFetch } from 'rxjs/fetch';
import { asPost } from '../client/operation.ts';
import { parseObject } from './carried.ts';
import { openSocket, resultsOf } from './socket.ts';
import { missingIn } from './step.ts';

interface Options {
  readonly headers?: Readonly<Record<string, unknown>>;
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

/** A tab's operation. It continues while another tab is open. */
interface Running {
  /** Emits the latest answer and those that follow. */
  readonly answers: ReplaySubject<Answer>;
  latest: Answer | undefined;
  /** Closed when the operation is over. */
  sending: Subscription;
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
    const headers = headersOf(options.headers, this.#options.authorization());
    const request = withOwnName(given);
    if (request.operationName === 'IntrospectionQuery') return post(request, headers).pipe(map(({ result }) => result));
    const tab = this.#openTab;
    return new Observable<object>((observer) => {
      const present = this.#byTab.get(tab);
      const running = present && !present.sending.closed ? present : this.#start(request, headers);
      this.#byTab.set(tab, running);
      this.#announce();
      // GraphiQL expects the subscription first and its results afterwards.
      const results = running.answers.pipe(
        observeOn(asapScheduler),
        map(({ result }) => result),
      );
      const shown = results.subscribe(observer);
      return () => {
        shown.unsubscribe();
        if (!this.#isLeaving) running.sending.unsubscribe();
      };
    });
  };

  /** Opens a tab, ending its operation if outdated. Returns `run` if it is still running, otherwise its last answer. */
  open(tab: string, isOutdated: boolean): 'run' | Answer | undefined {
    this.#openTab = tab;
    if (isOutdated) this.close(tab);
    const running = this.#byTab.get(tab);
    return running?.sending.closed === false ? 'run' : running?.latest;
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
    this.#byTab.get(tab)?.sending.unsubscribe();
    this.#byTab.delete(tab);
  }

  /** Returns the tabs with an operation in progress, as a new set after each change. */
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

  #start(request: SubscribePayload, headers: Record<string, string>): Running {
    const running: Running = { answers: new ReplaySubject(1), latest: undefined, sending: Subscription.EMPTY };
    const startedAt = performance.now();
    const received = this.#received(request, headers).pipe(
      catchError((error: unknown) => {
        const { result, ...failed } = failure(error);
        // Keeps the messages received before the failure.
        const { result: shown, bytes = 0 } = running.latest ?? {};
        return of({ ...failed, bytes, result: { ...result, ...shown } });
      }),
      finalize(() => {
        running.answers.complete();
        this.#announce();
      }),
    );
    running.sending = received.subscribe(({ cost = running.latest?.cost, ...received }) => {
      running.latest = { ...received, cost, milliseconds: performance.now() - startedAt };
      this.#announce();
      running.answers.next(running.latest);
    });
    return running;
  }

  /** Sends an operation. Emits its result or, whenever a subscription message arrives, all messages so far. */
  #received(request: SubscribePayload, headers: Record<string, string>): Observable<Received> {
    const missing = missingIn(request.variables ?? {}) ?? refusedIn(headers);
    if (missing !== undefined) return of({ ...failure(new Error(missing)), status: 'Not sent' });
    if (!isSubscription(request)) return post(request, headers).pipe(tap(({ result }) => this.#take(request, result)));
    return resultsOf(this.socket(headers.authorization ?? ''), request).pipe(
      map((message) => ({ ...withoutCost(message), bytes: sizeOf(JSON.stringify(message)) })),
      tap(({ result }) => this.#take(request, result)),
      scan(
        ({ messages, count, bytes }, { result, ...message }) => ({
          messages: [result, ...messages].slice(0, shownMessages),
          count: count + 1,
          ...message,
          bytes: bytes + message.bytes,
        }),
        { messages: [] as readonly object[], count: 0, bytes: 0 },
      ),
      map(({ messages: [latest, ...before], count, ...received }) => ({
        ...received,
        result: { latest, before },
        status: count === 1 ? '1 message' : `${count} messages`,
      })),
    );
  }

  #announce(): void {
    this.#running = new Set([...this.#byTab].filter(([, { sending }]) => !sending.closed).map(([tab]) => tab));
    for (const listener of this.#listeners) listener();
  }

  #take({ operationName }: SubscribePayload, result: object): void {
    if ('data' in result) this.#options.onResult(operationName, result.data);
  }
}

/** Returns a request's headers, with lower-case names: the page's credentials, and the headers given in a tab. */
export function headersOf(given: Options['headers'], authorization: string | undefined): Record<string, string> {
  const own = Object.entries(given ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  return { ...(authorization !== undefined && { authorization }), ...Object.fromEntries(own) };
}

/** Returns a message about a header that the browser would refuse to send. */
function refusedIn(headers: Record<string, string>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      return `The header “${name}” cannot be sent: its name or its value contains characters that HTTP does not allow`;
    }
  }
  return undefined;
}

/** Sets the operation's name. Right after a tab switch, GraphiQL may send the name from the previous tab. */
function withOwnName(request: SubscribePayload): SubscribePayload {
  const only = operationIn({ query: request.query });
  return only ? { ...request, operationName: only.name?.value ?? null } : request;
}

export const isSubscription = (request: SubscribePayload) => operationIn(request)?.operation === 'subscription';

/** Returns a request's operation, or undefined if the request does not identify one or is invalid. */
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
  // `fetch` throws this error if it cannot connect. The error's message depends on the browser.
  if (error instanceof TypeError) return 'The service cannot be reached: check that it is running, and send again';
  return error instanceof Error ? error.message : String(error);
}

function post(request: SubscribePayload, headers: Record<string, string>): Observable<Received> {
  const { headers: usual, ...sent } = asPost(request);
  return fromFetch('graphql', {
    ...sent,
    headers: { ...usual, ...headers },
    async selector(response) {
      const text = await response.text();
      const status = `${response.status} ${response.statusText}`;
      const message = `The response did not come from the service: ${text}`;
      return { ...withoutCost(parseObject(text) ?? { errors: [{ message }] }), status, bytes: sizeOf(text) };
    },
  });
}

/** Removes `extensions.cost`, which is longer than many results. */
function withoutCost({ extensions, ...others }: { readonly extensions?: unknown }) {
  const { cost, ...rest } = { cost: undefined, ...(extensions ?? {}) };
  const result: object = Object.keys(rest).length > 0 ? { ...others, extensions: rest } : others;
  return { result, ...(isCost(cost) && { cost }) };
}

const isCost = (value: unknown): value is Cost => typeof value === 'object' && value !== null && 'cost' in value;

const sizeOf = (text: string) => new Blob([text]).size;
