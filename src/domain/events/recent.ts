import type { Event } from '../../infra/database/generated/client/client.ts';

/** The maximum number of events of one platform kept in memory. */
export const newestEvents = 2_000;
/** The maximum for all platforms, in bytes of JSON. As objects, events take two to four times as much memory. */
export const maxBytes = 32 * 1024 * 1024;

export interface RecentMemory {
  readonly limit: number;
  used: number;
}

/** A feed's newest events, without gaps, for readers that were disconnected briefly. `clear` releases the memory. */
export class RecentEvents {
  readonly #memory: RecentMemory;
  #events: Event[] = [];
  #sizes: number[] = [];
  /** The index of the oldest event in the arrays. Older entries remain before it until the arrays are trimmed. */
  #start = 0;

  constructor(memory: RecentMemory) {
    this.#memory = memory;
  }

  /** Adds the feed's next event. If it does not directly follow the last one, it replaces all earlier events. */
  add(event: Event): void {
    const last = this.#events.at(-1);
    if (last && event.sequence !== last.sequence + 1n) this.clear();
    const size = JSON.stringify(event.snapshot).length;
    while (this.#count > 0 && (this.#count >= newestEvents || this.#memory.used + size > this.#memory.limit))
      this.#drop();
    if (this.#memory.used + size > this.#memory.limit) return;
    this.#events.push(event);
    this.#sizes.push(size);
    this.#memory.used += size;
  }

  fill(older: readonly Event[]): void {
    const events = this.#events.slice(this.#start);
    const [first] = events;
    this.clear();
    for (const event of older) if (!first || event.sequence < first.sequence) this.add(event);
    for (const event of events) this.add(event);
  }

  at(sequence: bigint): Event | undefined {
    const first = this.#events[this.#start];
    return first && sequence >= first.sequence
      ? this.#events[this.#start + Number(sequence - first.sequence)]
      : undefined;
  }

  /** Returns up to `limit` events after a sequence; undefined if the first of them is not in memory. */
  after(sequence: bigint, limit: number): readonly Event[] | undefined {
    const first = this.at(sequence + 1n);
    if (!first) return undefined;
    const from = this.#start + Number(first.sequence - (this.#events[this.#start]?.sequence ?? 0n));
    return this.#events.slice(from, from + limit);
  }

  clear(): void {
    while (this.#count > 0) this.#drop();
  }

  get #count(): number {
    return this.#events.length - this.#start;
  }

  #drop(): void {
    this.#memory.used -= this.#sizes[this.#start] ?? 0;
    this.#start += 1;
    // Trimming copies the arrays, so it is done rarely enough that each event is copied about once.
    if (this.#start < newestEvents && this.#count > 0) return;
    this.#events = this.#events.slice(this.#start);
    this.#sizes = this.#sizes.slice(this.#start);
    this.#start = 0;
  }
}
