/** A load tool's measurements. Times are in milliseconds. */
export interface Measured {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** The number of responses by HTTP status; 0 stands for no response. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The p99 latency of responses with status 200. */
  readonly p99Good: number;
  readonly wrong: number;
  readonly firstWrong: string | undefined;
  readonly collected: readonly string[];
  /** Requests per second in each turn. */
  readonly turns: readonly number[];
}

/** Collects response times. */
export class Latencies {
  readonly collected: string[] = [];
  readonly #all: number[] = [];
  readonly #good: number[] = [];
  readonly #statuses: Record<string, number> = {};
  #wrong = 0;
  #firstWrong: string | undefined;
  readonly #turns: number[] = [];
  #seconds = 0;
  #began = 0;
  #before = 0;

  begin(): void {
    this.#began = performance.now();
    this.#before = this.#all.length;
  }

  end(): void {
    const seconds = (performance.now() - this.#began) / 1000;
    this.#seconds += seconds;
    this.#turns.push((this.#all.length - this.#before) / seconds);
  }

  add(ms: number, status: number, wrong: string | undefined): void {
    this.#all.push(ms);
    if (status === 200) this.#good.push(ms);
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    if (wrong === undefined) return;
    this.#wrong += 1;
    this.#firstWrong ??= wrong;
  }

  measured(): Measured {
    const times = this.#all.sort((a, b) => a - b);
    return {
      requests: times.length,
      perSecond: this.#seconds === 0 ? 0 : times.length / this.#seconds,
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      max: times.at(-1) ?? 0,
      statuses: this.#statuses,
      p99Good: percentile(
        this.#good.sort((a, b) => a - b),
        0.99,
      ),
      wrong: this.#wrong,
      firstWrong: this.#firstWrong,
      collected: this.collected,
      turns: this.#turns,
    };
  }
}

/** Returns a percentile of the sorted values; `part` is a fraction, such as 0.99. */
export function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
