import { type RequestSlot, withSlot } from './outside-wait.ts';

/** The turn of one piece of work among all that its platform asks for. */
export interface WorkTurn extends RequestSlot {
  /** Lets the next one have its turn. Further calls do nothing. */
  end(): void;
}

/** Waits for a turn of a platform (http/turns.ts). `end` must follow. */
export type TakeTurn = (platformId: string) => Promise<WorkTurn>;

/** Does work in its turn, and ends the turn. */
export async function inTurn<Result>(turn: WorkTurn, work: () => Promise<Result>): Promise<Result> {
  try {
    return await withSlot(turn, work);
  } finally {
    turn.end();
  }
}
