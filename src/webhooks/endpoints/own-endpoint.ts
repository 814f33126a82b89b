import type { Caller } from '../../access/caller.ts';
import { uuidOf } from '../../core/ids.ts';
import { Refusal } from '../../core/refusal.ts';
import type { WebhookEndpoint } from '../../database/generated/client/client.ts';
import { type Queryable, statement } from '../../database/statement.ts';

const columns = `platform_id as "platformId", id, url, of_config as "ofConfig", event_types::text[] as "eventTypes",
     description, status, secret, previous_secret as "previousSecret", previous_secret_until as "previousSecretUntil",
     created_at as "createdAt", position, failures, failing_since as "failingSince", disabled_at as "disabledAt", notice`;

const endpointStatement = statement<WebhookEndpoint>(
  'webhook_endpoint',
  `select ${columns} from webhook_endpoint where platform_id = $1 and id = $2`,
);

const configEndpointStatement = statement<WebhookEndpoint>(
  'config_webhook_endpoint',
  `select ${columns} from webhook_endpoint where platform_id = $1 and of_config`,
);

const endpointByUrlStatement = statement<WebhookEndpoint>(
  'webhook_endpoint_by_url',
  `select ${columns} from webhook_endpoint where platform_id = $1 and url = $2 order by of_config desc, id limit 1`,
);

/** An endpoint of the caller. Refuses one that is unknown or another's, both alike. */
export async function readOwn(on: Queryable, caller: Caller, id: string | undefined): Promise<WebhookEndpoint> {
  const [row] = id === undefined ? [] : await endpointStatement(on, caller.platformId, id);
  return row ?? endpointNotFound();
}

/** The endpoint that the platform's settings name, if they name one. */
export async function readConfigEndpoint(on: Queryable, caller: Caller): Promise<WebhookEndpoint | undefined> {
  const [row] = await configEndpointStatement(on, caller.platformId);
  return row;
}

/** The endpoint at this URL: the settings' own before others, and of those the oldest. */
export async function readEndpointByUrl(
  on: Queryable,
  caller: Caller,
  url: string,
): Promise<WebhookEndpoint | undefined> {
  const [row] = await endpointByUrlStatement(on, caller.platformId, url);
  return row;
}

/** The uuid in an endpoint's public id; a malformed one is an unknown endpoint. */
export function endpointUuid(id: string): string {
  return uuidOf(id, 'WebhookEndpoint') ?? endpointNotFound();
}

function endpointNotFound(): never {
  throw new Refusal('WEBHOOK_ENDPOINT_NOT_FOUND', 'no such webhook endpoint', { field: 'endpointId' });
}
