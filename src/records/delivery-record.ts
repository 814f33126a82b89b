import { publicId } from '../core/ids.ts';
import type { EventType, Prisma, WebhookDeliveryStatus } from '../database/generated/client/client.ts';

/** What a record of a delivery needs beside its row. */
export const deliveryParts = {
  event: { select: { id: true, type: true } },
  attempts: { orderBy: { number: 'asc' } },
} as const satisfies Prisma.WebhookDeliveryInclude;

type Row = Prisma.WebhookDeliveryGetPayload<{ include: typeof deliveryParts }>;

/** A webhook on its way to an endpoint (decision 71). */
export interface DeliveryRecord {
  readonly id: string;
  readonly endpointId: string;
  readonly webhookId: string;
  readonly type: EventType;
  readonly status: WebhookDeliveryStatus;
  readonly attempts: {
    readonly at: string;
    readonly durationMs: number;
    readonly responseStatus?: number;
    readonly error?: string;
  }[];
  readonly nextAttemptAt?: string;
}

/** Converts a row to the record of a delivery. */
export function deliveryRecord(row: Row): DeliveryRecord {
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
