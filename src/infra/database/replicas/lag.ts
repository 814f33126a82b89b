import type { Position } from './position.ts';

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

/** Measures the time since the primary was at a replica's position: Postgres' own measure grows while nobody writes. */
export class LagMeter {
  #samples: Sample[] = [];
  #history: string | undefined;

  /** `primary`: its position at the time `at` (milliseconds), older than `replayed`. */
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
