import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { statement } from '../database/statement.ts';

const followStatement = statement<{ backMs: number | null }>('follow_clock', 'select follow_clock() as back_ms');

/**
 * Compares the database's clock with the latest moment that anybody has seen of it. Where it was set back, the schedules of
 * orders, account checks and webhooks move with it, and a warning says so: it also means that quotes live longer than they
 * were promised to.
 */
export async function followClock(database: Database, log: Logger): Promise<void> {
  const [row] = await followStatement(database.pool);
  if (typeof row?.backMs !== 'number') return;
  log.warn({ backMs: Math.round(row.backMs) }, "the database's clock was set back; what waited was moved with it");
}
