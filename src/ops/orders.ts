import { Option } from 'commander';
import { type Answer, Failure, tableOf } from '../apps/terminal/answer.ts';
import { counted, type Program } from '../apps/terminal/program.ts';
import { publicId, uuidOf } from '../core/ids.ts';
import { recordAct } from '../domain/access/operator-acts.ts';
import { wakeOrders } from '../domain/orders/orders.ts';
import { failOrder } from '../domain/settlement/order-by-hand.ts';
import type { Prisma } from '../infra/database/generated/client/client.ts';
import { TransactionStatus } from '../infra/database/generated/client/enums.ts';
import { inTransaction } from '../infra/database/transaction.ts';
import { platformNamed } from './platforms.ts';
import { actOf, type Decided, decisionOf, operatorOf, type Said, type Tools, withDatabase } from './tools.ts';

export function addOrders(program: Program): void {
  const order = program.command('order').description('orders to rails that have no outcome yet');
  order
    .command('list')
    .description('list the orders that have been waiting longest')
    .option('--platform <name>', 'of this platform')
    .addOption(
      new Option('--status <status>', 'whose payments have this status').choices(Object.values(TransactionStatus)),
    )
    .option('--limit <count>', 'the maximum number to list', counted(1, 10_000), 100)
    .action(withDatabase(list));
  actOf(order.command('retry'))
    .description('query the rail now about the orders of a payment that have no outcome yet')
    .argument('<transaction>', 'the id of the payment: Transaction:…')
    .action(withDatabase(retry));
  decisionOf(order.command('fail'), 'how you know that the money has not arrived; platforms do not see it')
    .description(
      'end an order by hand if its rail can no longer report the outcome: the payment becomes FAILED, and its money returns to its source. Asks the rail once more first, and is refused if the order has settled',
    )
    .argument('<transaction>', 'the id of the payment: Transaction:…')
    .option('--without-asking', 'do not ask the rail first, because it no longer exists or does not respond')
    .action(withDatabase(fail));
}

interface Filter {
  readonly platform?: string;
  readonly status?: TransactionStatus;
  readonly limit: number;
}

async function list({ database }: Tools, { platform, status, limit }: Filter): Promise<Answer> {
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

async function retry({ database }: Tools, transactionId: string, said: Said): Promise<Answer> {
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
    await recordAct(act, operatorOf('order retry', said), { platformId, subject: transactionId, before });
    return orders.length;
  });
  if (waiting === 0) throw new Failure(`${transactionId} is ${transaction.status}: it has no open order.`);
  return {
    data: { transaction: transactionId, orders: waiting },
    lines: [`${waiting} orders of ${transactionId} are due now.`],
  };
}

interface Fail extends Decided {
  readonly withoutAsking?: boolean;
}

async function fail({ payments }: Tools, id: string, { withoutAsking = false, ...said }: Fail): Promise<Answer> {
  const done = await failOrder(payments, id, { operator: operatorOf('order fail', said), withoutAsking });
  const answered = done.said === undefined ? 'The rail was not asked.' : `The rail said: ${done.said}.`;
  return {
    data: { transaction: id, order: done.orderId, status: 'FAILED', said: done.said ?? null },
    lines: [`${id} is FAILED, and its money is back at its source. ${answered}`],
  };
}
