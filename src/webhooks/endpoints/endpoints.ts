import type pg from 'pg';
import type { Caller } from '../../access/caller.ts';
import { once } from '../../access/once.ts';
import { checkText } from '../../core/checks.ts';
import { keyPath } from '../../core/idempotency.ts';
import { publicId } from '../../core/ids.ts';
import { Refusal } from '../../core/refusal.ts';
import type { EventType, WebhookEndpoint } from '../../database/generated/client/client.ts';
import { type Queryable, statement } from '../../database/statement.ts';
import { newSigningSecret } from '../delivery/signing.ts';
import { boxOf, loopbackAllowed, secretOwner, type Webhooks } from '../webhooks.ts';
import { parseEndpointUrl } from './endpoint-url.ts';
import { endpointUuid, readOwn } from './own-endpoint.ts';
import { announceTest } from './test-event.ts';

/** The events that webhooks carry; the others are in the feed only. */
export const webhookTypes = [
  'OUTGOING_PAYMENT',
  'INCOMING_PAYMENT',
  'ACCOUNT_STATUS',
  'KYC_STATUS',
  'TEST',
] as const satisfies readonly EventType[];

/** The most endpoints that a platform may have. */
const maxEndpoints = 20;

export interface NewEndpoint {
  readonly url: string;
  /** Which events; all when left out. */
  readonly eventTypes?: readonly EventType[] | null | undefined;
  readonly description?: string | null | undefined;
}

