import type { WebhookEndpoint } from '../database/generated/client/client.ts';
import { type Queryable, statement } from '../database/statement.ts';
import type { Tenant } from '../payments/command.ts';
import { uuidOf } from '../payments/ids.ts';
import { Refusal } from '../payments/refusal.ts';

const endpointStatement = statement<WebhookEndpoint>(
  'webhook_endpoint',
  `select platform_id as "platformId", id, url, event_types::text[] as "eventTypes", description, status, secret,
     previous_secret as "previousSecret", previous_secret_until as "previousSecretUntil", created_at as "createdAt",
     position, failures, failing_since as "failingSince", disabled_at as "disabledAt", notice
   from webhook_endpoint where platform_id = $1 and id = $2`,
);

/** An endpoint of the tenant. Refuses one that is unknown or another's, both alike. */
export async function readOwn(on: Queryable, tenant: Tenant, id: string | undefined): Promise<WebhookEndpoint> {
  const [row] = id === undefined ? [] : await endpointStatement(on, tenant.platformId, id);
  return row ?? endpointNotFound();
}

/** The uuid in an endpoint's public id; a malformed one is an unknown endpoint. */
export function endpointUuid(id: string): string {
  return uuidOf(id, 'WebhookEndpoint') ?? endpointNotFound();
}

function endpointNotFound(): never {
  throw new Refusal('WEBHOOK_ENDPOINT_NOT_FOUND', 'no such webhook endpoint', { field: 'endpointId' });
}
