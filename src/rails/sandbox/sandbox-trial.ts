import type { RailTrial } from '../conformance/trial.ts';
import { sandboxRail } from './sandbox-rail.ts';

/** The sandbox rail's trial for `npm run rail:conformance`. The rail makes no calls, so there is no provider. */
export const trial: RailTrial = {
  open: async () => sandboxRail(30),
  order: (course) => ({
    amount: 1_000n,
    currency: 'USD',
    account: { type: 'US_ACCOUNT', identifier: course === 'refused' ? '12345003' : '12345678', details: {} },
    umaAddress: undefined,
  }),
};
