/** A limited number of waits for clients: a new wait beyond the limit evicts the oldest. */
export class BoundedWaits {
  readonly #max: number;
  /** The eviction callbacks, the oldest first. */
  readonly #evictions = new Set<() => void>();

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Begins a wait.
   * @param onEvict called when the wait is evicted, which ends it
   * @returns the function that ends it
   */
  begin(onEvict: () => void): () => void {
    if (this.#evictions.size >= this.#max) this.#evictOldest();
    // A new function, since two waits may have the same callback.
    const evict = () => onEvict();
    this.#evictions.add(evict);
    return () => this.#evictions.delete(evict);
  }

  #evictOldest(): void {
    const [oldest] = this.#evictions;
    if (!oldest) return;
    this.#evictions.delete(oldest);
    oldest();
  }
}
