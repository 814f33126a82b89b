import { uuidOf } from '../../core/ids.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Tenant } from '../../core/tenant.ts';
import type { Prisma, WebhookEndpoint } from '../../database/generated/client/client.ts';
import { statement } from '../../database/statement.ts';
import type { Transaction } from '../../database/transaction.ts';

/**
 * Reads an endpoint of the tenant.
 * @throws Refusal WEBHOOK_ENDPOINT_NOT_FOUND for one that is unknown or another's, both alike
 */
export async function readEndpoint(
  prisma: Prisma.TransactionClient,
  { platformId }: Tenant,
  id: string,
): Promise<WebhookEndpoint> {
  return (await prisma.webhookEndpoint.findUnique({ where: { platformId_id: { platformId, id } } })) ?? notFound();
}

const lockStatement = statement<object>(
  'lock_webhook_endpoint',
  'select from webhook_endpoint where platform_id = $1 and id = $2 for no key update',
);

/** As `readEndpoint`, for one that is to be changed: nobody else changes it until the transaction ends. */
export async function lockEndpoint(
  { client, prisma }: Transaction,
  tenant: Tenant,
  id: string,
): Promise<WebhookEndpoint> {
  await lockStatement(client, tenant.platformId, id);
  return readEndpoint(prisma, tenant, id);
}

/** Finds the endpoint that the platform's settings name, if they name one. */
export function findConfigEndpoint(
  prisma: Prisma.TransactionClient,
  { platformId }: Tenant,
): Promise<WebhookEndpoint | null> {
  return prisma.webhookEndpoint.findFirst({ where: { platformId, ofConfig: true } });
}

/** Finds the endpoint at this URL: the settings' own before others, and of those the oldest. */
export function findEndpointByUrl(
  prisma: Prisma.TransactionClient,
  { platformId }: Tenant,
  url: string,
): Promise<WebhookEndpoint | null> {
  return prisma.webhookEndpoint.findFirst({
    where: { platformId, url },
    orderBy: [{ ofConfig: 'desc' }, { id: 'asc' }],
  });
}

/** The uuid in an endpoint's public id; a malformed one is an unknown endpoint. */
export function endpointUuid(id: string): string {
  return uuidOf(id, 'WebhookEndpoint') ?? notFound();
}

function notFound(): never {
  throw new Refusal('WEBHOOK_ENDPOINT_NOT_FOUND', 'no such webhook endpoint', { field: 'endpointId' });
}
