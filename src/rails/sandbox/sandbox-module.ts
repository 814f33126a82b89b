import { z } from 'zod';
import type { RailModule } from '../port.ts';
import { checkedSettings } from '../rail-settings.ts';
import { rateOverrides } from './rates.ts';
import { sandboxRail } from './sandbox-rail.ts';

const settingsSchema = z
  .strictObject({
    paceMs: z.int({ error: 'must be a whole number of milliseconds' }).min(0).max(600_000).optional(),
    rates: rateOverrides.optional(),
  })
  .prefault({});

/** Creates the sandbox rail's module. Its settings in RAILS are `paceMs` (by default `usualPaceMs`) and `rates`. */
export function sandboxModule(usualPaceMs: number): RailModule {
  return {
    railPort: 1,
    name: 'sandbox',
    open(given) {
      const { paceMs = usualPaceMs, rates } = checkedSettings(settingsSchema, given);
      return sandboxRail({ paceMs, rates });
    },
  };
}
