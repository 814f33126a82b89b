import type { LockAnswer, LockRequest, RailModule, RateLock } from '../../src/rails/port.ts';
import { sandboxRail } from '../../src/rails/sandbox/sandbox-rail.ts';

/** The ways in which the provider's locks can be wrong. The amount to lock determines which of these a quote gets. */
export const wrongLocks: Readonly<Record<string, { readonly lock?: Partial<RateLock>; readonly validMs?: number }>> = {
  'more than requested': { lock: { sent: 5_001n } },
  'nothing to deliver': { lock: { received: 0n } },
  'fees of all that is sent': { lock: { fees: 5_003n } },
  'a negative fee': { lock: { fees: -1n } },
  'a rate that is not a number': { lock: { rate: 'two' } },
  'no reference': { lock: { reference: '' } },
  'no time': { validMs: 0 },
  'a duration that is not a number': { validMs: Number.NaN },
};

/** Returns the amount that gets this kind of wrong lock. */
export const wrongAmount = (name: string) => 5_000n + BigInt(Object.keys(wrongLocks).indexOf(name));

/** The amount whose lock expires almost immediately. */
export const briefAmount = 7_000n;

function lockOf({ id, amount }: LockRequest): LockAnswer {
  const sound = { reference: `lock ${id}`, sent: amount, received: amount / 2n, rate: '2', fees: 0n };
  const wrong = Object.entries(wrongLocks).find(([name]) => wrongAmount(name) === amount)?.[1];
  return {
    kind: 'locked',
    lock: { ...sound, ...wrong?.lock },
    validMs: wrong?.validMs ?? (amount === briefAmount ? 50 : 60_000),
  };
}

/** A sandbox that locks rates of 2:1, or grants wrong locks. */
const module: RailModule = {
  railPort: 1,
  name: 'locking',
  open: () => ({
    ...sandboxRail({ paceMs: 5 }),
    lockRate: async (request) => lockOf(request),
    payOut: async ({ lock }) =>
      lock ? { kind: 'settled', amount: lock.received, sent: lock.sent } : { kind: 'settled' },
  }),
};
export default module;
