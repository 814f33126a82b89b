import type { Answer } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { recordAct } from '../domain/access/operator-acts.ts';
import { statement } from '../infra/database/statement.ts';
import { inTransaction } from '../infra/database/transaction.ts';
import { actOf, operatorOf, type Said } from './operator.ts';
import { type Tools, withDatabase } from './tools.ts';

/** Adds the command that marks a restore of the database. */
export function addRestored(program: Program): void {
  actOf(program.command('restored'))
    .description(
      'mark that the database was restored to an earlier moment, before instances start on it: cursors of what was undone are refused for ever',
    )
    .action(withDatabase(mark));
}

const markStatement = statement<{ epoch: number }>('mark_restore', 'select mark_restore() as epoch');

async function mark({ database }: Tools, said: Said): Promise<Answer> {
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
      `The restore is marked: epoch ${marked.epoch} of the feeds of ${feeds} platforms begins after their present ends.`,
      'Next, compare with the providers what was paid after the moment of the backup: npm run ops -- rails reconcile.',
    ],
  };
}
