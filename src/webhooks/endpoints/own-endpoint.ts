import type { Caller } from '../../access/caller.ts';
import { callerStatement, visibleRow } from '../../access/visible.ts';
import { uuidOf } from '../../core/ids.ts';
import { Refusal } from '../../core/refusal.ts';
import type { WebhookEndpoint } from '../../database/generated/client/client.ts';
import type { Queryable } from '../../database/statement.ts';

const columns = `platform_id as "platformId", id, url, of_config as "ofConfig", event_types::text[] as "eventTypes",
     description, status, secret, previous_secret as "previousSecret", previous_secret_until as "previousSecretUntil",
     created_at as "createdAt", position, failures, failing_since as "failingSince", disabled_at as "disabledAt", notice`;

/** The endpoints that the caller may see. */
const own = `from webhook_endpoint e where ${visibleRow('webhookEndpoint', 'e')}`;

const endpointStatement = callerStatement<WebhookEndpoint>(
  'webhook_endpoint',
  `select ${columns} ${own} and e.id = $4`,
);

const configEndpointStatement = callerStatement<WebhookEndpoint>(
  'config_webhook_endpoint',
  `select ${columns} ${own} and e.of_config`,
);

const endpointByUrlStatement = callerStatement<WebhookEndpoint>(
  'webhook_endpoint_by_url',
  `select ${columns} ${own} and e.url = $4 order by e.of_config desc, e.id limit 1`,
);

/** An endpoint that the caller may see. Refuses one that is unknown or another's, both alike. */
export async function readOwn(on: Queryable, caller: Caller, id: string | undefined): Promise<WebhookEndpoint> {
  const [row] = id === undefined ? [] : await endpointStatement(on, caller, id);
  return row ?? endpointNotFound();
}

/** The endpoint that the platform's settings name, if they name one. */
export async function readConfigEndpoint(on: Queryable, caller: Caller): Promise<WebhookEndpoint | undefined> {
  const [row] = await configEndpointStatement(on, caller);
  return row;
}

/** The endpoint at this URL: the settings' own before others, and of those the oldest. */
export async function readEndpointByUrl(
  on: Queryable,
  caller: Caller,
  url: string,
): Promise<WebhookEndpoint | undefined> {
  const [row] = await endpointByUrlStatement(on, caller, url);
  return row;
}

/** The uuid in an endpoint's public id; a malformed one is an unknown endpoint. */
export function endpointUuid(id: string): string {
  return uuidOf(id, 'WebhookEndpoint') ?? endpointNotFound();
}

function endpointNotFound(): never {
  throw new Refusal('WEBHOOK_ENDPOINT_NOT_FOUND', 'no such webhook endpoint', { path: ['endpointId'] });
}
