import { publicId } from '../../core/ids.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';

/** The data for a delivery's record in addition to its row. */
export const deliveryParts = {
  event: { select: { id: true, type: true } },
  attempts: { orderBy: { number: 'asc' } },
} as const satisfies Prisma.WebhookDeliveryInclude;

type Row = Prisma.WebhookDeliveryGetPayload<{ include: typeof deliveryParts }>;

/** Converts a row to the record of a webhook delivery (decision 71). */
export function deliveryRecord(row: Row) {
  return {
    id: publicId('WebhookDelivery', row.id),
    endpointId: publicId('WebhookEndpoint', row.endpointId),
    webhookId: publicId('Webhook', row.event.id),
    type: row.event.type,
    status: row.status,
    attempts: row.attempts.map(({ at, durationMs, responseStatus, error }) => ({
      at: at.toISOString(),
      durationMs,
      ...(responseStatus !== null && { responseStatus }),
      ...(error !== null && { error }),
    })),
    ...(row.nextAttemptAt !== null && { nextAttemptAt: row.nextAttemptAt.toISOString() }),
  };
}
