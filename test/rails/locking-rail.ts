import type { LockAnswer, LockRequest, RailModule } from '../../src/rails/port.ts';
import { sandboxRail } from '../../src/rails/sandbox/sandbox-rail.ts';

/** The amount whose lock delivers nothing. */
export const wrongAmount = 5_000n;
/** The amount whose lock expires almost immediately. */
export const briefAmount = 7_000n;

function lockOf({ id, amount }: LockRequest): LockAnswer {
  const received = amount === wrongAmount ? 0n : amount / 2n;
  const lock = { reference: `lock ${id}`, sent: amount, received, rate: '2', fees: 0n };
  return { kind: 'locked', lock, validMs: amount === briefAmount ? 50 : 60_000 };
}

/** A sandbox that locks rates of 2:1. */
const module: RailModule = {
  railPort: 1,
  name: 'locking',
  open: () => ({
    ...sandboxRail(5),
    lockRate: async (request) => lockOf(request),
    payOut: async ({ lock }) =>
      lock ? { kind: 'settled', amount: lock.received, sent: lock.sent } : { kind: 'settled' },
  }),
};
export default module;
