import { AsyncLocalStorage } from 'node:async_hooks';

/** The capacity that a request uses while it is processed. */
export interface RequestSlot {
  release(): void;
  /** Takes capacity again. Never refused: a request that has begun is carried out. */
  retake(): void;
  /** Passes the turn to others of its tenant; the request still counts as processed. */
  yieldTurn(): void;
  resumeTurn(): void;
}

const slots = new AsyncLocalStorage<RequestSlot>();

export function withSlot<Result>(slot: RequestSlot, work: () => Result): Result {
  return slots.run(slot, work);
}

/** Waits for others of the same tenant without holding the request's turn: work that need not wait overtakes it. */
export async function turnlessWait<Result>(wait: Promise<Result>): Promise<Result> {
  const slot = slots.getStore();
  slot?.yieldTurn();
  try {
    return await wait;
  } finally {
    slot?.resumeTurn();
  }
}

/** Waits for an external service without holding the request's slot: a slow one keeps nobody from being served. */
export async function outsideWait<Result>(answer: Promise<Result>): Promise<Result> {
  const slot = slots.getStore();
  slot?.release();
  try {
    return await answer;
  } finally {
    slot?.retake();
  }
}
