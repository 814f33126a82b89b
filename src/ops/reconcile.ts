import { type Answer, listed } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import type { Period } from '../core/checks.ts';
import { formatMajor, requiredCurrency } from '../core/currencies.ts';
import { publicId } from '../core/ids.ts';
import { closeDifference, type DayTotal, listDifferences } from '../domain/reconciliation/reconciliation.ts';
import { trustedJson } from '../infra/database/rows.ts';
import { platformNamed } from './platforms.ts';
import { type Decided, decisionOf, operatorOf, periodOf, type Tools, withDatabase } from './tools.ts';

export function addReconcile(program: Program): void {
  const found = program
    .command('reconcile')
    .description('differences between the ledger and the providers, which the service looks for every day');
  found
    .command('list')
    .description('list the open differences, oldest first')
    .option('--all', 'include those that are closed or no longer found')
    .action(withDatabase(list));
  decisionOf(found.command('close'), 'what the investigation has found')
    .description('close a difference after an investigation; moves no money')
    .argument('<difference>', 'its id: ReconciliationDifference:…')
    .action(withDatabase(close));
  periodOf(found.command('days'))
    .description('list the movements of each day in each currency, in the ledger and at the provider, and the balances')
    .argument('<platform>', 'the name of the platform')
    .action(withDatabase(days));
}

async function list({ database }: Tools, { all = false }: { readonly all?: boolean }): Promise<Answer> {
  const rows = (await listDifferences(database, { all })).map((one) => ({
    difference: publicId('ReconciliationDifference', one.id),
    platform: one.platform.name,
    fault: one.fault,
    transaction: one.transactionId && publicId('Transaction', one.transactionId),
    here: one.here,
    there: one.there,
    reference: one.reference,
    since: one.foundAt,
    times: one.times,
    ...(all && { goneAt: one.goneAt, closedAt: one.closedAt, closedBy: one.closedBy }),
  }));
  return listed(rows, 'The ledger and the providers agree.');
}

async function close({ database }: Tools, id: string, said: Decided): Promise<Answer> {
  await closeDifference(database, id, operatorOf('reconcile close', said));
  return { data: { closed: id }, lines: [`${id} is closed.`] };
}

async function days({ database }: Tools, name: string, { from, to }: Period): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  const runs = await database.prisma.reconciliation.findMany({
    where: { platformId, periodFrom: { gte: from }, periodTo: { lte: to } },
    orderBy: [{ periodFrom: 'asc' }, { periodTo: 'asc' }],
  });
  const rows = runs.flatMap(({ periodFrom, periodTo, finishedAt, failure, totals }) => {
    const about = { from: periodFrom, to: periodTo };
    const currencies = trustedJson<readonly DayTotal[]>(totals);
    const none = { currency: null, receivedHere: null, receivedThere: null, paidHere: null, paidThere: null };
    const sums = currencies.length > 0 ? currencies.map(inMajor) : [{ ...none, booked: null, held: null }];
    return sums.map((sum) => ({ ...about, ...sum, comparedAt: finishedAt, failure }));
  });
  return listed(rows, 'No day in this period was compared.');
}

function inMajor({ currency, ...sums }: DayTotal) {
  const words = (units: string | null) => units && formatMajor(BigInt(units), requiredCurrency(currency));
  return {
    currency,
    receivedHere: words(sums.receivedHere),
    receivedThere: words(sums.receivedThere),
    paidHere: words(sums.paidHere),
    paidThere: words(sums.paidThere),
    booked: words(sums.booked),
    held: words(sums.held),
  };
}
