import type { Command } from 'commander';
import { formatMajor, requiredCurrency } from '../core/currencies.ts';
import { publicId } from '../core/ids.ts';
import type { RailCase } from '../database/generated/client/client.ts';
import { closeCases, listCases } from '../payments/settlement/cases.ts';
import { type BookedDifference, settleCase } from '../payments/settlement/settle-case.ts';
import { CommandError } from '../print-error.ts';
import { type Answer, tableOf } from './answer.ts';
import { type Tools, withDatabase } from './command-line.ts';
import { nameIn, operatorOf, reasonIn } from './operator.ts';

/** Adds the commands about contradictions of rails. */
export function addCases(program: Command): void {
  const cases = program
    .command('cases')
    .description('what rails have said that contradicts what stands here, and waits for a person');
  cases
    .command('list')
    .description('list the open ones, the oldest first')
    .option('--all', 'also those that are closed')
    .action(withDatabase(list));
  cases
    .command('settle')
    .description(
      'settle a payment as it was promised, though its provider has moved another amount: the rail is asked once more, and the difference is booked on DIFFERENCES',
    )
    .argument('<transaction>', 'the id of the payment: Transaction:…')
    .requiredOption('--by <name>', 'who decided it', nameIn)
    .requiredOption('--reason <text>', 'why the provider has moved another amount', reasonIn)
    .action(withDatabase(settle));
  cases
    .command('close')
    .description('close those of a payment, when somebody has found out what is true; it moves no money')
    .argument('<transaction>', 'the id of the payment: Transaction:…')
    .requiredOption('--by <name>', 'who has found it out', nameIn)
    .requiredOption('--reason <text>', 'what is true', reasonIn)
    .action(withDatabase(close));
}

async function list({ database }: Tools, { all = false }: { readonly all?: boolean }): Promise<Answer> {
  const rows = (await listCases(database, { all })).map((one) => ({
    transaction: publicId('Transaction', one.transactionId),
    said: one.said,
    stands: one.stands,
    since: one.createdAt,
    times: one.times,
    order: one.orderId,
    ...(all && { closedAt: one.closedAt, closedBy: one.closedBy, reason: one.closedReason, ends: endOf(one) }),
  }));
  return {
    data: rows,
    lines: tableOf(rows, all ? 'No rail has contradicted what stood here.' : 'No rail contradicts what stands here.'),
  };
}

/** How a case has ended: null where it is open. */
function endOf({ closedAt, movedOut, movedIn }: Pick<RailCase, 'closedAt' | 'movedOut' | 'movedIn'>) {
  if (movedOut !== null || movedIn !== null) return 'settled';
  return closedAt && 'closed';
}

async function settle({ payments }: Tools, id: string, said: { by: string; reason: string }): Promise<Answer> {
  const done = await settleCase(payments, id, { ...operatorOf('cases settle', said), reason: said.reason });
  if (done.kind === 'refused') throw new CommandError(done.reason);
  const words = ({ amount, currency }: BookedDifference) => formatMajor(amount, requiredCurrency(currency));
  const differences = done.differences.map(words);
  const end = done.isPull ? `The pull of ${id} has settled, and its payout follows.` : `${id} is COMPLETED.`;
  const answer = `The rail said: ${done.said}. It stood: ${done.stands}.`;
  return {
    data: {
      transaction: id,
      order: done.orderId,
      ...{ said: done.said, stands: done.stands, differences },
      short: done.short ? words(done.short) : null,
    },
    lines: [
      `${end} ${answer}`,
      differences.length > 0 ? `Booked on DIFFERENCES: ${differences.join(', ')}.` : 'Nothing to book on DIFFERENCES.',
      ...(done.short
        ? [`Its receiver has got ${words(done.short)} too little: have it sent, or credit the payer by adjust propose.`]
        : []),
    ],
  };
}

async function close({ database }: Tools, id: string, options: { by: string; reason: string }): Promise<Answer> {
  const closed = await closeCases(database, id, operatorOf('cases close', options));
  if (closed.kind === 'refused') throw new CommandError(closed.reason);
  return { data: { closed: id }, lines: [`The cases of ${id} are closed.`] };
}
