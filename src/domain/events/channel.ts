import { slowReaders } from '../../infra/instruments/instruments.ts';

export class Overflow extends Error {
  constructor(limit: number) {
    super(`the reader fell ${limit} messages behind`);
    this.name = 'Overflow';
  }
}

/**
 * A bounded queue between a writer and one reader. The reader is an async iterator whose `return` takes effect
 * immediately, even during a pending `next` (an async generator would wait for the next message). A reader that falls
 * too far behind gets an Overflow instead of the remaining messages.
 */
export class Channel<T> implements AsyncIterableIterator<T> {
  readonly #limit: number;
  readonly #onClose: () => void;
  readonly #onOverflow: () => void;
  #queue: T[] = [];
  #waiting: PromiseWithResolvers<IteratorResult<T, undefined>> | undefined;
  #drained: (() => void) | undefined;
  #ended = false;
  #error: unknown;

  /** @param onOverflow called when the reader falls too far behind; it may have stopped reading altogether */
  constructor(limit: number, onClose: () => void, onOverflow: () => void = () => undefined) {
    this.#limit = limit;
    this.#onClose = onClose;
    this.#onOverflow = onOverflow;
  }

  get ended(): boolean {
    return this.#ended;
  }

  push(message: T): void {
    if (this.#ended) return;
    if (this.#waiting) {
      this.#waiting.resolve({ done: false, value: message });
      this.#waiting = undefined;
    } else if (this.#queue.length >= this.#limit) {
      this.#queue = [];
      slowReaders.inc();
      this.fail(new Overflow(this.#limit));
      this.#onOverflow();
    } else {
      this.#queue.push(message);
    }
  }

  /** Waits until the reader has taken all messages or the channel has ended. */
  async drained(): Promise<void> {
    if (this.#ended || this.#queue.length === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#drained = resolve;
    await promise;
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onClose();
    this.#releaseWriter();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) this.next().then(waiting.resolve, waiting.reject);
  }

  /** Ends the channel with an error, which the reader gets after the queued messages. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#error = error;
    this.end();
  }

  takeQueued(limit: number): T[] {
    const taken = this.#queue.splice(0, limit);
    if (this.#queue.length === 0) this.#releaseWriter();
    return taken;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const message = this.#queue.shift();
    if (this.#queue.length === 0) this.#releaseWriter();
    if (message !== undefined) return Promise.resolve({ done: false, value: message });
    if (!this.#ended) {
      this.#waiting = Promise.withResolvers();
      return this.#waiting.promise;
    }
    const error = this.#error;
    this.#error = undefined;
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#queue = [];
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #releaseWriter(): void {
    this.#drained?.();
    this.#drained = undefined;
  }
}

export function only<T>(...messages: readonly T[]): AsyncIterableIterator<T> {
  const channel = new Channel<T>(messages.length, () => undefined);
  for (const message of messages) channel.push(message);
  channel.end();
  return channel;
}

/**
 * Yields the values of `firsts`, then the mapped messages of a channel. If `map` returns no `value`, the message is
 * skipped. If it returns `last`, the channel ends. `return` releases the channel immediately.
 */
export function mapChannel<T, U>(
  channel: Channel<T>,
  map: (message: T) => { readonly value?: U | undefined; readonly last?: boolean },
  firsts: readonly U[] = [],
): AsyncIterableIterator<U> {
  let finished = false;
  const pending = [...firsts];
  return {
    async next() {
      const first = finished ? undefined : pending.shift();
      if (first !== undefined) return { done: false, value: first };
      while (!finished) {
        const result = await channel.next();
        if (result.done) return { done: true, value: undefined };
        const { value, last } = map(result.value);
        if (last) {
          finished = true;
          await channel.return();
        }
        if (value !== undefined) return { done: false, value };
      }
      return { done: true, value: undefined };
    },
    async return() {
      finished = true;
      await channel.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
