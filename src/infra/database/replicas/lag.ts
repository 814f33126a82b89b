import type { Position } from './position.ts';

/** How far a replica is behind the primary. */
export interface Lag {
  readonly bytes: number;
  readonly seconds: number;
}

/** How many positions of the primary are remembered: one each second of an hour. */
const maxSamples = 3_600;

interface Sample {
  readonly at: number;
  readonly lsn: bigint;
}

/**
 * Measures how long a replica has been behind: the time since the primary was at the replica's position. Postgres' own measure,
 * the time of the last transaction, would say hours where nobody has written for hours.
 */
export class LagMeter {
  #samples: Sample[] = [];
  #history: string | undefined;

  /**
   * @param primary a position of the primary that is older than `replayed`
   * @param at the time of that position, in milliseconds
   */
  measure(primary: Position, replayed: bigint, at: number): Lag {
    if (primary.history !== this.#history) this.#samples = [];
    this.#history = primary.history;
    this.#samples.push({ at, lsn: primary.lsn });
    const passed = this.#samples.findLastIndex(({ lsn }) => lsn <= replayed);
    if (passed > 0) this.#samples.splice(0, passed);
    if (this.#samples.length > maxSamples) this.#samples.splice(1, 1);
    const [since] = this.#samples;
    const bytes = primary.lsn > replayed ? Number(primary.lsn - replayed) : 0;
    return { bytes, seconds: bytes === 0 || !since ? 0 : (at - since.at) / 1_000 };
  }
}
