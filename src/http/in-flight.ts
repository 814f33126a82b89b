import type { RequestSlot } from '../core/outside-wait.ts';
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
 * since after that it mostly waits; so does a request while it waits for the world outside (core/outside-wait.ts).
 *
 * At the limit, a tenant that uses less than its share is admitted all the same, up to twice the limit in all: nobody is
 * refused because of another's load. The shares are equal, among the tenants that have requests in flight.
 */
export class InFlight {
  readonly #limits: AdmissionLimits;
  readonly #maxWhileSlow: number;
  readonly #load: Load = { count: 0, averageMs: 0, byTenant: new Map() };
  readonly #unread = new BoundedWaits(maxUnread);

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
    this.#maxWhileSlow = Math.ceil(limits.maxInFlight / slowDivisor);
  }

  /**
   * Admits a request, which then counts until its response ends or is aborted.
   * @param tenant whose share it uses (tenants.ts)
   * @returns the slot that the request uses, or undefined when there are too many
   */
  admit(response: WatchedResponse, tenant: string): RequestSlot | undefined {
    const { count, averageMs } = this.#load;
    const limit = averageMs > this.#limits.slowMs ? this.#maxWhileSlow : this.#limits.maxInFlight;
    if (count >= limit && !this.#isWithinShare(tenant, limit)) return undefined;
    const request = new AdmittedRequest(response, tenant, this.#load, this.#unread);
    response.watcher = request;
    return request;
  }

  #isWithinShare(tenant: string, limit: number): boolean {
    const { count, byTenant } = this.#load;
    const own = byTenant.get(tenant) ?? 0;
    const tenants = byTenant.size + (own === 0 ? 1 : 0);
    return own < limit / tenants && tenants > 1 && count < 2 * limit;
  }
}

interface Load {
  /** The number of admitted requests. */
  count: number;
  /** The same by tenant, of those that have any. */
  readonly byTenant: Map<string, number>;
  /** The moving average of the processing time, in milliseconds. */
  averageMs: number;
}

/** Counts one request until it is processed. */
class AdmittedRequest implements ResponseWatcher, RequestSlot {
  readonly #response: WatchedResponse;
  readonly #tenant: string;
  readonly #load: Load;
  readonly #unread: BoundedWaits;
  /** When the processing began, less the time of waits for the world outside. */
  #start = performance.now();
  #isCounted = false;
  #isFinished = false;
  /** The waits for the world outside that are under way, and when the first of them began. */
  #waits = 0;
  #waitStart = 0;
  /** Ends the wait for the client to read the response. */
  #endWait: (() => void) | undefined;

  constructor(response: WatchedResponse, tenant: string, load: Load, unread: BoundedWaits) {
    this.#response = response;
    this.#tenant = tenant;
    this.#load = load;
    this.#unread = unread;
    this.#count();
    response.once('close', () => this.#close());
    if (response.closed) this.#close();
  }

  release(): void {
    this.#waits += 1;
    if (this.#waits > 1) return;
    this.#waitStart = performance.now();
    this.#uncount();
  }

  retake(): void {
    this.#waits -= 1;
    if (this.#waits > 0 || this.#isFinished) return;
    this.#start += performance.now() - this.#waitStart;
    this.#count();
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
    this.#isFinished = true;
    this.#uncount();
    this.#endWait?.();
  }

  #finish(): void {
    const { averageMs } = this.#load;
    if (!this.#isFinished) this.#load.averageMs += (performance.now() - this.#start - averageMs) / averageWindow;
    this.#isFinished = true;
    this.#uncount();
  }

  #count(): void {
    const { byTenant } = this.#load;
    this.#isCounted = true;
    this.#load.count += 1;
    byTenant.set(this.#tenant, (byTenant.get(this.#tenant) ?? 0) + 1);
  }

  #uncount(): void {
    if (!this.#isCounted) return;
    this.#isCounted = false;
    const { byTenant } = this.#load;
    this.#load.count -= 1;
    const left = (byTenant.get(this.#tenant) ?? 0) - 1;
    if (left > 0) byTenant.set(this.#tenant, left);
    else byTenant.delete(this.#tenant);
  }
}
