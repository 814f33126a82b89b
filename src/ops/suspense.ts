import { type Answer, listed } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { formatMajor, requiredCurrency } from '../core/currencies.ts';
import { publicId } from '../core/ids.ts';
import { listSuspense, releaseSuspense, type SuspendedRefund } from '../domain/settlement/suspense.ts';
import { actOf, operatorOf, type Said, type Tools, withDatabase } from './tools.ts';

export function addSuspense(program: Program): void {
  const suspense = program.command('suspense').description('refunds that could not be paid and await an operator');
  suspense.command('list').description('list these refunds, oldest first').action(withDatabase(list));
  actOf(suspense.command('release'))
    .description(
      'pay a refund to the internal account that it is owed to, once you know that the money is back; releasing it twice has no effect',
    )
    .argument('<transaction>', 'the id of the payment: Transaction:…')
    .action(withDatabase(release));
}

async function list({ database }: Tools): Promise<Answer> {
  const rows = (await listSuspense(database)).map((suspended) => ({
    transaction: publicId('Transaction', suspended.transaction.id),
    refund: refundOf(suspended),
    since: suspended.transaction.refundInitiatedAt,
    reference: suspended.transaction.refundReference,
    platform: suspended.platformName,
  }));
  return listed(rows, 'Nothing waits in suspense.');
}

async function release({ database }: Tools, id: string, said: Said): Promise<Answer> {
  const released = await releaseSuspense(database, id, operatorOf('suspense release', said));
  const { suspended, settledAt, kind } = released;
  const account = publicId('InternalAccount', suspended.refundAccountId);
  const refund = refundOf(suspended);
  const onward = suspended.onward?.accountId;
  const passedOnTo = kind === 'paid' && onward ? publicId('InternalAccount', onward) : null;
  return {
    data: { transaction: id, refund, account, passedOnTo, settledAt, paidNow: kind === 'paid' },
    lines: [
      kind === 'paid'
        ? `Paid ${refund} to ${account}${passedOnTo ? `, and on to ${passedOnTo}: the customer is deleted` : ''}.`
        : `Nothing done: ${refund} was already paid to ${account} at ${settledAt.toISOString()}.`,
    ],
  };
}

function refundOf({ transaction }: SuspendedRefund): string {
  return formatMajor(transaction.refundAmount ?? 0n, requiredCurrency(transaction.sentCurrency ?? ''));
}
