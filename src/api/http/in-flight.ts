import { type IncomingMessage, ServerResponse } from 'node:http';
import { WorkSlot } from '../../core/outside-wait.ts';
import { requestsInFlight } from '../../infra/instruments/instruments.ts';
import { BoundedWaits } from './bounded-waits.ts';
import type { Tenant, Turns } from './turns.ts';

export interface AdmissionLimits {
  readonly maxInFlight: number;
  /** The average processing time, in milliseconds, above which fewer requests are admitted. */
  readonly slowMs: number;
  readonly turns: Turns;
}

/** The number by which `maxInFlight` is divided while processing is slow. */
const slowDivisor = 8;
/** The approximate number of requests over which the processing time is averaged. */
const averageWindow = 32;
/** The maximum number of complete responses held in memory until their clients have read them. */
const maxUnread = 256;

/**
 * Limits the requests in flight. A request beyond the limit is refused immediately, because a queue would delay all
 * requests. While the average processing time is above `slowMs`, the limit is an eighth of `maxInFlight`. A request
 * counts from the end of its body to the end of its response, or to the beginning of a stream, but not while it waits
 * for an external service (core/outside-wait.ts). At the limit, requests of a tenant below its share are still
 * admitted, up to twice `maxInFlight` in total, so that one tenant's load does not cause another's requests to be
 * refused.
 */
export class InFlight {
  /** The requests in flight, in total and by tenant, and the moving average of their processing time in ms. */
  readonly load = { count: 0, byTenant: new Map<string, number>(), averageMs: 0 };
  readonly unread = new BoundedWaits(maxUnread);
  readonly turns: Turns;
  readonly #limits: AdmissionLimits;
  readonly #maxWhileSlow: number;

  constructor(limits: AdmissionLimits) {
    this.turns = limits.turns;
    this.#limits = limits;
    this.#maxWhileSlow = Math.ceil(limits.maxInFlight / slowDivisor);
  }

  /**
   * Admits a request, which then counts until its response ends or is aborted.
   * @param tenant the tenant whose share the request uses (callers.ts)
   * @returns the admitted request, or undefined if there are too many
   */
  admit(response: WatchedResponse, tenant: Tenant): AdmittedRequest | undefined {
    const { count, averageMs } = this.load;
    const limit = averageMs > this.#limits.slowMs ? this.#maxWhileSlow : this.#limits.maxInFlight;
    if (count >= limit && !this.#isWithinShare(tenant.key, limit)) return undefined;
    const request = new AdmittedRequest(response, tenant, this);
    response.watcher = request;
    return request;
  }

  #isWithinShare(tenant: string, limit: number): boolean {
    const { count, byTenant } = this.load;
    const own = byTenant.get(tenant) ?? 0;
    const tenants = byTenant.size + (own === 0 ? 1 : 0);
    // Not twice `limit`, because more requests than that may have been admitted before processing became slow.
    return own < limit / tenants && tenants > 1 && count < 2 * this.#limits.maxInFlight;
  }
}

class AdmittedRequest extends WorkSlot {
  readonly #response: WatchedResponse;
  readonly #tenant: Tenant;
  readonly #shared: InFlight;
  /** When processing began, plus the time spent waiting since then. */
  #start = performance.now();
  #waitStart = 0;
  #hasTurn = false;
  #endUnread: (() => void) | undefined;

  constructor(response: WatchedResponse, tenant: Tenant, shared: InFlight) {
    super();
    this.#response = response;
    this.#tenant = tenant;
    this.#shared = shared;
    this.#count(1);
    response.once('close', () => this.#close());
    if (response.closed) this.#close();
  }

  /** Waits for the request's turn. Returns undefined if it need not wait. Waiting does not count as processing. */
  turn(): Promise<void> | undefined {
    const begin = () => {
      this.#hasTurn = true;
      this.#start = performance.now();
      if (this.hasEnded) this.yieldTurn();
    };
    const wait = this.#shared.turns.begin(this.#tenant);
    if (wait) return wait.then(begin);
    begin();
    return undefined;
  }

  protected override vacate(): void {
    this.#count(-1);
    this.yieldTurn();
  }

  protected override occupy(): void {
    this.#count(1);
    this.resumeTurn();
  }

  override yieldTurn(): void {
    this.#waitStart = performance.now();
    if (this.#hasTurn) this.#shared.turns.end(this.#tenant);
    this.#hasTurn = false;
  }

  override resumeTurn(): void {
    if (this.hasEnded) return;
    this.#start += performance.now() - this.#waitStart;
    this.#hasTurn = true;
    this.#shared.turns.resume(this.#tenant);
  }

  /** Called when an event stream begins. */
  onStream(): void {
    this.#finish();
  }

  /** Called when the response is complete, before the client has read it. */
  onEnd(): void {
    this.#finish();
    const response = this.#response;
    if (!response.closed) this.#endUnread ??= this.#shared.unread.begin(() => response.destroy());
  }

  #close(): void {
    // The duration of an aborted request says nothing about the processing time.
    this.end();
    this.#endUnread?.();
  }

  #finish(): void {
    const { load } = this.#shared;
    if (!this.hasEnded) load.averageMs += (performance.now() - this.#start - load.averageMs) / averageWindow;
    this.end();
  }

  #count(change: 1 | -1): void {
    const { load } = this.#shared;
    requestsInFlight.inc(change);
    load.count += change;
    const own = (load.byTenant.get(this.#tenant.key) ?? 0) + change;
    if (own > 0) load.byTenant.set(this.#tenant.key, own);
    else load.byTenant.delete(this.#tenant.key);
  }
}

/**
 * A response that reports when it begins an event stream and when it is complete. Node's 'finish' event comes later:
 * after earlier responses on the connection, and after the client has read the response.
 */
export class WatchedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /**
   * An object rather than functions, because V8's young-generation collections retain functions stored in a response's
   * fields, along with everything that they reference (bench/LOG.md).
   */
  watcher: AdmittedRequest | undefined;

  // Both overrides pass on all arguments, because no single signature can express the overloads of Node's methods.
  override writeHead(...args: unknown[]): this {
    const result = (super.writeHead as (...args: unknown[]) => this).apply(this, args);
    // Event streams pass their media type to writeHead, so getHeader does not return it.
    const { 'content-type': type } = Object(args.at(-1));
    if (typeof type === 'string' && type.startsWith('text/event-stream')) this.watcher?.onStream();
    return result;
  }

  override end(...args: unknown[]): this {
    this.watcher?.onEnd();
    return (super.end as (...args: unknown[]) => this).apply(this, args);
  }
}
