import type { Directory, Place } from '../clusters/directory.ts';
import type { Claim } from '../clusters/names.ts';

/** What stays open: WebSockets, and event streams over HTTP. */
export const streamKinds = ['socket', 'stream'] as const;
type StreamKind = (typeof streamKinds)[number];

interface Open {
  readonly claim: Claim;
  readonly kind: StreamKind;
  readonly cluster: string;
  readonly end: () => void;
}

/** The event streams and sockets that are open: they end where their platform moves, and when the front stops. */
export class OpenStreams {
  readonly #open = new Set<Open>();
  readonly #place: (claim: Claim) => Place;

  constructor(directory: { readonly current: Directory }) {
    this.#place = (claim) => directory.current.placeOf(claim);
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Notes an open stream.
   * @param end ends it, so that its client connects again
   * @returns the function to call when it has ended
   */
  add(claim: Claim, kind: StreamKind, end: () => void): () => void {
    const one: Open = { claim, kind, cluster: this.#place(claim).cluster, end };
    this.#open.add(one);
    return () => void this.#open.delete(one);
  }

  /** Counts the open streams of a kind to a cluster. */
  countOf(cluster: string, kind: StreamKind): number {
    let count = 0;
    for (const one of this.#open) if (one.cluster === cluster && one.kind === kind) count += 1;
    return count;
  }

  /** Ends the streams of platforms that are somewhere else now, or are being moved. */
  endMoved(): void {
    for (const { claim, cluster, end } of this.#open) {
      const place = this.#place(claim);
      if (place.isPaused || place.cluster !== cluster) end();
    }
  }

  /** Ends all streams, spread over so many milliseconds, so that not all clients connect again at once. */
  async endAll(spreadMs: number): Promise<void> {
    const all = [...this.#open];
    const start = performance.now();
    for (const [index, { end }] of all.entries()) {
      const waitMs = start + (spreadMs * index) / all.length - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      end();
    }
  }
}
