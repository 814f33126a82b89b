import { readClock } from '../../../infra/database/clock.ts';
import type { Context } from '../context.ts';

/** Describes the field that tells the service's clock, for every type whose fields may count down. */
export const serverTime = {
  type: 'DateTime',
  extensions: { costs: 'read' },
  description:
    "The service's clock, which decides what has expired: a countdown counts from it, not from the device's.",
  resolve: async (_parent: unknown, _args: object, { payments }: Context) =>
    (await readClock(payments.database.pool)).now,
} as const;
