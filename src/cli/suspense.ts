import { currencyOf, formatDecimal } from '../core/currencies.ts';
import { publicId } from '../core/ids.ts';
import type { Database } from '../database/database.ts';
import { listSuspense, releaseSuspense, type SuspendedRefund } from '../payments/settlement/suspense.ts';
import { runOnDatabase } from './command-line.ts';

const usage = `Usage: npm run suspense -- list
       npm run suspense -- release TRANSACTION_ID

Refunds that could not be paid wait in SUSPENSE. list shows them, the oldest first. release pays one to the internal account
that it is owed to, once the money is known to be back; a second release of the same does nothing.`;

// `npm run suspense` lists the refunds in suspense, or releases one; it exits with 1 when that one is not in suspense.
const [action, transactionId, ...rest] = process.argv.slice(2);

if (action === 'list' && transactionId === undefined) await runOnDatabase(list);
else if (action === 'release' && transactionId !== undefined && rest.length === 0) {
  await runOnDatabase((database) => release(database, transactionId));
} else {
  console.error(usage);
  process.exitCode = 2;
}

async function list(database: Database): Promise<number> {
  const waiting = await listSuspense(database);
  for (const suspended of waiting) {
    const { transaction, platformName } = suspended;
    console.log(
      `${publicId('Transaction', transaction.id)}  ${refundOf(suspended)}  since ${transaction.refundInitiatedAt?.toISOString()}  ${transaction.refundReference}  platform ${platformName}`,
    );
  }
  if (waiting.length === 0) console.log('Nothing waits in suspense.');
  return 0;
}

async function release(database: Database, id: string): Promise<number> {
  const release = await releaseSuspense(database, id);
  if (release.kind === 'refused') {
    console.error(release.reason);
    return 1;
  }
  const { suspended, settledAt } = release;
  const account = publicId('InternalAccount', suspended.refundAccountId);
  console.log(
    release.kind === 'paid'
      ? `Paid ${refundOf(suspended)} to ${account}.`
      : `Nothing done: ${refundOf(suspended)} were paid to ${account} at ${settledAt.toISOString()}.`,
  );
  return 0;
}

/** Formats the amount of a refund in major units of the currency that was sent. */
function refundOf({ transaction }: SuspendedRefund): string {
  const currency = currencyOf(transaction.sentCurrency ?? '');
  if (!currency) throw new Error(`transaction ${transaction.id} was sent in an unknown currency`);
  return `${formatDecimal(transaction.refundAmount ?? 0n, currency.decimals)} ${currency.code}`;
}
