import { BoundedWaits } from './bounded-waits.ts';
import type { ResponseWatcher, WatchedResponse } from './watched-response.ts';

/** The limits of admission control. */
export interface AdmissionLimits {
  /** The most requests that are processed at once. */
  readonly maxInFlight: number;
  /** The average processing time, in milliseconds, above which fewer requests are admitted. */
  readonly slowMs: number;
}

/** The divisor of `maxInFlight` while processing is slow. */
const slowDivisor = 8;
/** The number of requests over which the processing time is averaged, approximately. */
const averageWindow = 32;
/** The most complete responses that wait in memory for their clients to read them. */
const maxUnread = 256;

/**
 * Admission control: limits the requests that are processed at once. A request beyond the limit is refused at once, since
 * in a queue all would be late. The right limit depends on the machine and the requests, so the processing time decides:
 * while its average is above `slowMs`, only an eighth of `maxInFlight` is admitted, at least one. A request counts from
 * the end of its body to the end of its response, whether or not its client reads that. A stream counts until it begins,
 * since after that it mostly waits.
 */
export class InFlight {
  readonly #limits: AdmissionLimits;
  readonly #maxWhileSlow: number;
  readonly #load: Load = { count: 0, averageMs: 0 };
  readonly #unread = new BoundedWaits(maxUnread);

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
    this.#maxWhileSlow = Math.ceil(limits.maxInFlight / slowDivisor);
  }

  /** Admits a request, which then counts until its response ends or is aborted. @returns false when there are too many */
  admit(response: WatchedResponse): boolean {
    const { count, averageMs } = this.#load;
    if (count >= (averageMs > this.#limits.slowMs ? this.#maxWhileSlow : this.#limits.maxInFlight)) return false;
    response.watcher = new AdmittedRequest(response, this.#load, this.#unread);
    return true;
  }
}

interface Load {
  /** The number of admitted requests. */
  count: number;
  /** The moving average of the processing time, in milliseconds. */
  averageMs: number;
}

/** Counts one request until it is processed. */
class AdmittedRequest implements ResponseWatcher {
  readonly #response: WatchedResponse;
  readonly #load: Load;
  readonly #unread: BoundedWaits;
  readonly #start = performance.now();
  #isCounted = true;
  /** Ends the wait for the client to read the response. */
  #endWait: (() => void) | undefined;

  constructor(response: WatchedResponse, load: Load, unread: BoundedWaits) {
    this.#response = response;
    this.#load = load;
    this.#unread = unread;
    load.count += 1;
    response.once('close', () => this.#close());
    if (response.closed) this.#close();
  }

  onHeaders(contentType: string): void {
    if (contentType.startsWith('text/event-stream')) this.#finish();
  }

  onEnd(): void {
    this.#finish();
    const response = this.#response;
    if (!response.closed) this.#endWait ??= this.#unread.begin(() => response.destroy());
  }

  #close(): void {
    // The time until a client aborts says nothing about the processing time.
    this.#release();
    this.#endWait?.();
  }

  #finish(): void {
    const { averageMs } = this.#load;
    if (this.#isCounted) this.#load.averageMs += (performance.now() - this.#start - averageMs) / averageWindow;
    this.#release();
  }

  #release(): void {
    if (this.#isCounted) this.#load.count -= 1;
    this.#isCounted = false;
  }
}
