import { anyOf, type Given } from '../../../core/conditions.ts';
import type { Viewer } from '../../../domain/access/viewer.ts';
import type { Prisma, WebhookDeliveryStatus } from '../../../infra/database/generated/client/client.ts';

interface DeliveryFilter {
  readonly status?: Given<readonly WebhookDeliveryStatus[]>;
}

export function whereDeliveries(_viewer: Viewer, filter: Given<DeliveryFilter>): Prisma.WebhookDeliveryWhereInput {
  const status = filter?.status;
  // Nearly all deliveries are DELIVERED. The others have an index, webhook_delivery_undelivered, with these words.
  const isUndelivered = status && !status.includes('DELIVERED');
  return { ...anyOf('status', status), ...(isUndelivered && { AND: [{ status: { not: 'DELIVERED' } }] }) };
}
