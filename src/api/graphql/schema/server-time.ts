import { readClock } from '../../../infra/database/transaction.ts';
import type { Context } from '../context.ts';

/** Describes the field that tells the service's clock, for every type whose fields may count down. */
export const serverTime = {
  type: 'DateTime',
  extensions: { costs: 'read' },
  description:
    'The current time of the service, whose clock decides what has expired. Base countdowns on it rather than on the clock of the device.',
  resolve: async (_parent: unknown, _args: object, { payments }: Context) =>
    (await readClock(payments.database.pool)).now,
} as const;
