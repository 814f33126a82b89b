import { AsyncLocalStorage } from 'node:async_hooks';

/** The capacity that a piece of work occupies until it ends, except while it waits for external services. */
export abstract class WorkSlot {
  #waits = 0;
  #hasEnded = false;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Frees the capacity. */
  protected abstract vacate(): void;
  /** Takes the capacity back. This never fails or waits, because work that has begun always completes. */
  protected abstract occupy(): void;

  /** Begins a wait for an external service. Waits may overlap. */
  release(): void {
    this.#waits += 1;
    if (this.#waits === 1 && !this.#hasEnded) this.vacate();
  }

  retake(): void {
    this.#waits -= 1;
    if (this.#waits === 0 && !this.#hasEnded) this.occupy();
  }

  /** Passes the turn to the tenant's other work. A request that does so still counts as being processed. */
  yieldTurn(): void {
    this.release();
  }

  resumeTurn(): void {
    this.retake();
  }

  /** Frees the capacity for good. Further calls do nothing. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#waits === 0) this.vacate();
  }
}

const slots = new AsyncLocalStorage<WorkSlot>();

/** Runs work in its slot, which `outsideWait` releases while it waits. */
export function withSlot<Result>(slot: WorkSlot, work: () => Result): Result {
  return slots.run(slot, work);
}

/** Waits for an external service. The work's slot is free in the meantime, so slow services do not block requests. */
export async function outsideWait<Result>(answer: Promise<Result>): Promise<Result> {
  const slot = slots.getStore();
  slot?.release();
  return answer.finally(() => slot?.retake());
}

/** Waits for the platform's turn (src/api/http/turns.ts). The caller must call the slot's `end` when done. */
export type TakeTurn = (platformId: string) => Promise<WorkSlot>;

/** Limits a platform's expensive work while other platforms are also sending requests (src/api/http/turns.ts). */
export interface ExpensiveTurns {
  beginExpensive(platformId: string): Promise<void> | undefined;
  endExpensive(platformId: string): void;
}

/** Runs expensive work once it may begin. Until then, this request's turn goes to the platform's other requests. */
export async function inExpensiveTurn<Result>(turns: ExpensiveTurns, platformId: string, work: () => Promise<Result>) {
  const wait = turns.beginExpensive(platformId);
  if (wait) {
    const slot = slots.getStore();
    slot?.yieldTurn();
    await wait.finally(() => slot?.resumeTurn());
  }
  try {
    return await work();
  } finally {
    turns.endExpensive(platformId);
  }
}

export async function inTurn<Result>(turn: WorkSlot, work: () => Promise<Result>): Promise<Result> {
  try {
    return await withSlot(turn, work);
  } finally {
    turn.end();
  }
}
