/** Why a channel ended before its source did. */
export class Overflow extends Error {
  constructor(limit: number) {
    super(`the reader fell ${limit} messages behind`);
    this.name = 'Overflow';
  }
}

/**
 * A bounded queue between a writer and one reader. The reader is an async iterator whose `return` takes effect at once,
 * also while it waits (an async generator would hold on until the next message). A reader that falls too far behind
 * gets an Overflow instead of the rest.
 */
export class Channel<T> implements AsyncIterableIterator<T> {
  readonly #limit: number;
  readonly #onClose: () => void;
  readonly #onOverflow: () => void;
  #queue: T[] = [];
  #waiting: { resolve: (result: IteratorResult<T, undefined>) => void; reject: (error: unknown) => void } | undefined;
  #drained: (() => void) | undefined;
  #ended = false;
  #error: unknown;

  /** `onOverflow` is called when the reader has fallen too far behind: it may not be reading at all any more. */
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
      this.fail(new Overflow(this.#limit));
      this.#onOverflow();
    } else {
      this.#queue.push(message);
    }
  }

  /** Waits until the reader has taken all there is (or has left): how a writer with much to tell keeps its pace. */
  async drained(): Promise<void> {
    if (this.#ended || this.#queue.length === 0) return;
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
  }

  /** Ends the channel; what is queued is still read. */
  end(): void {
    this.#close();
  }

  /** Ends the channel with an error, after what is queued. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#error = error;
    this.#close();
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const message = this.#queue.shift();
    if (this.#queue.length === 0) this.#releaseWriter();
    if (message !== undefined) return Promise.resolve({ done: false, value: message });
    if (!this.#ended) {
      return new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject };
      });
    }
    const error = this.#error;
    this.#error = undefined;
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#queue = [];
    this.#close();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #releaseWriter(): void {
    this.#drained?.();
    this.#drained = undefined;
  }

  #close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onClose();
    this.#releaseWriter();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (!waiting) return;
    if (this.#error === undefined) waiting.resolve({ done: true, value: undefined });
    else {
      waiting.reject(this.#error);
      this.#error = undefined;
    }
  }
}

/** These messages and the end. */
export function only<T>(...messages: readonly T[]): AsyncIterableIterator<T> {
  const channel = new Channel<T>(messages.length, () => undefined);
  for (const message of messages) channel.push(message);
  channel.end();
  return channel;
}

/**
 * A channel's messages, each turned into something else; without a value it is passed over, and `last` ends the channel after
 * it. `first` goes before all. Returning releases the channel at once.
 */
export function mapChannel<T, U>(
  channel: Channel<T>,
  turn: (message: T) => { readonly value?: U | undefined; readonly last?: boolean },
  first?: U,
): AsyncIterableIterator<U> {
  let finished = false;
  let before = first;
  return {
    async next() {
      if (before !== undefined && !finished) {
        const value = before;
        before = undefined;
        return { done: false, value };
      }
      while (!finished) {
        const result = await channel.next();
        if (result.done) return { done: true, value: undefined };
        const { value, last } = turn(result.value);
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
