/** Limits concurrent waits for clients. Above the limit, the oldest wait of the largest group is evicted. */
export class BoundedWaits {
  readonly #max: number;
  readonly #maxOfGroup: number;
  #size = 0;
  /** The eviction callbacks of each group, oldest first. */
  readonly #groups = new Map<string, Set<() => void>>();

  /** @param maxOfGroup the maximum number of waits in a group, enforced by `tryBegin` */
  constructor(max: number, maxOfGroup = max) {
    this.#max = max;
    this.#maxOfGroup = maxOfGroup;
  }

  /** Begins a wait, or returns undefined if the group is full. */
  tryBegin(onEvict: () => void, group: string): (() => void) | undefined {
    return (this.#groups.get(group)?.size ?? 0) >= this.#maxOfGroup ? undefined : this.begin(onEvict, group);
  }

  /**
   * Begins a wait, optionally in a group. `onEvict` is called if it must end early. Returns the function that ends it.
   */
  begin(onEvict: () => void, group = ''): () => void {
    // Wrapped in a new function, because two waits may have the same callback.
    const evict = () => onEvict();
    const waits = this.#groups.get(group) ?? new Set();
    this.#groups.set(group, waits.add(evict));
    this.#size += 1;
    if (this.#size > this.#max) this.#evictOldest();
    return () => this.#end(group, evict);
  }

  #end(group: string, evict: () => void): void {
    const waits = this.#groups.get(group);
    if (!waits?.delete(evict)) return;
    this.#size -= 1;
    if (waits.size === 0) this.#groups.delete(group);
  }

  #evictOldest(): void {
    let largest: readonly [string, Set<() => void>] | undefined;
    for (const entry of this.#groups) if (!largest || entry[1].size > largest[1].size) largest = entry;
    const [group, waits] = largest ?? [];
    const [oldest] = waits ?? [];
    if (group === undefined || !oldest) return;
    this.#end(group, oldest);
    oldest();
  }
}
