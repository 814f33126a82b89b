import type { Command } from 'commander';
import { statement } from '../database/statement.ts';
import type { Answer } from './answer.ts';
import { type Tools, withDatabase } from './command-line.ts';

/** Adds the command that marks a restore of the database. */
export function addRestored(program: Command): void {
  program
    .command('restored')
    .description(
      'mark that the database was restored to an earlier moment, before instances start on it: cursors of what was undone are refused for ever',
    )
    .action(withDatabase(mark));
}

const markStatement = statement<{ epoch: number }>('mark_restore', 'select mark_restore() as epoch');

async function mark({ database }: Tools): Promise<Answer> {
  const [marked] = await markStatement(database.pool);
  if (!marked) throw new Error('mark_restore returned no row');
  const feeds = await database.prisma.feedHead.count();
  return {
    data: { epoch: marked.epoch, feeds },
    lines: [
      `The restore is marked: epoch ${marked.epoch} of the feeds of ${feeds} platforms begins after their present ends.`,
      'Next, compare with the providers what was paid after the moment of the backup: npm run ops -- rails reconcile.',
    ],
  };
}
