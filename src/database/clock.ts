import { type Queryable, statement } from './statement.ts';

const clockStatement = statement<{ now: Date; id: string }>('read_clock', 'select clock_ms() as now, uuid_v7() as id');

/**
 * Reads the database's clock, in milliseconds, and makes an id at it (UUIDv7). For what Prisma is to store: it can leave a
 * column to the database's own default, but cannot reckon with that clock.
 */
export async function readClock(on: Queryable): Promise<{ readonly now: Date; readonly id: string }> {
  const [row] = await clockStatement(on);
  if (!row) throw new Error('a clock has a time');
  return row;
}
