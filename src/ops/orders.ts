import { Option } from 'commander';
import { type Answer, Failure, listed, tableOf } from '../apps/terminal/answer.ts';
import { counted, type Program } from '../apps/terminal/program.ts';
import { formatMajor, requiredCurrency } from '../core/currencies.ts';
import { publicId, uuidOf } from '../core/ids.ts';
import { recordAct } from '../domain/access/operator-acts.ts';
import type { Money } from '../domain/ledger/plan.ts';
import { wakeOrders } from '../domain/orders/orders.ts';
import { closeCases, listCases, settleCase } from '../domain/settlement/cases.ts';
import { failOrder, listSuspense, releaseSuspense, type SuspendedRefund } from '../domain/settlement/order-by-hand.ts';
import type { Prisma, RailCase } from '../infra/database/generated/client/client.ts';
import { TransactionStatus } from '../infra/database/generated/client/enums.ts';
import { inTransaction } from '../infra/database/transaction.ts';
import { platformNamed } from './platforms.ts';
import { type Acting, addAct, addCommand, addDecision, type Deciding, ofPayment, type Tools } from './tools.ts';

export function addOrders(program: Program): void {
  const order = program.command('order').description('orders to rails that have no outcome yet');
  addCommand(order, 'list', listOrders)
    .description('list the orders that have been waiting longest')
    .option('--platform <name>', 'of this platform')
    .addOption(
      new Option('--status <status>', 'whose payments have this status').choices(Object.values(TransactionStatus)),
    )
    .option('--limit <count>', 'the maximum number to list', counted(1, 10_000), 100);
  addAct(order, 'retry', retryOrder)
    .description("query the rail now about a payment's orders that have no outcome yet")
    .argument(...ofPayment);
  addDecision(order, 'fail', failPayment, 'how you know that the money has not arrived (not shown to platforms)')
    .description(
      'end an order by hand if its rail can no longer report the outcome: the payment becomes FAILED, and the money returns to its source. The rail is asked once more first; if it knows the outcome, the command is refused',
    )
    .argument(...ofPayment)
    .option('--without-asking', 'do not ask the rail first, because it no longer exists or does not respond');
}

async function listOrders(
  { database }: Tools,
  { platform, status, limit }: { platform?: string; status?: TransactionStatus; limit: number },
): Promise<Answer> {
  const where: Prisma.RailOrderWhereInput = {
    ...(platform !== undefined && { platformId: (await platformNamed(database, platform)).platformId }),
    ...(status !== undefined && { transaction: { status } }),
    dueAt: { not: null },
  };
  const orders = await database.prisma.railOrder.findMany({
    where,
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    take: limit,
    include: { transaction: { select: { status: true, platform: { select: { name: true } } } } },
  });
  const count = orders.length < limit ? orders.length : await database.prisma.railOrder.count({ where });
  const rows = orders.map(({ id, kind, transactionId, createdAt, dueAt, attempts, transaction }) => ({
    order: id,
    kind,
    transaction: publicId('Transaction', transactionId),
    status: transaction.status,
    platform: transaction.platform.name,
    createdAt,
    dueAt,
    attempts,
  }));
  const more = count > rows.length ? [`Showing ${rows.length} of ${count}: use --limit to list more.`] : [];
  return { data: rows, lines: [...tableOf(rows, 'No order awaits an outcome.'), ...more] };
}

async function retryOrder({ database, operator }: Acting, transactionId: string): Promise<Answer> {
  const id = uuidOf(transactionId, 'Transaction');
  const transaction = id && (await database.prisma.transaction.findFirst({ where: { id } }));
  if (!transaction) throw new Failure(`There is no ${transactionId}.`);
  const { platformId } = transaction;
  const waiting = await inTransaction(database, async (act) => {
    const orders = await act.prisma.railOrder.findMany({
      where: { platformId, transactionId: transaction.id, dueAt: { not: null } },
      select: { id: true, dueAt: true, attempts: true },
    });
    if (orders.length === 0) return 0;
    await wakeOrders(act.client, platformId, transaction.id);
    const before = { orders: orders.map(({ dueAt, ...order }) => ({ ...order, dueAt: dueAt?.toISOString() ?? null })) };
    await recordAct(act, operator, { platformId, subject: transactionId, before });
    return orders.length;
  });
  if (waiting === 0) throw new Failure(`${transactionId} is ${transaction.status}: it has no open order.`);
  return {
    data: { transaction: transactionId, orders: waiting },
    lines: [`${waiting} orders of ${transactionId} are due now.`],
  };
}

