import type pg from 'pg';
import { wasRolledBack } from '../../infra/database/faults.ts';
import { plansWaiting } from '../../infra/instruments/instruments.ts';
import { msLeft } from '../../infra/instruments/request-facts.ts';
import type { Plan, PlatformPlan } from './plan.ts';

/** The error for a plan that waited too long for a lock or its turn. It was not carried out, so it can be retried. */
export class LockTimeout extends Error {
  readonly for: 'account' | 'table' | 'turn';
  constructor(waitedFor: LockTimeout['for'], options?: ErrorOptions) {
    super(`a plan has waited too long for its ${waitedFor}`, options);
    this.for = waitedFor;
  }
}

interface Waiting<Outcome> extends PlatformPlan {
  /** The first account whose balance the plan changes. */
  readonly account: string | undefined;
  /** As a value of `performance.now()`. */
  readonly deadline: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** A queue of plans whose transactions run one after another. */
interface Lane<Outcome> {
  busy: boolean;
  /** Whether the current transaction has run for so long that plans on other accounts should use another lane. */
  slow: boolean;
  inFlight: readonly Waiting<Outcome>[];
  waiting: Waiting<Outcome>[];
}

/** `alone` may throw `LockTimeout`. */
interface Commit<Outcome> {
  together(plans: readonly PlatformPlan[]): Promise<readonly Outcome[]>;
  alone(plan: PlatformPlan): Promise<Outcome>;
}

/** The maximum number of plans per transaction. There is a limit because the first plan waits for the last. */
const maxPlans = 16;
/** The number of pool connections per lane. A lane uses only one of them. The others serve reads. */
const connectionsPerLane = 3;
/** A transaction that takes longer than this, in milliseconds, is probably waiting for another process's locks. */
const slowMs = 50;

/**
 * Groups plans that arrive while others are being committed, and commits them in one statement and one durable
 * transaction. The plans share the fixed cost of a transaction, and a busy account's payments do not each wait for a
 * commit of their own.
 * - A plan that finds all lanes empty starts immediately, on its own.
 * - A few full transactions cost less than many small ones, so the next lane is used only when the previous one is slow
 *   or has a full transaction waiting.
 * - Plans on the same account share a lane, so that transactions of this process do not wait for each other.
 * - A plan that has waited longer than the connection timeout is not started, because its caller is about to be told
 *   that the outcome is unknown.
 */
export class CommitLanes<Outcome> {
  readonly #lanes: readonly Lane<Outcome>[];
  readonly #maxWaitMs: number;
  readonly #commit: Commit<Outcome>;

  constructor({ options }: pg.Pool, commit: Commit<Outcome>) {
    const lanes = Math.max(1, Math.floor(options.max / connectionsPerLane));
    this.#lanes = Array.from({ length: lanes }, () => ({ busy: false, slow: false, inFlight: [], waiting: [] }));
    this.#maxWaitMs = options.connectionTimeoutMillis ?? Number.POSITIVE_INFINITY;
    this.#commit = commit;
  }

  add(platformId: string, plan: Plan): Promise<Outcome> {
    plansWaiting.inc();
    const outcome = new Promise<Outcome>((resolve, reject) => {
      const deadline = performance.now() + msLeft(this.#maxWaitMs);
      this.#enter({ platformId, plan, account: accountOf(plan), deadline, resolve, reject });
    });
    return outcome.finally(() => plansWaiting.dec());
  }

  #enter(waiting: Waiting<Outcome>): void {
    const lane = this.#laneOf(waiting.account);
    lane.waiting.push(waiting);
    if (lane.busy) return;
    lane.busy = true;
    // Plans that arrive in the same tick share a transaction.
    queueMicrotask(() => this.#drive(lane));
  }

  async #drive(lane: Lane<Outcome>): Promise<void> {
    while (lane.waiting.length > 0) {
      const now = performance.now();
      lane.slow = false;
      rejectWaiting(lane, ({ deadline }) => deadline < now, new LockTimeout('turn'));
      lane.inFlight = lane.waiting.splice(0, maxPlans);
      if (lane.inFlight.length === 0) break;
      const timer = setTimeout(() => this.#moveWaiting(lane), slowMs);
      await this.#commitAll(lane, lane.inFlight);
      clearTimeout(timer);
    }
    lane.busy = false;
    lane.slow = false;
    lane.inFlight = [];
    // Plans that found every lane slow can now move here.
    for (const other of this.#lanes) if (other.slow) this.#moveWaiting(other);
  }

  /** Moves the plans behind a slow transaction to other lanes, except those that share one of its accounts. */
  #moveWaiting(lane: Lane<Outcome>): void {
    lane.slow = true;
    const busy = new Set(lane.inFlight.map(({ account }) => account));
    const stays = ({ account }: Waiting<Outcome>) => account !== undefined && busy.has(account);
    const others = lane.waiting.filter((waiting) => !stays(waiting));
    lane.waiting = lane.waiting.filter(stays);
    for (const waiting of others) this.#enter(waiting);
  }

  async #commitAll(lane: Lane<Outcome>, plans: readonly Waiting<Outcome>[]): Promise<void> {
    if (plans.length > 1) {
      try {
        const outcomes = await this.#commit.together(plans);
        for (const [position, outcome] of outcomes.entries()) plans[position]?.resolve(outcome);
        return;
      } catch (error) {
        if (!wasRolledBack(error)) {
          for (const { reject } of plans) reject(error);
          return;
        }
      }
    }
    // Each plan is now committed alone, so that a failure affects only plans on the same account.
    const accounts = Map.groupBy(plans, (waiting) => waiting.account ?? waiting);
    await Promise.all(Array.from(accounts.values(), (ofAccount) => this.#commitEach(lane, ofAccount)));
  }

  /** Commits one account's plans in turn. If a plan times out, so do the account's other plans in the lane. */
  async #commitEach(lane: Lane<Outcome>, plans: readonly Waiting<Outcome>[]): Promise<void> {
    let lockTimeout: LockTimeout | undefined;
    for (const waiting of plans) {
      const { platformId, plan, account, resolve, reject } = waiting;
      try {
        if (lockTimeout) throw lockTimeout;
        resolve(await this.#commit.alone({ platformId, plan }));
      } catch (error) {
        reject(error);
        if (!(error instanceof LockTimeout) || lockTimeout) continue;
        lockTimeout = error;
        if (account !== undefined) rejectWaiting(lane, (other) => other.account === account, lockTimeout);
      }
    }
  }

  #laneOf(account: string | undefined): Lane<Outcome> {
    const lanes = this.#lanes;
    const isOnAccount = (waiting: Waiting<Outcome>) => waiting.account === account;
    return (
      (account !== undefined &&
        lanes.find(({ inFlight, waiting }) => inFlight.some(isOnAccount) || waiting.some(isOnAccount))) ||
      lanes.find(({ slow, waiting }) => waiting.length < maxPlans && !slow) ||
      lanes.reduce((least, lane) => (lane.waiting.length < least.waiting.length ? lane : least))
    );
  }
}

function rejectWaiting<Outcome>(
  lane: Lane<Outcome>,
  which: (waiting: Waiting<Outcome>) => boolean,
  reason: LockTimeout,
): void {
  const rejected = lane.waiting.filter(which);
  if (rejected.length === 0) return;
  lane.waiting = lane.waiting.filter((waiting) => !which(waiting));
  for (const { reject } of rejected) reject(reason);
}

function accountOf({ journals = [] }: Plan): string | undefined {
  for (const { legs } of journals) for (const leg of legs) if ('account' in leg) return leg.account;
  return undefined;
}
