import type { ServerResponse } from 'node:http';
import type { GraphQLError, GraphQLFormattedError } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import type { Session, Sessions } from '../../access/tokens/sessions.ts';
import type { Viewer } from '../../access/viewer.ts';
import { withoutStatus } from '../failure.ts';
import type { StreamMessage } from '../server/stream-messages.ts';
import { superviseStream } from '../server/supervise-stream.ts';
import { beginEventStream, sendEvent } from './server-events.ts';

/** A reserved stream that nobody opens within this time ends. */
const reservationMs = 30_000;

/** What an event stream is reserved with. */
export interface EventStreamOptions {
  /** Who reserved the stream. */
  readonly viewer: Viewer;
  readonly sessions: Sessions;
  /** How often an open stream sends an empty comment. */
  readonly keepAliveMs: number;
  /** Called once: when the connection closes, or nobody has opened the stream in time. */
  readonly onEnd: () => void;
}

interface RunningOperation {
  /** The results of a subscription that is open. */
  results?: AsyncIterator<unknown>;
  /** Whether its client has ended it. */
  isStopped: boolean;
}

/** An event stream that carries several operations, from its reservation to its end. */
export class EventStream {
  readonly viewer: Viewer;
  readonly #options: EventStreamOptions;
  /** The operations under way by their ids. */
  readonly #operations = new Map<string, RunningOperation>();
  /** Resolves when the stream opens or ends. */
  readonly #opened = Promise.withResolvers<void>();
  readonly #reservation: NodeJS.Timeout;
  #response: ServerResponse | undefined;
  #session: Session | undefined;
  #isEnded = false;

  constructor(options: EventStreamOptions) {
    this.viewer = options.viewer;
    this.#options = options;
    this.#reservation = setTimeout(() => this.#end(), reservationMs).unref();
  }

  get isOpen(): boolean {
    return this.#response !== undefined;
  }

  /** How many operations are under way. */
  get operationCount(): number {
    return this.#operations.size;
  }

  hasOperation(id: string): boolean {
    return this.#operations.has(id);
  }

  /** Sends the stream's messages on this response, those first that waited for it to open. */
  open(response: ServerResponse): void {
    const { sessions, keepAliveMs } = this.#options;
    clearTimeout(this.#reservation);
    this.#response = response;
    beginEventStream(response, 200, { keepAliveMs });
    this.#session = superviseStream(
      sessions,
      this.viewer,
      response,
      (refusal) => void sendEvent(response, { event: 'next', data: JSON.stringify(refusal) }),
    );
    response.once('close', () => this.#end());
    this.#opened.resolve();
  }

  /** Renews the stream's session with a newer token of the same subject. */
  renew(viewer: Viewer): void {
    void this.#session?.renew(viewer);
  }

  /**
   * Runs an operation and sends its results and `complete`, unless the stream ends before.
   * @param start starts it; `isGone` says whether the client has ended it or has disconnected
   */
  async run(id: string, start: (isGone: () => boolean) => Promise<object>): Promise<void> {
    const operation: RunningOperation = { isStopped: false };
    this.#operations.set(id, operation);
    try {
      const result = await start(() => operation.isStopped || this.#isEnded);
      await (isAsyncIterable<StreamMessage>(result) ? this.#follow(id, operation, result) : this.#next(id, result));
    } finally {
      this.#operations.delete(id);
    }
    await this.#send('complete', JSON.stringify({ id }));
  }

  /** Sends the error of an operation that does not run, and `complete`. */
  async refuse(id: string, error: GraphQLError): Promise<void> {
    await this.#next(id, { errors: [error] });
    await this.#send('complete', JSON.stringify({ id }));
  }

  /** Ends an operation: a subscription, also one that is still opening; any other begins nothing more. */
  stop(id: string): void {
    const operation = this.#operations.get(id);
    if (!operation) return;
    operation.isStopped = true;
    operation.results?.return?.();
  }

  /** Closes the connection, so that the client reconnects and resumes. */
  closeForRetry(): void {
    this.#response?.destroy();
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#reservation);
    this.#options.onEnd();
    this.#opened.resolve();
    for (const { results } of this.#operations.values()) results?.return?.();
    this.#operations.clear();
  }

  async #follow(id: string, operation: RunningOperation, results: AsyncIterable<StreamMessage>): Promise<void> {
    const iterator = results[Symbol.asyncIterator]();
    operation.results = iterator;
    if (operation.isStopped || this.#isEnded) await iterator.return?.();
    for (;;) {
      const { done, value } = await iterator.next();
      if (done) return;
      await this.#send('next', `{"id":${JSON.stringify(id)},"payload":${value.text}}`);
    }
  }

  #next(id: string, payload: object): Promise<void> {
    return this.#send('next', JSON.stringify({ id, payload: withoutStatuses(payload) }));
  }

  async #send(event: 'next' | 'complete', data: string): Promise<void> {
    await this.#opened.promise;
    if (this.#response && !this.#isEnded) await sendEvent(this.#response, { event, data });
  }
}

function withoutStatuses(payload: object): object {
  if (!('errors' in payload) || !Array.isArray(payload.errors)) return payload;
  return {
    ...payload,
    errors: payload.errors.map((error: GraphQLError | GraphQLFormattedError) => withoutStatus(error)),
  };
}
