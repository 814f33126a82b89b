import type { Prisma } from '../../database/generated/client/client.ts';

/** How many deliveries one statement gives up: few enough to stay far from the time that a statement has. */
const batch = 5_000;

/** Gives up what waits for a disabled endpoint: it has failed, which is visible, and can be replayed. */
export async function dropPending(
  prisma: Prisma.TransactionClient,
  platformId: string,
  endpointId: string,
): Promise<void> {
  let dropped: number;
  do {
    const { count } = await prisma.webhookDelivery.updateMany({
      where: { platformId, endpointId, status: 'PENDING' },
      data: { status: 'FAILED', nextAttemptAt: null, leasedUntil: null },
      limit: batch,
    });
    dropped = count;
  } while (dropped === batch);
}
