import { z } from 'zod';
import type { RailModule } from '../port.ts';
import { parseRateOverrides, sandboxRates } from './rates.ts';
import { type SandboxRailOptions, sandboxRail } from './sandbox-rail.ts';

const settingsSchema = z
  .strictObject({
    paceMs: z.int({ error: 'must be a whole number of milliseconds' }).min(0).max(600_000).optional(),
    rates: z.record(z.string(), z.unknown(), { error: 'must be an object of pairs such as "USD/EUR"' }).optional(),
  })
  .optional();

/**
 * Makes the module of the sandbox rail. Its settings in RAILS are `paceMs` and `rates`, which mean what SANDBOX_PACE_MS and
 * SANDBOX_RATES mean.
 * @param defaults for what they leave out
 */
export function sandboxModule(defaults: SandboxRailOptions): RailModule {
  return {
    railPort: 1,
    name: 'sandbox',
    open(given) {
      const settings = settingsSchema.safeParse(given);
      if (!settings.success) {
        throw new RangeError(settings.error.issues.map(({ path, message }) => [...path, message].join(' ')).join('; '));
      }
      const { paceMs = defaults.paceMs, rates } = settings.data ?? {};
      return sandboxRail({
        paceMs,
        rates: rates === undefined ? defaults.rates : sandboxRates(parseRateOverrides(JSON.stringify(rates))),
      });
    },
  };
}
