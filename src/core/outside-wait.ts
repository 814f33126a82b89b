import { AsyncLocalStorage } from 'node:async_hooks';

/** The capacity that a request occupies while it is processed. */
export interface RequestSlot {
  release(): void;
  /** Takes the capacity again. This never fails, since a request that has begun is carried out. */
  retake(): void;
  /** Passes the turn to other requests of its tenant; this request still counts as being processed. */
  yieldTurn(): void;
  resumeTurn(): void;
}

const slots = new AsyncLocalStorage<RequestSlot>();

/** Runs work in the slot of its request, which `outsideWait` releases while it waits. */
export function withSlot<Result>(slot: RequestSlot, work: () => Result): Result {
  return slots.run(slot, work);
}

/**
 * Waits for other work of the same tenant without holding the request's turn, so that work that need not wait goes
 * first.
 */
export async function turnlessWait<Result>(wait: Promise<Result>): Promise<Result> {
  const slot = slots.getStore();
  slot?.yieldTurn();
  try {
    return await wait;
  } finally {
    slot?.resumeTurn();
  }
}

/** Waits for an external service without holding the request's slot, so a slow service blocks no requests. */
export async function outsideWait<Result>(answer: Promise<Result>): Promise<Result> {
  const slot = slots.getStore();
  slot?.release();
  try {
    return await answer;
  } finally {
    slot?.retake();
  }
}
