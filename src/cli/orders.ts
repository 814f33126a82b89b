import type { Command } from 'commander';
import { publicId, uuidOf } from '../core/ids.ts';
import { wakeOrders } from '../payments/orders/orders.ts';
import { CommandError } from '../print-error.ts';
import { type Answer, tableOf } from './answer.ts';
import { type Tools, withDatabase } from './command-line.ts';

/** Adds the commands about orders to rails. */
export function addOrders(program: Command): void {
  const order = program.command('order').description('the orders to rails that have no outcome yet');
  order.command('list').description('list those that have waited longest').action(withDatabase(list));
  order
    .command('retry')
    .description('ask the rail again now about the orders of a payment; it repeats no order that has its outcome')
    .argument('<transaction>', 'the id of the payment: Transaction:…')
    .action(withDatabase(retry));
}

const listed = 100;

async function list({ database }: Tools): Promise<Answer> {
  const orders = await database.prisma.railOrder.findMany({
    where: { dueAt: { not: null } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    take: listed,
    include: { transaction: { select: { status: true, platform: { select: { name: true } } } } },
  });
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
  return { data: rows, lines: tableOf(rows, 'No order waits for its outcome.') };
}

async function retry({ database }: Tools, transactionId: string): Promise<Answer> {
  const id = uuidOf(transactionId, 'Transaction');
  const transaction = id && (await database.prisma.transaction.findFirst({ where: { id } }));
  if (!transaction) throw new CommandError(`There is no ${transactionId}.`);
  const { platformId } = transaction;
  const waiting = await database.prisma.railOrder.count({
    where: { platformId, transactionId: transaction.id, dueAt: { not: null } },
  });
  if (waiting === 0) throw new CommandError(`${transactionId} is ${transaction.status}: no order of it waits.`);
  await wakeOrders(database.pool, platformId, transaction.id);
  return {
    data: { transaction: transactionId, orders: waiting },
    lines: [`${waiting} orders of ${transactionId} are due now.`],
  };
}
