import type { Caller } from '../../access/caller.ts';
import { forCaller, visibleRow, visibleToPlatform } from '../../access/visible.ts';
import { uuidOf } from '../../core/ids.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Prisma, WebhookEndpoint } from '../../database/generated/client/client.ts';
import { statement } from '../../database/statement.ts';
import type { Transaction } from '../../database/transaction.ts';

/**
 * Reads an endpoint that the caller may see.
 * @throws Refusal WEBHOOK_ENDPOINT_NOT_FOUND for one that is unknown or another's, both alike
 */
export async function readEndpoint(
  prisma: Prisma.TransactionClient,
  caller: Caller,
  id: string,
): Promise<WebhookEndpoint> {
  const where = { platformId_id: { platformId: caller.platformId, id }, AND: [visibleToPlatform(caller)] };
  return (await prisma.webhookEndpoint.findUnique({ where })) ?? notFound();
}

const lockStatement = forCaller(
  statement<object>(
    'lock_webhook_endpoint',
    `select from webhook_endpoint e where ${visibleRow('ofPlatform', 'e')} and e.id = $4 for no key update`,
  ),
);

/** As `readEndpoint`, for one that is to be changed: nobody else changes it until the transaction ends. */
export async function lockEndpoint(
  { client, prisma }: Transaction,
  caller: Caller,
  id: string,
): Promise<WebhookEndpoint> {
  await lockStatement(client, caller, id);
  return readEndpoint(prisma, caller, id);
}

/** Finds the endpoint that the platform's settings name, if they name one. */
export function findConfigEndpoint(prisma: Prisma.TransactionClient, caller: Caller): Promise<WebhookEndpoint | null> {
  return prisma.webhookEndpoint.findFirst({ where: { AND: [visibleToPlatform(caller), { ofConfig: true }] } });
}

/** Finds the endpoint at this URL: the settings' own before others, and of those the oldest. */
export function findEndpointByUrl(
  prisma: Prisma.TransactionClient,
  caller: Caller,
  url: string,
): Promise<WebhookEndpoint | null> {
  return prisma.webhookEndpoint.findFirst({
    where: { AND: [visibleToPlatform(caller), { url }] },
    orderBy: [{ ofConfig: 'desc' }, { id: 'asc' }],
  });
}

/** The uuid in an endpoint's public id; a malformed one is an unknown endpoint. */
export function endpointUuid(id: string): string {
  return uuidOf(id, 'WebhookEndpoint') ?? notFound();
}

function notFound(): never {
  throw new Refusal('WEBHOOK_ENDPOINT_NOT_FOUND', 'no such webhook endpoint', { path: ['endpointId'] });
}
