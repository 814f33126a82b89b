import { WorkSlot } from '../../core/outside-wait.ts';
import type { Clock } from '../../domain/access/limits/rate-limits.ts';

/** The tenant whose share of the capacity a request uses. */
export interface Tenant {
  readonly key: string;
  /** False for senders with unknown credentials, who are grouped by address. */
  readonly isPlatform: boolean;
}

interface AtWork {
  count: number;
  /** The work that is waiting for its turn, in order. */
  readonly waiting: (() => void)[];
}

/** The fraction of a platform's turns that may be used for expensive work. */
const expensivePart = 1 / 4;

/** How long a platform counts as active after a request, in milliseconds. */
const sharedMs = 1_000;

/**
 * Lets the requests of several tenants take turns. While several platforms are active, only a few of each tenant's
 * requests are processed at a time, so that the event loop soon gets to the others' requests, and database connections
 * remain free for them. If only one platform is active, it has a much higher limit.
 */
export class Turns {
  readonly #most: number;
  readonly #mostAlone: number;
  /** Each tenant's work in progress and, under a separate key, the expensive part of that work. */
  readonly #atWork = new Map<string, AtWork>();
  /** Work whose turn has come, but which has not begun yet. */
  readonly #beginning: (() => void)[] = [];
  #lastPlatform: string | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #sharedUntil = 0;
  readonly #now: Clock;

  /** Processes up to `most` requests of a tenant at a time, or up to `mostAlone` of the only active platform. */
  constructor(most: number, mostAlone: number, now: Clock = () => performance.now()) {
    this.#most = most;
    this.#mostAlone = mostAlone;
    this.#now = now;
  }

  /** Waits for the platform's turn. Each operation on a WebSocket and each message of a stream takes a turn. */
  async takeTurn(platformId: string): Promise<WorkSlot> {
    const tenant = { key: platformId, isPlatform: true };
    await this.begin(tenant);
    return new Turn(this, tenant);
  }

  /** Begins the work on a request; `end` must follow. If the request must wait for its turn, returns a promise. */
  begin(tenant: Tenant): Promise<void> | undefined {
    this.#note(tenant);
    return this.#begin(tenant.key, this.#mostOf(tenant));
  }

  /** Resumes a request that gave up its turn, without waiting for another turn. `end` must follow. */
  resume({ key }: Tenant): void {
    this.#of(key).count += 1;
  }

  /** Ends a turn, and starts waiting requests if there is room. */
  end(tenant: Tenant): void {
    this.#end(tenant.key, this.#mostOf(tenant));
  }

  /**
   * Begins expensive work within a request's turn: a statement that occupies one of the database's cores.
   * `endExpensive` must follow. Like begin(), it returns a promise if the work must wait.
   */
  beginExpensive(platformId: string): Promise<void> | undefined {
    return this.#begin(`expensive ${platformId}`, this.#mostExpensive());
  }

  endExpensive(platformId: string): void {
    this.#end(`expensive ${platformId}`, this.#mostExpensive());
  }

  /** Returns whether this is the only active platform: no other platform's request was admitted in the last second. */
  isAlone({ key, isPlatform }: Tenant): boolean {
    if (!isPlatform) return false;
    return key === this.#lastPlatform ? !this.#isShared : this.#now() >= this.#lastAt + sharedMs;
  }

  /** Whether several platforms are active and must take turns. */
  get #isShared(): boolean {
    return this.#now() < this.#sharedUntil;
  }

  /** Callers without credentials are always limited, and never cause a platform to be limited. */
  #mostOf({ isPlatform }: Tenant): number {
    return isPlatform && !this.#isShared ? this.#mostAlone : this.#most;
  }

  #mostExpensive(): number {
    return this.#isShared ? Math.max(1, Math.floor(this.#most * expensivePart)) : this.#mostAlone;
  }

  #of(key: string): AtWork {
    const own = this.#atWork.get(key) ?? { count: 0, waiting: [] };
    this.#atWork.set(key, own);
    return own;
  }

  #begin(key: string, most: number): Promise<void> | undefined {
    const own = this.#of(key);
    if (own.count >= most) return new Promise((resolve) => own.waiting.push(resolve));
    own.count += 1;
    return undefined;
  }

  #end(key: string, most: number): void {
    const own = this.#of(key);
    own.count -= 1;
    for (; own.count < most; own.count += 1) {
      const next = own.waiting.shift();
      if (!next) break;
      if (this.#isShared) this.#beginSoon(next);
      else next();
    }
    if (own.count === 0) this.#atWork.delete(key);
  }

  /** Begins work that has waited, one piece per event-loop turn, so that other tenants' requests are read meanwhile. */
  #beginSoon(next: () => void): void {
    if (this.#beginning.push(next) === 1) setImmediate(this.#beginNext);
  }

  readonly #beginNext = (): void => {
    this.#beginning.shift()?.();
    if (this.#beginning.length > 0) setImmediate(this.#beginNext);
  };

  #note({ key, isPlatform }: Tenant): void {
    if (!isPlatform) return;
    this.#lastAt = this.#now();
    if (key === this.#lastPlatform) return;
    if (this.#lastPlatform !== undefined) this.#sharedUntil = this.#lastAt + sharedMs;
    this.#lastPlatform = key;
  }
}

/** The turn of one piece of work. While the work waits for an external service, other work may use the turn. */
class Turn extends WorkSlot {
  readonly #turns: Turns;
  readonly #tenant: Tenant;

  constructor(turns: Turns, tenant: Tenant) {
    super();
    this.#turns = turns;
    this.#tenant = tenant;
  }

  protected override vacate(): void {
    this.#turns.end(this.#tenant);
  }

  protected override occupy(): void {
    this.#turns.resume(this.#tenant);
  }
}
