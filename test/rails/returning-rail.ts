import type { RailModule } from '../../src/rails/port.ts';
import { sandboxRates } from '../../src/rails/sandbox/rates.ts';
import { sandboxRail } from '../../src/rails/sandbox/sandbox-rail.ts';

/** The amount of a payment that its bank returns after its delivery. */
export const returnedAmount = 777n;

/** A sandbox whose banks return payments of one amount. */
const module: RailModule = {
  railPort: 1,
  name: 'returning',
  open() {
    const sandbox = sandboxRail({ paceMs: 5, rates: sandboxRates() });
    return {
      ...sandbox,
      payOut: async (order) => {
        if (order.amount !== returnedAmount) return sandbox.payOut(order);
        return order.settled
          ? { kind: 'returned', explanation: 'returned by the bank' }
          : { kind: 'settled', watchMs: 10 };
      },
    };
  },
};
export default module;
