import { publicId, uuidOf } from '../../core/ids.ts';
import type { Database } from '../../infra/database/database.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';
import { inTransaction, readClock } from '../../infra/database/transaction.ts';
import { type Operator, RefusedByHand, recordAct } from '../access/operator-acts.ts';

const withPlatform = { platform: { select: { name: true } } } as const satisfies Prisma.ReconciliationDifferenceInclude;

export function listDifferences({ prisma }: Pick<Database, 'prisma'>, { all }: { readonly all: boolean }) {
  return prisma.reconciliationDifference.findMany({
    where: all ? {} : { closedAt: null, goneAt: null },
    orderBy: { id: 'asc' },
    take: 10_000,
    include: withPlatform,
  });
}

/**
 * Closes a difference after an investigation, without moving money. For a balance, the amount that the provider holds
 * beyond the books is on record from then on.
 * @param id such as `ReconciliationDifference:…`
 * @throws RefusedByHand
 */
export async function closeDifference(
  database: Database,
  id: string,
  operator: Operator & { readonly reason: string },
): Promise<void> {
  const uuid = uuidOf(id, 'ReconciliationDifference');
  const found = uuid && (await database.prisma.reconciliationDifference.findFirst({ where: { id: uuid } }));
  if (!found) throw new RefusedByHand(`there is no ${id}`);
  const { platformId, fault, here, there } = found;
  await inTransaction(database, async (act) => {
    const { now } = await readClock(act.client);
    const { count } = await act.prisma.reconciliationDifference.updateMany({
      where: { platformId, id: found.id, closedAt: null, goneAt: null },
      data: { closedAt: now, closedBy: operator.by, closedReason: operator.reason },
    });
    if (count === 0) throw new RefusedByHand(`${id} is no longer open`);
    await recordAct(act, operator, {
      platformId,
      subject: publicId('ReconciliationDifference', found.id),
      before: { fault, here, there },
    });
  });
}
