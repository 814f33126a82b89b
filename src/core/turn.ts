import { type RequestSlot, turnlessWait, withSlot } from './outside-wait.ts';

/** The turn of one piece of work among all the work of its platform. */
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

/** Runs expensive work when it may begin. Until then, other requests of the platform get this request's turn. */
export async function inExpensiveTurn<Result>(turns: ExpensiveTurns, platformId: string, work: () => Promise<Result>) {
  const wait = turns.beginExpensive(platformId);
  if (wait) await turnlessWait(wait);
  try {
    return await work();
  } finally {
    turns.endExpensive(platformId);
  }
}

/** Runs work in a turn, and ends the turn after it. */
export async function inTurn<Result>(turn: WorkTurn, work: () => Promise<Result>): Promise<Result> {
  try {
    return await withSlot(turn, work);
  } finally {
    turn.end();
  }
}
