import type { InexactJson } from '../../../core/json.ts';
import { type Extra, socketLimits } from './socket-sessions.ts';

export interface ClientMessage {
  readonly type: string;
  /** The id of the operation that it starts or ends. */
  readonly id: string | undefined;
  readonly text: string;
  readonly inexact?: InexactJson | undefined;
}

/** The maximum number of operations per socket: the client's open ones, and as many that the service has yet to end. */
const maxUnderWay = 2 * socketLimits.operations;

/**
 * Passes the messages of a socket to graphql-ws in their order. A new operation with the id of a completed one waits
 * until that one has ended: graphql-ws would confuse the two. The socket pauses while its client completes operations
 * faster than the service ends them.
 */
export class SocketOrder {
  readonly #extra: Extra;
  readonly #handle: (text: string) => Promise<void>;
  readonly #running = new Map<string, Promise<void>>();
  /** The promise that the next message with the same id waits for. */
  readonly #waits = new Map<string, Promise<void>>();
  /** The numbers of the operations that are open for the client, by id. */
  readonly #open = new Map<string, number>();
  #begun = 0;
  #underWay = 0;

  /** @param handle handles a message; resolves when the operation that it starts has ended, never rejects */
  constructor(extra: Extra, handle: (text: string) => Promise<void>) {
    this.#extra = extra;
    this.#handle = handle;
  }

  take({ type, id, text, inexact }: ClientMessage): void {
    if (id === undefined || (type !== 'subscribe' && type !== 'complete')) return void this.#handle(text);
    const next = type === 'subscribe' ? this.#beginner(id, text, inexact) : () => this.#end(id, text);
    if (type === 'complete') this.#open.delete(id);
    const wait = this.#waits.get(id);
    const rest = wait ? wait.then(next) : next();
    if (!rest) return;
    const settled = rest.then(() => {
      if (this.#waits.get(id) === settled) this.#waits.delete(id);
    });
    this.#waits.set(id, settled);
  }

  #beginner(id: string, text: string, inexact: InexactJson | undefined): () => undefined {
    const isTooMany = this.#open.size >= socketLimits.operations;
    this.#begun += 1;
    const number = this.#begun;
    this.#open.set(id, number);
    this.#count(1);
    return () => {
      this.#extra.begun = { isTooMany, inexact };
      return this.#begin(id, text, number);
    };
  }

  #begin(id: string, text: string, number: number): undefined {
    const over = this.#handle(text).then(() => {
      if (this.#open.get(id) === number) this.#open.delete(id);
      this.#extra.leave.get(id)?.();
      this.#extra.leave.delete(id);
      this.#count(-1);
      if (this.#running.get(id) === over) this.#running.delete(id);
    });
    this.#running.set(id, over);
  }

  #end(id: string, text: string): Promise<void> | undefined {
    void this.#handle(text);
    return this.#running.get(id);
  }

  #count(change: 1 | -1): void {
    this.#underWay += change;
    const { socket, isRefused } = this.#extra;
    if (socket.readyState !== socket.OPEN || isRefused) return;
    if (this.#underWay >= maxUnderWay) socket.pause();
    else if (socket.isPaused) socket.resume();
  }
}
