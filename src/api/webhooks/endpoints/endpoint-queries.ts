import { publicId, uuidOf } from '../../../core/ids.ts';
import { checkVersion, type Expecting, Refusal } from '../../../core/refusal.ts';
import type { Caller } from '../../../domain/access/caller.ts';
import { forCaller, visibleRow, visibleToPlatform } from '../../../domain/access/visible.ts';
import type { Prisma } from '../../../infra/database/generated/client/client.ts';
import { statement } from '../../../infra/database/statement.ts';
import type { Transaction } from '../../../infra/database/transaction.ts';

/** Reads an endpoint of the caller's platform. Throws WEBHOOK_ENDPOINT_NOT_FOUND. */
export async function readEndpoint(prisma: Prisma.TransactionClient, caller: Caller, id: string) {
  const where = { AND: [visibleToPlatform(caller), { id }] };
  return (await prisma.webhookEndpoint.findFirst({ where })) ?? notFound();
}

/** Creates the refusal for operations that need an enabled endpoint. */
export function endpointDisabled(id: string): Refusal {
  return new Refusal('CONFLICT', 'the endpoint is disabled: enable it first', {
    existingId: publicId('WebhookEndpoint', id),
  });
}

const lockStatement = forCaller(
  statement<object>(
    'lock_webhook_endpoint',
    `select from webhook_endpoint e where ${visibleRow('ofPlatform', 'e')} and e.id = $4 for no key update`,
  ),
);

/** Reads an endpoint as `readEndpoint` does, and locks it. Also throws CONFLICT for an unexpected version. */
export async function lockEndpoint(
  { client, prisma }: Transaction,
  caller: Caller,
  id: string,
  expecting: Expecting = {},
) {
  await lockStatement(client, caller, id);
  const endpoint = await readEndpoint(prisma, caller, id);
  checkVersion(expecting, publicId('WebhookEndpoint', id), endpoint.version);
  return endpoint;
}

/** Returns the endpoint in the platform's settings, or null if none is set. */
export function findConfigEndpoint(prisma: Prisma.TransactionClient, caller: Caller) {
  return prisma.webhookEndpoint.findFirst({ where: { AND: [visibleToPlatform(caller), { ofConfig: true }] } });
}

/** Finds the endpoint with the given URL. If there are several, prefers the one in the settings, then the oldest. */
export function findEndpointByUrl(prisma: Prisma.TransactionClient, caller: Caller, url: string) {
  return prisma.webhookEndpoint.findFirst({
    where: { AND: [visibleToPlatform(caller), { url }] },
    orderBy: [{ ofConfig: 'desc' }, { id: 'asc' }],
  });
}

/** Returns the uuid in an endpoint's public id. Throws WEBHOOK_ENDPOINT_NOT_FOUND. */
export function endpointUuid(id: string): string {
  return uuidOf(id, 'WebhookEndpoint') ?? notFound();
}

function notFound(): never {
  throw new Refusal('WEBHOOK_ENDPOINT_NOT_FOUND', 'no such webhook endpoint', ['endpointId']);
}
