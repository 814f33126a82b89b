import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { sqlState } from '../database/faults.ts';
import { statement } from '../database/statement.ts';

const makeStatement = statement<{ name: string | null }>('make_partition', 'select make_partition() as name');
const dropStatement = statement<{ name: string | null }>('drop_partition', 'select drop_partition() as name');

/**
 * Makes the next partition of each table that is partitioned by time, and drops or archives those past their retention (decision
 * 89), one a transaction. Any number of processes may do it at once: one works.
 * @returns whether all is done; false where other transactions have held the locks too long: then it is to be tried again
 */
export async function keepPartitions({ pool }: Pick<Database, 'pool'>, log: Logger): Promise<boolean> {
  const steps = [
    { run: makeStatement, done: () => 'made a partition' },
    // Where it is now, if it was left for an operator.
    {
      run: dropStatement,
      done: (name: string) => `${name.startsWith('archive.') ? 'archived' : 'dropped'} a partition`,
    },
  ];
  for (const { run, done } of steps) {
    try {
      for (;;) {
        const [row] = await run(pool);
        if (!row?.name) break;
        log.info({ partition: row.name }, done(row.name));
      }
    } catch (error) {
      if (sqlState(error) !== '55P03') throw error;
      log.info('other transactions hold the table of a partition; trying again later');
      return false;
    }
  }
  return true;
}
