import { AsyncLocalStorage } from 'node:async_hooks';

/** The capacity that a request occupies while it is processed. */
export interface RequestSlot {
  release(): void;
  /** Takes the capacity back. This never fails, because a request that has begun always completes. */
  retake(): void;
  /** Passes the turn to other requests of its tenant; this request still counts as being processed. */
  yieldTurn(): void;
  resumeTurn(): void;
}

const slots = new AsyncLocalStorage<RequestSlot>();

/** Runs work in its request's slot, which `outsideWait` releases while it waits. */
export function withSlot<Result>(slot: RequestSlot, work: () => Result): Result {
  return slots.run(slot, work);
}

/** Waits for an external service without holding the request's slot, so a slow service blocks no requests. */
export async function outsideWait<Result>(answer: Promise<Result>): Promise<Result> {
  const slot = slots.getStore();
  slot?.release();
  return answer.finally(() => slot?.retake());
}

export interface WorkTurn extends RequestSlot {
  /** Passes the turn on. Further calls do nothing. */
  end(): void;
}

/** Waits for the platform's turn (src/api/http/turns.ts). `end` must follow. */
export type TakeTurn = (platformId: string) => Promise<WorkTurn>;

/** Limits the expensive work of one platform while other platforms send requests, too (src/api/http/turns.ts). */
export interface ExpensiveTurns {
  beginExpensive(platformId: string): Promise<void> | undefined;
  endExpensive(platformId: string): void;
}

/** Runs expensive work once it may begin. Until then, the platform's other requests get this request's turn. */
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

export async function inTurn<Result>(turn: WorkTurn, work: () => Promise<Result>): Promise<Result> {
  try {
    return await withSlot(turn, work);
  } finally {
    turn.end();
  }
}
