import { type Queryable, statement } from './statement.ts';

const clockStatement = statement<{ now: Date; id: string }>('read_clock', 'select clock_ms() as now, uuid_v7() as id');

/**
 * Reads the database's clock (milliseconds), and makes an id of that moment: Prisma cannot calculate with that clock.
 */
export async function readClock(on: Queryable): Promise<{ readonly now: Date; readonly id: string }> {
  const [row] = await clockStatement(on);
  if (!row) throw new Error('read_clock returned no row');
  return row;
}
