import type { Command } from 'commander';
import { publicId } from '../core/ids.ts';
import { closeCases, listCases } from '../payments/settlement/cases.ts';
import { CommandError } from '../print-error.ts';
import { type Answer, tableOf } from './answer.ts';
import { type Tools, withDatabase } from './command-line.ts';
import { nameIn, operatorOf, reasonIn } from './operator.ts';

/** Adds the commands about contradictions of rails. */
export function addCases(program: Command): void {
  const cases = program
    .command('cases')
    .description('what rails have said that contradicts what stands here, and waits for a person');
  cases.command('list').description('list the open ones, the oldest first').action(withDatabase(list));
  cases
    .command('close')
    .description('close those of a payment, when somebody has found out what is true; it moves no money')
    .argument('<transaction>', 'the id of the payment: Transaction:…')
    .requiredOption('--by <name>', 'who has found it out', nameIn)
    .requiredOption('--reason <text>', 'what is true', reasonIn)
    .action(withDatabase(close));
}

async function list({ database }: Tools): Promise<Answer> {
  const rows = (await listCases(database)).map((one) => ({
    transaction: publicId('Transaction', one.transactionId),
    said: one.said,
    stands: one.stands,
    since: one.createdAt,
    times: one.times,
    order: one.orderId,
  }));
  return { data: rows, lines: tableOf(rows, 'No rail contradicts what stands here.') };
}

async function close({ database }: Tools, id: string, options: { by: string; reason: string }): Promise<Answer> {
  const closed = await closeCases(database, id, operatorOf('cases close', options));
  if (closed.kind === 'refused') throw new CommandError(closed.reason);
  return { data: { closed: id }, lines: [`The cases of ${id} are closed.`] };
}
