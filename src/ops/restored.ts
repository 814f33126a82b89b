import { type Answer, Failure } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { recordAct } from '../domain/access/operator-acts.ts';
import { connectionName } from '../infra/database/connections/address.ts';
import type { Database } from '../infra/database/database.ts';
import { statement } from '../infra/database/statement.ts';
import { inTransaction } from '../infra/database/transaction.ts';
import { actOf, operatorOf, type Said, type Tools, withDatabase } from './tools.ts';

export function addRestored(program: Program): void {
  actOf(program.command('restored'))
    .description(
      'mark that the database was restored from a backup, before instances start on it: cursors of undone changes are then refused',
    )
    .option('--yes', 'carry it out; without --yes, the command only reports what it would do')
    .action(withDatabase(mark));
}

/** Finds the connected instances by the machine and process at the end of their connections' names (connectionName). */
const instancesStatement = statement<{ names: string | null }>(
  'instances_at_work',
  `select string_agg(distinct client, ', ') as names from (select substring(application_name from '\\S+:\\d+$') as client from pg_stat_activity
   where datname = current_database() and pid <> pg_backend_pid()) as sessions where client <> $1`,
);

async function refuseUnasked(database: Database): Promise<never> {
  const [found] = await instancesStatement(database.pool, connectionName('').split(' ').at(-1) ?? '');
  const running = found?.names ? ` Stop the instances first; these are connected: ${found.names}.` : '';
  throw new Failure(
    `Nothing was done. This command ends the current epoch of all feeds: cursors of changes that the restore has undone are refused from then on. It cannot be reversed.${running} Run it with --yes to do it.`,
  );
}

const markStatement = statement<{ epoch: number }>('mark_restore', 'select mark_restore() as epoch');

async function mark({ database }: Tools, { yes, ...said }: Said & { yes?: true }): Promise<Answer> {
  if (!yes) return refuseUnasked(database);
  const marked = await inTransaction(database, async (act) => {
    const [row] = await markStatement(act.client);
    if (!row) throw new Error('mark_restore returned no row');
    await recordAct(act, operatorOf('restored', said), { platformId: null, after: { epoch: row.epoch } });
    return row;
  });
  const feeds = await database.prisma.feedHead.count();
  return {
    data: { epoch: marked.epoch, feeds },
    lines: [
      `The restore is marked: epoch ${marked.epoch} begins in the feeds of ${feeds} platforms.`,
      'Next, compare with the providers what was paid after the backup: npm run ops -- rails reconcile.',
    ],
  };
}
