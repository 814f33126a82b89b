import type pg from 'pg';
import type { Plan, PlatformPlan } from './plan.ts';

/** A plan that waits for its lane, and whom to tell what came of it. */
interface Waiting<Outcome> extends PlatformPlan {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

interface Lane<Outcome> {
  busy: boolean;
  waiting: Waiting<Outcome>[];
}

/** Carries out plans together and answers what came of each. Throws when that cannot be known. */
type Commit<Outcome> = (plans: readonly PlatformPlan[]) => Promise<readonly PromiseSettledResult<Outcome>[]>;

/** How many plans one transaction carries at most: the first of them waits for the last. */
const together = 16;
/** One in so many of the pool's connections commits; the others are for reading. */
const share = 3;

/**
 * Lets plans that come while others are being committed wait for each other and go together, in one statement and one
 * durable transaction: what a transaction costs beside its plans is paid once, and payments of one busy account do not
 * wait for a commit each. A plan that finds its lane empty goes at once, alone. Plans on the same account share a lane,
 * so that transactions of this process do not wait for each other's balances.
 */
export class CommitLanes<Outcome> {
  readonly #lanes: readonly Lane<Outcome>[];
  readonly #commit: Commit<Outcome>;

  constructor(pool: pg.Pool, commit: Commit<Outcome>) {
    const lanes = Math.max(1, Math.floor(pool.options.max / share));
    this.#lanes = Array.from({ length: lanes }, () => ({ busy: false, waiting: [] }));
    this.#commit = commit;
  }

  add(platformId: string, plan: Plan): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const lane = this.#laneOf(plan);
      lane.waiting.push({ platformId, plan, resolve, reject });
      if (!lane.busy) this.#drive(lane);
    });
  }

  async #drive(lane: Lane<Outcome>): Promise<void> {
    lane.busy = true;
    while (lane.waiting.length > 0) await this.#commitTogether(inOneOrder(lane.waiting.splice(0, together)));
    lane.busy = false;
  }

  async #commitTogether(plans: readonly Waiting<Outcome>[]): Promise<void> {
    try {
      const results = await this.#commit(plans);
      for (const [position, { resolve, reject }] of plans.entries()) {
        const result = results[position];
        if (result?.status === 'fulfilled') resolve(result.value);
        else reject(result?.reason);
      }
    } catch (error) {
      for (const { reject } of plans) reject(error);
    }
  }

  #laneOf(plan: Plan): Lane<Outcome> {
    const account = accountOf(plan);
    const lanes = this.#lanes;
    const chosen =
      account === undefined
        ? lanes.toSorted((a, b) => Number(a.busy) - Number(b.busy) || a.waiting.length - b.waiting.length)[0]
        : // The end of an id is random.
          lanes[Number.parseInt(account.slice(-6), 16) % lanes.length];
    if (!chosen) throw new Error('there is always a lane');
    return chosen;
  }
}

/** The account whose balance a plan moves, or the first of several. */
function accountOf({ journals = [], insert = {} }: Plan): string | undefined {
  for (const { legs } of journals) for (const leg of legs) if ('account' in leg) return leg.account;
  return insert.hold?.[0]?.accountId;
}

/** By account, so that transactions of several processes lock what they have in common in one order; else as they came. */
function inOneOrder<Outcome>(plans: readonly Waiting<Outcome>[]): Waiting<Outcome>[] {
  return plans
    .map((waiting) => ({ waiting, account: accountOf(waiting.plan) ?? '' }))
    .sort((a, b) => (a.account < b.account ? -1 : a.account > b.account ? 1 : 0))
    .map(({ waiting }) => waiting);
}
