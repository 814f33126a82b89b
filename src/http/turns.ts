import type { WorkTurn } from '../core/turn.ts';

/** Whose share of the capacity a request uses. */
export interface Tenant {
  readonly key: string;
  /** Whether it is a platform, or else whoever sends from one address without known credentials. */
  readonly isPlatform: boolean;
}

interface AtWork {
  count: number;
  /** The requests that wait for their turn, the first one first. */
  readonly waiting: (() => void)[];
}

/** How long after a request of another platform, in milliseconds, a platform counts as not alone. */
const sharedMs = 1_000;

/**
 * Lets the requests of several tenants take turns. Of one tenant only so many are worked on at once while other platforms send
 * requests, too; the rest wait. So the event loop does little for one tenant before it sees another one's request, and a
 * connection to the database is left for others. A platform that is alone waits only beyond a limit that is much higher.
 */
export class Turns {
  readonly #most: number;
  readonly #mostAlone: number;
  readonly #atWork = new Map<string, AtWork>();
  #lastPlatform: string | undefined;
  #sharedUntil = 0;

  /**
   * @param most how many requests of one tenant are worked on at once
   * @param mostAlone the same of a platform that is alone
   */
  constructor(most: number, mostAlone: number) {
    this.#most = most;
    this.#mostAlone = mostAlone;
  }

  /** Waits for a turn of a platform, for an operation on a connection that carries several, or for a message of a stream. */
  async takeTurn(platformId: string): Promise<WorkTurn> {
    const tenant = { key: platformId, isPlatform: true };
    await this.begin(tenant);
    return new Turn(this, tenant);
  }

  /**
   * Begins the work on a request; `end` must follow.
   * @returns the wait for its turn; undefined where it need not wait
   */
  begin(tenant: Tenant): Promise<void> | undefined {
    this.#note(tenant);
    const own = this.#of(tenant);
    if (own.count >= this.#mostOf(tenant)) return new Promise((resolve) => own.waiting.push(resolve));
    own.count += 1;
    return undefined;
  }

  /** Goes on with the work on a request that has ended its turn before, without a wait; `end` must follow. */
  resume(tenant: Tenant): void {
    this.#of(tenant).count += 1;
  }

  /** Ends a turn, and begins those of waiting requests. */
  end(tenant: Tenant): void {
    const own = this.#of(tenant);
    own.count -= 1;
    for (const most = this.#mostOf(tenant); own.count < most; own.count += 1) {
      const next = own.waiting.shift();
      if (!next) break;
      next();
    }
    if (own.count === 0) this.#atWork.delete(tenant.key);
  }

  /** A stranger is always limited, and is no reason to limit a platform. */
  #mostOf({ isPlatform }: Tenant): number {
    return isPlatform && performance.now() >= this.#sharedUntil ? this.#mostAlone : this.#most;
  }

  #note({ key, isPlatform }: Tenant): void {
    if (!isPlatform || key === this.#lastPlatform) return;
    if (this.#lastPlatform !== undefined) this.#sharedUntil = performance.now() + sharedMs;
    this.#lastPlatform = key;
  }

  #of({ key }: Tenant): AtWork {
    const known = this.#atWork.get(key);
    if (known) return known;
    const own: AtWork = { count: 0, waiting: [] };
    this.#atWork.set(key, own);
    return own;
  }
}

/** The turn of one piece of work, which others have while it waits for the world outside. */
class Turn implements WorkTurn {
  readonly #turns: Turns;
  readonly #tenant: Tenant;
  /** The waits for the world outside that are under way. */
  #waits = 0;
  #hasEnded = false;

  constructor(turns: Turns, tenant: Tenant) {
    this.#turns = turns;
    this.#tenant = tenant;
  }

  release(): void {
    this.#waits += 1;
    if (this.#waits === 1 && !this.#hasEnded) this.#turns.end(this.#tenant);
  }

  retake(): void {
    this.#waits -= 1;
    if (this.#waits === 0 && !this.#hasEnded) this.#turns.resume(this.#tenant);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#waits === 0) this.#turns.end(this.#tenant);
  }
}
