import { AsyncLocalStorage } from 'node:async_hooks';

/** The capacity that a request uses while it is processed. */
export interface RequestSlot {
  /** Gives the capacity to others: the request waits. */
  release(): void;
  /** Uses capacity again. Never refused: a request that has begun is carried out. */
  retake(): void;
}

const slots = new AsyncLocalStorage<RequestSlot>();

/** Does the work of a request that uses a slot. */
export function withSlot<Result>(slot: RequestSlot, work: () => Result): Result {
  return slots.run(slot, work);
}

/**
 * Waits for the world outside (a rail, the receiver of a webhook) without the slot of the request: whoever keeps us waiting
 * keeps nobody else from being served.
 */
export async function outsideWait<Result>(answer: Promise<Result>): Promise<Result> {
  const slot = slots.getStore();
  slot?.release();
  try {
    return await answer;
  } finally {
    slot?.retake();
  }
}