export interface EndpointChange {
  readonly endpointId: string;
  readonly url?: string | null | undefined;
  readonly eventTypes?: readonly EventType[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
}

interface WithSecret {
  readonly endpoint: WebhookEndpoint;
  /** Shown this once. */
  readonly secret: string;
}

const newIdStatement = statement<{ id: string; endpoints: number }>(
  'new_webhook_endpoint',
  `select uuid_v7() as id, (select count(*)::int from webhook_endpoint where platform_id = p.id) as endpoints
   from platform p where p.id = $1 for no key update`,
);

const insertStatement = statement<object>(
  'insert_webhook_endpoint',
  `insert into webhook_endpoint (platform_id, id, url, event_types, description, secret, of_config, position)
   values ($1, $2, $3, $4::event_type[], $5, $6, $7, coalesce((select sequence from feed_head where platform_id = $1), 0))`,
);

/**
 * Makes an endpoint, which gets every event from now on, and sends it a test event.
 * @returns it and its signing secret, which is shown this once; a repeat of the call is refused with CONFLICT
 */
export function createEndpoint(
  webhooks: Webhooks,
  caller: Caller,
  input: NewEndpoint,
  idempotencyKey: string | null | undefined,
): Promise<WithSecret & { replayed: boolean }> {
  checkUrl(webhooks, caller, input.url);
  const eventTypes = readTypes(input.eventTypes) ?? [...webhookTypes];
  checkText(input.description, ['description']);
  return once(webhooks.payments.database, caller, {
    operation: 'createWebhookEndpoint',
    input,
    idempotencyKey,
    effect: async (client) => {
      const { url, description } = input;
      const made = await insertEndpoint(webhooks, client, caller, { url, eventTypes, description, ofConfig: false });
      return { kept: keptEndpoint(caller, made.endpoint.id), answer: made };
    },
    repeat: ({ row }) => secretIsGone(row?.id),
  });
}

/**
 * Refuses a URL to which events may not go, and any where signing secrets cannot be kept.
 * @throws Refusal INVALID_INPUT (`url`), SERVICE_UNAVAILABLE
 */
export function checkUrl(webhooks: Webhooks, caller: Caller, url: string): void {
  boxOf(webhooks);
  parseEndpointUrl(url, loopbackAllowed(webhooks, caller.environment));
}

/** Makes an endpoint in the caller's transaction, and sends it a test event. */
export async function insertEndpoint(
  webhooks: Webhooks,
  client: pg.PoolClient,
  caller: Caller,
  given: Pick<NewEndpoint, 'url' | 'description'> & {
    readonly eventTypes: readonly EventType[];
    /** Whether it is the one that the platform's settings name. */
    readonly ofConfig: boolean;
  },
): Promise<WithSecret> {
  const [made] = await newIdStatement(client, caller.platformId);
  if (!made) throw new Error('a caller has a platform');
  if (made.endpoints >= maxEndpoints)
    throw new Refusal('CONFLICT', `a platform has at most ${maxEndpoints} webhook endpoints`);
  const { id } = made;
  const { url, eventTypes, description = null, ofConfig } = given;
  const secret = newSigningSecret();
  const sealed = boxOf(webhooks).seal(secret, secretOwner(caller.platformId, id));
  await insertStatement(client, caller.platformId, id, url, eventTypes, description, sealed, ofConfig);
  await announceTest(client, caller.platformId, id);
  return { endpoint: await readOwn(client, caller, id), secret };
}

const updateStatement = statement<object>(
  'update_webhook_endpoint',
  `update webhook_endpoint set
     url = coalesce($3, url),
     event_types = coalesce($4::event_type[], event_types),
     description = case when $5::boolean then $6 else description end
   where platform_id = $1 and id = $2`,
);

/** Changes an endpoint. A new URL begins without failures and gets a test event. */
export function updateEndpoint(
  webhooks: Webhooks,
  caller: Caller,
  input: EndpointChange,
  idempotencyKey: string | null | undefined,
): Promise<{ endpoint: WebhookEndpoint; replayed: boolean }> {
  const id = endpointUuid(input.endpointId);
  if (input.url !== null && input.url !== undefined)
    parseEndpointUrl(input.url, loopbackAllowed(webhooks, caller.environment));
  const eventTypes = readTypes(input.eventTypes);
  checkText(input.description, ['description']);
  return once(webhooks.payments.database, caller, {
    operation: 'updateWebhookEndpoint',
    input,
    idempotencyKey,
    effect: async (client) => ({
      kept: keptEndpoint(caller, id),
      answer: { endpoint: await changeEndpoint(client, caller, id, { ...input, eventTypes }) },
    }),
    repeat: async () => ({ endpoint: await readOwn(webhooks.payments.database.pool, caller, id) }),
  });
}

/** Changes an endpoint in the caller's transaction. A new URL begins without failures and gets a test event. */
export async function changeEndpoint(
  client: pg.PoolClient,
  caller: Caller,
  id: string,
  change: Omit<EndpointChange, 'endpointId'>,
): Promise<WebhookEndpoint> {
  const before = await readOwn(client, caller, id);
  const { url = null, eventTypes = null, description } = change;
  const describes = description !== undefined;
  await updateStatement(client, caller.platformId, id, url, eventTypes, describes, description ?? null);
  const moved = url !== null && url !== before.url;
  const enables = change.enabled === true && before.status === 'DISABLED';
  if (enables || (moved && before.status === 'FAILING')) await enable(client, caller, id, enables);
  if (change.enabled === false && before.status !== 'DISABLED')
    await disable(client, caller.platformId, id, 'Disabled by the platform.');
  const endpoint = await readOwn(client, caller, id);
  if (moved && endpoint.status !== 'DISABLED') await announceTest(client, caller.platformId, id);
  return endpoint;
}

const deleteStatement = statement<object>(
  'delete_webhook_endpoint',
  'delete from webhook_endpoint where platform_id = $1 and id = $2',
);

/** Removes an endpoint with all its deliveries. */
export function deleteEndpoint(
  webhooks: Webhooks,
  caller: Caller,
  input: { readonly endpointId: string },
  idempotencyKey: string | null | undefined,
): Promise<{ deletedId: string; replayed: boolean }> {
  const id = endpointUuid(input.endpointId);
  const answer = { deletedId: publicId('WebhookEndpoint', id) };
  return once(webhooks.payments.database, caller, {
    operation: 'deleteWebhookEndpoint',
    input,
    idempotencyKey,
    effect: async (client) => {
      await readOwn(client, caller, id);
      await removeEndpoint(client, caller, id);
      return { kept: keptEndpoint(caller, id), answer };
    },
    repeat: async () => answer,
  });
}

/** Removes an endpoint with all its deliveries, in the caller's transaction. */
export async function removeEndpoint(client: pg.PoolClient, caller: Caller, id: string): Promise<void> {
  await deleteStatement(client, caller.platformId, id);
}

const rotateStatement = statement<object>(
  'rotate_webhook_secret',
  `update webhook_endpoint set secret = $3, previous_secret = secret,
     previous_secret_until = clock_ms() + $4::float8 * interval '1 millisecond'
   where platform_id = $1 and id = $2`,
);

/** Gives an endpoint a new signing secret. For a day both sign, so that a receiver can change over without a gap. */
export function rotateSecret(
  webhooks: Webhooks,
  caller: Caller,
  input: { readonly endpointId: string },
  idempotencyKey: string | null | undefined,
): Promise<WithSecret & { replayed: boolean }> {
  const box = boxOf(webhooks);
  const id = endpointUuid(input.endpointId);
  return once(webhooks.payments.database, caller, {
    operation: 'rotateWebhookSecret',
    input,
    idempotencyKey,
    effect: async (client) => {
      await readOwn(client, caller, id);
      const secret = newSigningSecret();
      const sealed = box.seal(secret, secretOwner(caller.platformId, id));
      await rotateStatement(client, caller.platformId, id, sealed, webhooks.pace.rotationMs);
      return { kept: keptEndpoint(caller, id), answer: { endpoint: await readOwn(client, caller, id), secret } };
    },
    repeat: ({ row }) => secretIsGone(row?.id),
  });
}

const enableStatement = statement<object>(
  'enable_webhook_endpoint',
  `update webhook_endpoint set status = 'ENABLED', failures = 0, failing_since = null, disabled_at = null, notice = null,
     position = case when $3::boolean then coalesce((select sequence from feed_head where platform_id = $1), 0) else position end
   where platform_id = $1 and id = $2`,
);

/** What was missed while it was disabled is not sent by itself: it is replayed as a range. */
async function enable(client: pg.PoolClient, caller: Caller, id: string, fromNow: boolean): Promise<void> {
  if (fromNow) await dropPending(client, caller.platformId, id);
  await enableStatement(client, caller.platformId, id, fromNow);
}

const disableStatement = statement<object>(
  'disable_webhook_endpoint',
  `update webhook_endpoint set status = 'DISABLED', disabled_at = clock_ms(), notice = $3
   where platform_id = $1 and id = $2 and status <> 'DISABLED'`,
);

/** How many deliveries one statement gives up: few enough to stay far from the time that a statement has. */
const dropAtOnce = 5_000;

const dropPendingStatement = statement<object>(
  'drop_pending_deliveries',
  `update webhook_delivery set status = 'FAILED', next_attempt_at = null, leased_until = null
   where (platform_id, id) in (
     select platform_id, id from webhook_delivery
     where platform_id = $1 and endpoint_id = $2 and status = 'PENDING' limit ${dropAtOnce}
   ) returning 1`,
);

/** What waits for a disabled endpoint has failed: visible, and to be replayed. */
export async function dropPending(on: Queryable, platformId: string, endpointId: string): Promise<void> {
  let dropped: object[];
  do {
    dropped = await dropPendingStatement(on, platformId, endpointId);
  } while (dropped.length === dropAtOnce);
}

async function disable(client: pg.PoolClient, platformId: string, id: string, notice: string): Promise<void> {
  await disableStatement(client, platformId, id, notice);
  await dropPending(client, platformId, id);
}

function readTypes(types: readonly EventType[] | null | undefined): EventType[] | undefined {
  if (types === null || types === undefined) return undefined;
  const sent: ReadonlySet<EventType> = new Set(webhookTypes);
  const stranger = types.find((type) => !sent.has(type));
  if (stranger !== undefined)
    throw new Refusal('INVALID_INPUT', `${stranger} is in the feed only: webhooks carry ${webhookTypes.join(', ')}`, {
      path: ['eventTypes'],
    });
  if (types.length === 0)
    throw new Refusal('INVALID_INPUT', 'name at least one type of event, or leave them out for all of them', {
      path: ['eventTypes'],
    });
  return [...new Set(types)];
}

function keptEndpoint(caller: Caller, id: string) {
  return { type: 'WebhookEndpoint', row: { platform_id: caller.platformId, id } } as const;
}

function secretIsGone(id: string | undefined): Promise<never> {
  return Promise.reject(
    new Refusal(
      'CONFLICT',
      `this was done before, for ${publicId('WebhookEndpoint', id ?? '')}, and its secret is not shown again`,
      { path: keyPath, ...(id && { existingId: publicId('WebhookEndpoint', id) }) },
      true,
    ),
  );
}
