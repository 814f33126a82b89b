import { accountNameIn, publicId, uuidOf } from '../../core/ids.ts';
import type { Database } from '../../infra/database/database.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';
import { inTransaction, readClock, type Transaction } from '../../infra/database/transaction.ts';
import { type Operator, RefusedByHand, recordAct } from '../access/operator-acts.ts';

// Deposits that could not be assigned automatically. Only operators' commands can assign them.

const withPlatform = { platform: { select: { name: true } } } as const satisfies Prisma.RailDepositInclude;

export type Deposit = Prisma.RailDepositGetPayload<{ include: typeof withPlatform }>;

/** Lists the deposits of all platforms that await an operator, oldest first. */
export function listDeposits({ prisma }: Pick<Database, 'prisma'>): Promise<Deposit[]> {
  return prisma.railDeposit.findMany({
    where: { status: 'UNATTRIBUTED' },
    include: withPlatform,
    orderBy: [{ foundAt: 'asc' }, { id: 'asc' }],
  });
}

/**
 * Assigns a deposit to an account, which the workers then credit. Can also be used to retry a deposit that its account
 * could not receive.
 * @param id `Deposit:…`
 * @param accountId an internal account of the same platform and currency: `InternalAccount:…`
 * @throws RefusedByHand
 */
export function attributeDeposit(database: Database, id: string, accountId: string, operator: Operator): Promise<void> {
  return decide(database, id, operator, async ({ client, prisma }, deposit) => {
    const name = accountNameIn(accountId);
    const { platformId, currency } = deposit;
    const where = { platformId, id: name?.id ?? '', kind: 'INTERNAL' } as const;
    const include = { customer: { select: { isDeleted: true } } } as const;
    const account = name?.kind === 'INTERNAL' ? await prisma.account.findFirst({ where, include }) : null;
    if (!account) throw new RefusedByHand(`the platform of the deposit has no internal account ${accountId}`);
    if (account.currency !== currency) {
      throw new RefusedByHand(`${accountId} is in ${account.currency}, but the deposit is in ${currency}`);
    }
    if (account.customer?.isDeleted) throw new RefusedByHand(`the customer of ${accountId} is deleted`);
    const { now: dueAt } = await readClock(client);
    return { data: { status: 'RECEIVED', accountId: account.id, reason: null, dueAt }, after: { account: accountId } };
  });
}

/** Closes a deposit that belongs to no account here, such as the operator's own money. @throws RefusedByHand */
export function closeDeposit(database: Database, id: string, operator: Operator & { readonly reason: string }) {
  return decide(database, id, operator, async () => ({
    data: { status: 'CLOSED', reason: operator.reason },
    after: { status: 'CLOSED' },
  }));
}

interface Change {
  readonly data: Prisma.RailDepositUncheckedUpdateManyInput;
  readonly after: Prisma.InputJsonObject;
}

async function decide(
  database: Database,
  id: string,
  operator: Operator,
  change: (transaction: Transaction, deposit: { platformId: string; currency: string }) => Promise<Change>,
): Promise<void> {
  const uuid = uuidOf(id, 'Deposit');
  if (uuid === undefined) throw new RefusedByHand(`${id} is not a deposit id (Deposit:…)`);
  await inTransaction(database, async (transaction) => {
    const { prisma } = transaction;
    const deposit = await prisma.railDeposit.findFirst({ where: { id: uuid } });
    if (!deposit) throw new RefusedByHand(`there is no ${id}`);
    const { data, after } = await change(transaction, deposit);
    const { platformId, status, reason } = deposit;
    const where = { platformId, id: uuid, status: 'UNATTRIBUTED' } as const;
    const { count } = await prisma.railDeposit.updateMany({ where, data });
    if (count === 0) throw new RefusedByHand(`${id} needs no decision: it is ${status}`);
    const subject = publicId('Deposit', uuid);
    await recordAct(transaction, operator, { platformId, subject, before: { status, reason }, after });
  });
}