async function failPayment({ payments, operator }: Deciding, id: string, options: { withoutAsking?: true }) {
  const done = await failOrder(payments, id, { operator, withoutAsking: options.withoutAsking === true });
  const answered = done.said === undefined ? 'The rail was not asked.' : `The rail said: ${done.said}.`;
  return {
    data: { transaction: id, order: done.orderId, status: 'FAILED', said: done.said ?? null },
    lines: [`${id} is FAILED, and its money is back at its source. ${answered}`],
  };
}

export function addCases(program: Program): void {
  const cases = program.command('cases').description('rail reports that contradict the ledger and await an operator');
  addCommand(cases, 'list', listOpenCases)
    .description('list the open cases, oldest first')
    .option('--all', 'include closed cases');
  addDecision(cases, 'settle', settlePayment, 'why the provider moved a different amount')
    .description(
      'settle a payment as promised although its provider moved a different amount: query the rail once more, and book the difference to DIFFERENCES',
    )
    .argument(...ofPayment);
  addDecision(cases, 'close', closePayment, 'what the investigation found')
    .description("close a payment's cases after an investigation, without moving money")
    .argument(...ofPayment);
}

async function listOpenCases({ database }: Tools, { all = false }: { readonly all?: boolean }): Promise<Answer> {
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

async function settlePayment({ payments, operator }: Deciding, id: string): Promise<Answer> {
  const done = await settleCase(payments, id, operator);
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
            `The receiver got ${words(done.short)} less than promised: have the provider send the rest, or credit the payer with "adjust propose".`,
          ]
        : []),
    ],
  };
}

async function closePayment({ database, operator }: Deciding, id: string): Promise<Answer> {
  await closeCases(database, id, operator);
  return { data: { closed: id }, lines: [`The cases of ${id} are closed.`] };
}

export function addSuspense(program: Program): void {
  const suspense = program.command('suspense').description('refunds that could not be paid and await an operator');
  addCommand(suspense, 'list', listRefunds).description('list the refunds that await an operator, oldest first');
  addAct(suspense, 'release', releaseRefund)
    .description(
      'pay a refund to the internal account to which it is owed, once you know that the money is back; releasing it again has no effect',
    )
    .argument(...ofPayment);
}

async function listRefunds({ database }: Tools): Promise<Answer> {
  const rows = (await listSuspense(database.pool)).map((suspended) => ({
    transaction: publicId('Transaction', suspended.transaction.id),
    refund: refundOf(suspended),
    since: suspended.transaction.refundInitiatedAt,
    reference: suspended.transaction.refundReference,
    platform: suspended.platformName,
  }));
  return listed(rows, 'No refund is held in suspense.');
}

async function releaseRefund({ database, operator }: Acting, id: string): Promise<Answer> {
  const { suspended, settledAt, kind } = await releaseSuspense(database, id, operator);
  const account = publicId('InternalAccount', suspended.refundAccountId);
  const refund = refundOf(suspended);
  const onward = suspended.onward?.accountId;
  const passedOnTo = kind === 'paid' && onward ? publicId('InternalAccount', onward) : null;
  return {
    data: { transaction: id, refund, account, passedOnTo, settledAt, paidNow: kind === 'paid' },
    lines: [
      kind === 'paid'
        ? `Paid ${refund} to ${account}${passedOnTo ? `, and forwarded it to ${passedOnTo}, because the customer has been deleted` : ''}.`
        : `Nothing done: ${refund} was already paid to ${account} at ${settledAt.toISOString()}.`,
    ],
  };
}

function refundOf({ transaction }: SuspendedRefund): string {
  return formatMajor(transaction.refundAmount ?? 0n, requiredCurrency(transaction.sentCurrency ?? ''));
}
