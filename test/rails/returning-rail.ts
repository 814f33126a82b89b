import { z } from 'zod';
import type { RailModule, RailOrder, RailOutcome } from '../../src/rails/port.ts';
import { sandboxRail } from '../../src/rails/sandbox/sandbox-rail.ts';

/** The amount of a payment that the bank returns after delivery. */
export const returnedAmount = 777n;
/** The amount of a payment that stays in flight for a second. */
export const slowAmount = 4_321n;
const slowMs = 1_000;

const settingsSchema = z.object({ returnMs: z.int().default(3_600_000) }).prefault({});

/** A sandbox whose banks return payments of one amount (by default after an hour) and delay payments of another. */
const module: RailModule = {
  railPort: 1,
  name: 'returning',
  open(settings) {
    const { returnMs: watchMs } = settingsSchema.parse(settings);
    const sandbox = sandboxRail(5);
    const slow = async ({ ageMs }: RailOrder): Promise<RailOutcome> =>
      ageMs < slowMs ? { kind: 'pending', checkInMs: slowMs - ageMs } : { kind: 'settled' };
    return {
      ...sandbox,
      collect: (order) => (order.amount === slowAmount ? slow(order) : sandbox.collect(order)),
      payOut: async (order) => {
        if (order.amount === slowAmount) return slow(order);
        if (order.amount !== returnedAmount) return sandbox.payOut(order);
        return order.settled ? { kind: 'returned', explanation: 'returned by the bank' } : { kind: 'settled', watchMs };
      },
    };
  },
};
export default module;
