/** Waits for clients, only so many at once: when there are more, the one that has lasted longest gives way. */
export class Waits {
  readonly #most: number;
  /** What each does when it gives way, the longest first. */
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Begins a wait. Answers what ends it; a wait that gives way has ended. */
  begin(giveWay: () => void): () => void {
    if (this.#waiting.size >= this.#most) this.#endLongest();
    // Of its own, since two waits may do the same.
    const wait = () => giveWay();
    this.#waiting.add(wait);
    return () => this.#waiting.delete(wait);
  }

  #endLongest(): void {
    const [longest] = this.#waiting;
    if (!longest) return;
    this.#waiting.delete(longest);
    longest();
  }
}
