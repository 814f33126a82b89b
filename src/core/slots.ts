/** Limits how many tasks run at once. Further tasks wait in a queue. */
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

  /** Waits in the queue for a free slot, and takes it. Returns the function that releases the slot. */
  take(): Promise<() => void> {
    return new Promise((taken) => void this.run(() => new Promise<void>((over) => taken(over))));
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limit) this.#running += 1;
    // Finished work hands its slot to the next in the queue, so that no later arrival can overtake it.
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
