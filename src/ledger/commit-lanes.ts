import type pg from 'pg';
import { wasRolledBack } from '../database/faults.ts';
import type { Plan, PlatformPlan } from './plan.ts';

/** A plan was not carried out, as others hold its account, or as too many came before it. It may be tried again. */
export class LockTimeout extends Error {}

/** A plan that waits for its lane, and whom to tell what came of it. */
interface Waiting<Outcome> extends PlatformPlan {
  /** Whose balance it moves, or the first of several. */
  readonly account: string | undefined;
  /** Until when it may be begun, by `performance.now()`. */
  readonly until: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

interface Lane<Outcome> {
  busy: boolean;
  /** Its present transaction has taken so long that who can do without it had better not wait for it. */
  slow: boolean;
  underWay: readonly Waiting<Outcome>[];
  waiting: Waiting<Outcome>[];
}

/** How plans are carried out: all in one transaction, and one in a transaction of its own, which may throw `HeldUp`. */
interface Commit<Outcome> {
  together(plans: readonly PlatformPlan[]): Promise<readonly Outcome[]>;
  alone(plan: PlatformPlan): Promise<Outcome>;
}

/** How many plans one transaction carries at most: the first of them waits for the last. */
const together = 16;
/** One in so many of the pool's connections commits; the others are for reading. */
const share = 3;
/** A transaction that takes longer than this probably waits for somebody else's locks. */
const slowMs = 50;

/**
 * Lets plans that come while others are being committed wait for each other and go together, in one statement and one
 * durable transaction: what a transaction and its statements cost beside their rows is paid once, and payments of one busy
 * account do not wait for a commit each. A plan that finds all lanes empty goes at once, alone. The next lane is used only
 * when the one before has as much waiting as one transaction carries, or is held up: few full transactions cost less than
 * many small ones. Plans on the same account share a lane, so that transactions of this process do not wait for each
 * other's balances. A plan that has waited as long as one waits for a connection is not begun any more: whoever asked for
 * it will soon be told that nobody knows.
 */
export class CommitLanes<Outcome> {
  readonly #lanes: readonly Lane<Outcome>[];
  readonly #patienceMs: number;
  readonly #commit: Commit<Outcome>;

  constructor({ options }: pg.Pool, commit: Commit<Outcome>) {
    const lanes = Math.max(1, Math.floor(options.max / share));
    this.#lanes = Array.from({ length: lanes }, () => ({ busy: false, slow: false, underWay: [], waiting: [] }));
    this.#patienceMs = options.connectionTimeoutMillis ?? Number.POSITIVE_INFINITY;
    this.#commit = commit;
  }

  add(platformId: string, plan: Plan): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const until = performance.now() + this.#patienceMs;
      this.#enter({ platformId, plan, account: accountOf(plan), until, resolve, reject });
    });
  }

  #enter(waiting: Waiting<Outcome>): void {
    const lane = this.#laneOf(waiting.account);
    lane.waiting.push(waiting);
    if (lane.busy) return;
    lane.busy = true;
    // What comes in one go is carried out in one go.
    queueMicrotask(() => this.#drive(lane));
  }

  async #drive(lane: Lane<Outcome>): Promise<void> {
    while (lane.waiting.length > 0) {
      const now = performance.now();
      lane.slow = false;
      giveUp(lane, ({ until }) => until < now, new LockTimeout('too many plans came before it'));
      lane.underWay = lane.waiting.splice(0, together);
      if (lane.underWay.length === 0) break;
      const timer = setTimeout(() => this.#relieve(lane), slowMs);
      await this.#commitAll(lane, lane.underWay);
      clearTimeout(timer);
    }
    lane.busy = false;
    lane.slow = false;
    lane.underWay = [];
    // Here is room for those that found every lane slow.
    for (const other of this.#lanes) if (other.slow) this.#relieve(other);
  }

  /** Lets those go elsewhere that wait behind a slow transaction, and are on none of its accounts. */
  #relieve(lane: Lane<Outcome>): void {
    lane.slow = true;
    const busy = new Set(lane.underWay.map(({ account }) => account));
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
    // Each alone now: what one of them ran into is its own, and that of others on its account.
    const accounts = Map.groupBy(plans, (waiting) => waiting.account ?? waiting);
    await Promise.all(Array.from(accounts.values(), (ofAccount) => this.#commitEach(lane, ofAccount)));
  }

  /** Plans of one account, one after another. When it is held up, so are those that wait for it behind them. */
  async #commitEach(lane: Lane<Outcome>, plans: readonly Waiting<Outcome>[]): Promise<void> {
    let lockTimeout: LockTimeout | undefined;
    for (const { platformId, plan, account, resolve, reject } of plans) {
      try {
        if (lockTimeout) throw lockTimeout;
        resolve(await this.#commit.alone({ platformId, plan }));
      } catch (error) {
        reject(error);
        if (!(error instanceof LockTimeout) || lockTimeout) continue;
        lockTimeout = error;
        if (account !== undefined) giveUp(lane, (waiting) => waiting.account === account, lockTimeout);
      }
    }
  }

  #laneOf(account: string | undefined): Lane<Outcome> {
    const lanes = this.#lanes;
    const isOnAccount = (waiting: Waiting<Outcome>) => waiting.account === account;
    return (
      (account !== undefined &&
        lanes.find(({ underWay, waiting }) => underWay.some(isOnAccount) || waiting.some(isOnAccount))) ||
      lanes.find(({ slow, waiting }) => waiting.length < together && !slow) ||
      lanes.reduce((least, lane) => (lane.waiting.length < least.waiting.length ? lane : least))
    );
  }
}

/** Takes those that match out of the lane and tells them why. */
function giveUp<Outcome>(
  lane: Lane<Outcome>,
  which: (waiting: Waiting<Outcome>) => boolean,
  reason: LockTimeout,
): void {
  const gone = lane.waiting.filter(which);
  if (gone.length === 0) return;
  lane.waiting = lane.waiting.filter((waiting) => !which(waiting));
  for (const { reject } of gone) reject(reason);
}

/** The account whose balance a plan moves, or the first of several. */
function accountOf({ journals = [] }: Plan): string | undefined {
  for (const { legs } of journals) for (const leg of legs) if ('account' in leg) return leg.account;
  return undefined;
}
