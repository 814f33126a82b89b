import type { Logger } from 'pino';
import type { Database } from '../../infra/database/database.ts';
import { statement } from '../../infra/database/statement.ts';

const followStatement = statement<{ backMs: number | null }>('follow_clock', 'select follow_clock() as back_ms');

/**
 * Compares the database's clock with the latest time that any process has seen. When the clock was set back, moves the
 * schedules of orders, account checks and webhooks with it and logs a warning: quotes then also live longer than promised.
 */
export async function followClock(database: Database, log: Logger): Promise<void> {
  const [row] = await followStatement(database.pool);
  if (typeof row?.backMs !== 'number') return;
  log.warn({ backMs: Math.round(row.backMs) }, "the database's clock was set back; due times were moved accordingly");
}
