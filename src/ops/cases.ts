import { type Answer, listed } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { formatMajor, requiredCurrency } from '../core/currencies.ts';
import { publicId } from '../core/ids.ts';
import type { Money } from '../domain/ledger/plan.ts';
import { closeCases, listCases, settleCase } from '../domain/settlement/cases.ts';
import type { RailCase } from '../infra/database/generated/client/client.ts';
import { type Decided, decisionOf, operatorOf, type Tools, withDatabase } from './tools.ts';

export function addCases(program: Program): void {
  const cases = program
    .command('cases')
    .description('reports of rails that contradict the ledger and await an operator');
  cases
    .command('list')
    .description('list the open cases, oldest first')
    .option('--all', 'include closed cases')
    .action(withDatabase(list));
  decisionOf(cases.command('settle'), 'why the provider has moved a different amount')
    .description(
      'settle a payment as promised although its provider has moved a different amount: queries the rail once more, and books the difference to DIFFERENCES',
    )
    .argument('<transaction>', 'the id of the payment: Transaction:…')
    .action(withDatabase(settle));
  decisionOf(cases.command('close'), 'what the investigation has found')
    .description('close the cases of a payment after an investigation; moves no money')
    .argument('<transaction>', 'the id of the payment: Transaction:…')
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
  return listed(rows, all ? 'There are no cases.' : 'There are no open cases.');
}

function endOf({ closedAt, movedOut, movedIn }: Pick<RailCase, 'closedAt' | 'movedOut' | 'movedIn'>) {
  if (movedOut !== null || movedIn !== null) return 'settled';
  return closedAt && 'closed';
}

async function settle({ payments }: Tools, id: string, said: Decided): Promise<Answer> {
  const done = await settleCase(payments, id, operatorOf('cases settle', said));
  const words = ({ amount, currency }: Money) => formatMajor(amount, requiredCurrency(currency));
  const differences = done.differences.map(words);
  const end = done.isPull ? `The pull of ${id} has settled, and its payout follows.` : `${id} is COMPLETED.`;
  const answer = `The rail reported: ${done.said}. On record: ${done.stands}.`;
  return {
    data: {
      transaction: id,
      order: done.orderId,
      ...{ said: done.said, stands: done.stands, differences },
      short: done.short ? words(done.short) : null,
    },
    lines: [
      `${end} ${answer}`,
      differences.length > 0 ? `Booked to DIFFERENCES: ${differences.join(', ')}.` : 'Nothing to book to DIFFERENCES.',
      ...(done.short
        ? [
            `The receiver got ${words(done.short)} too little: have the provider send the rest, or credit the payer with adjust propose.`,
          ]
        : []),
    ],
  };
}

async function close({ database }: Tools, id: string, said: Decided): Promise<Answer> {
  await closeCases(database, id, operatorOf('cases close', said));
  return { data: { closed: id }, lines: [`The cases of ${id} are closed.`] };
}
