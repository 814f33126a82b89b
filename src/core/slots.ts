/** Limits how many pieces of work run at a time. Further work waits in a queue. */
export class Slots {
  readonly #limit: number;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.#running >= this.#limit;
  }

  /** Takes a slot once everything ahead in the queue has had one. Returns the function that releases the slot. */
  take(): Promise<() => void> {
    return new Promise((taken) => void this.run(() => new Promise<void>((over) => taken(over))));
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limit) this.#running += 1;
    // Finished work passes its slot on, so that no later arrival overtakes the queue.
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
