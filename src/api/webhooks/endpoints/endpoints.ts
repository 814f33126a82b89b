import { keyPath } from '../../../core/idempotency.ts';
import { publicId } from '../../../core/ids.ts';
import { type Expecting, invalid, Refusal } from '../../../core/refusal.ts';
import { lockPlatform } from '../../../core/tenant.ts';
import { checkText, longest } from '../../../core/texts.ts';
import type { Caller } from '../../../domain/access/caller.ts';
import { dropPending } from '../../../domain/access/drop-pending.ts';
import { authorize } from '../../../domain/access/operations.ts';
import { lockMaker } from '../../../domain/access/tokens/token-bounds.ts';
import { visibleToPlatform } from '../../../domain/access/visible.ts';
import type { CommandResult } from '../../../domain/commands/command.ts';
import type { EventType, Prisma, WebhookEndpoint } from '../../../infra/database/generated/client/client.ts';
import { readClock, type Transaction } from '../../../infra/database/transaction.ts';
import { newSigningSecret } from '../delivery/sender.ts';
import { loopbackAllowed, requireBox, secretOwner, type Webhooks, webhookCommand, webhookTypes } from '../webhooks.ts';
import { endpointUuid, findConfigEndpoint, findEndpointByUrl, lockEndpoint, readEndpoint } from './endpoint-queries.ts';
import { parseEndpointUrl } from './endpoint-url.ts';
import { announceTest, sendTest } from './test-event.ts';

type NewEndpoint = Pick<EndpointChange, 'eventTypes' | 'description'> & { readonly url: string };
type NamedEndpoint = Expecting & { readonly endpointId: string };

/**
 * Creates an endpoint for new events of the given types (by default, all), and sends it a test event.
 * @returns the endpoint and its signing secret, which is not shown again. A repeated call is refused with CONFLICT.
 */
export const createEndpoint = webhookCommand((webhooks, caller, input: NewEndpoint) => {
  checkUrl(webhooks, caller, input.url);
  const eventTypes = readTypes(input.eventTypes) ?? [...webhookTypes];
  const description = checkText(input.description, ['description'], longest.memo);
  return {
    operation: 'createWebhookEndpoint',
    effect: async (transaction) => {
      const fields = { url: input.url, eventTypes, description, ofConfig: false };
      const created = await insertEndpoint(webhooks, transaction, caller, fields);
      return { result: endpointRow(caller, created.endpoint.id), answer: created };
    },
    repeat: ({ row }) => secretIsGone(row?.id),
  };
});

/** Checks a new endpoint's URL. Throws INVALID_INPUT, or SERVICE_UNAVAILABLE if there is no key for signing secrets. */
export function checkUrl(webhooks: Webhooks, caller: Caller, url: string): void {
  requireBox(webhooks);
  parseEndpointUrl(url, loopbackAllowed(webhooks, caller.environment));
}

/** Changes an endpoint. Changing the URL of one that is not disabled resets its failures and sends a test event. */
export const updateEndpoint = webhookCommand((webhooks, caller, input: EndpointChange & NamedEndpoint) => {
  const id = endpointUuid(input.endpointId);
  if (input.url != null) parseEndpointUrl(input.url, loopbackAllowed(webhooks, caller.environment));
  const eventTypes = readTypes(input.eventTypes);
  const description = checkText(input.description, ['description'], longest.memo);
  return {
    operation: 'updateWebhookEndpoint',
    nullClears: true,
    effect: async (transaction) => ({
      result: endpointRow(caller, id),
      answer: { endpoint: await changeEndpoint(transaction, caller, id, { ...input, description, eventTypes }) },
    }),
    repeat: async () => ({ endpoint: await readEndpoint(webhooks.payments.database.prisma, caller, id) }),
  };
});

/**
 * Deletes a webhook endpoint.
 * @throws Refusal if the endpoint does not exist or its version differs from the expected one
 */
export const deleteEndpoint = webhookCommand((_webhooks, caller, input: NamedEndpoint) => {
  const id = endpointUuid(input.endpointId);
  const answer = { deletedId: publicId('WebhookEndpoint', id) };
  return {
    operation: 'deleteWebhookEndpoint',
    effect: async (transaction) => {
      await lockEndpoint(transaction, caller, id, input);
      await removeEndpoint(transaction.prisma, caller, id);
      return { result: endpointRow(caller, id), answer };
    },
    repeat: async () => answer,
  };
});

/**
 * Replaces an endpoint's signing secret. For a day, webhooks are signed with both secrets, so that receivers can switch
 * without a gap.
 */
export const rotateSecret = webhookCommand((webhooks, caller, input: NamedEndpoint) => {
  requireBox(webhooks);
  const id = endpointUuid(input.endpointId);
  return {
    operation: 'rotateWebhookSecret',
    effect: async (transaction) => {
      const { platformId } = caller;
      const { secret: previousSecret } = await lockEndpoint(transaction, caller, id, input);
      const { secret, sealed } = sealedSecret(webhooks, platformId, id);
      const { now } = await readClock(transaction.client);
      const previousSecretUntil = new Date(now.getTime() + webhooks.pace.rotationMs);
      const endpoint = await transaction.prisma.webhookEndpoint.update({
        where: { platformId_id: { platformId, id } },
        data: { secret: sealed, previousSecret, previousSecretUntil },
      });
      return { result: endpointRow(caller, id), answer: { endpoint, secret } };
    },
    repeat: ({ row }) => secretIsGone(row?.id),
  };
});

function readTypes(types: readonly EventType[] | null | undefined): EventType[] | undefined {
  if (types == null) return undefined;
  const allowed: readonly EventType[] = webhookTypes;
  const refused = types.find((type) => !allowed.includes(type));
  if (refused !== undefined)
    throw invalid(`${refused} is only in the feed; webhooks are sent for ${webhookTypes.join(', ')}`, ['eventTypes']);
  if (types.length === 0) throw invalid('give at least one type of event, or omit the list to get all', ['eventTypes']);
  return [...new Set(types)];
}

function endpointRow(caller: Caller, id: string) {
  return { type: 'WebhookEndpoint', row: { platform_id: caller.platformId, id } } as const;
}

async function secretIsGone(uuid = ''): Promise<never> {
  const existingId = publicId('WebhookEndpoint', uuid);
  const message = `this idempotency key was used before, for ${existingId}; its secret is not shown again`;
  throw new Refusal('CONFLICT', message, { path: keyPath, ...(uuid && { existingId }) }, true);
}

// Creates, changes and removes endpoints in the caller's transaction. `tokenId` is the token that created an endpoint,
// or that last changed its URL, enabled it or subscribed it to approvals. If that token is revoked, the endpoint is
// disabled, so the caller's token must still be valid. The lock order is platform, tokens, endpoint.

const maxEndpoints = 20;

/**
 * Creates an endpoint for new events of the given types, and sends it a test event. Returns it and its secret.
 * @throws Refusal FORBIDDEN (the caller's token is revoked or may not approve payments), CONFLICT (the platform has the
 *   maximum number of endpoints), SERVICE_UNAVAILABLE (no key for secrets is set)
 */
export async function insertEndpoint(
  webhooks: Webhooks,
  { client, prisma }: Transaction,
  caller: Caller,
  fields: NewEndpoint & { readonly eventTypes: readonly EventType[]; readonly ofConfig: boolean },
) {
  const { platformId } = caller;
  requireMayApprove(caller, fields.eventTypes);
  await lockPlatform(client, caller);
  const tokenId = await lockMaker(client, caller);
  if ((await prisma.webhookEndpoint.count({ where: { platformId } })) >= maxEndpoints)
    throw new Refusal('CONFLICT', `a platform can have at most ${maxEndpoints} webhook endpoints: delete one first`);
  const { id } = await readClock(client);
  const { secret, sealed } = sealedSecret(webhooks, platformId, id);
  const position = await endOfFeed(prisma, caller);
  const eventTypes = [...fields.eventTypes];
  const endpoint = await prisma.webhookEndpoint.create({
    data: { ...fields, platformId, id, eventTypes, secret: sealed, position, tokenId },
  });
  await announceTest(client, platformId, id);
  return { endpoint, secret };
}

export interface EndpointChange extends Expecting {
  readonly url?: string | null | undefined;
  readonly eventTypes?: readonly EventType[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
}

const enabledState = { status: 'ENABLED', failures: 0, failingSince: null, disabledAt: null, notice: null } as const;

/**
 * Changes an endpoint. If it is not disabled, changing its URL resets its failures and sends a test event. Enabling an
 * endpoint does not send the events that it missed; `replay` does.
 * @throws Refusal FORBIDDEN (the caller's token is revoked or may not approve payments), WEBHOOK_ENDPOINT_NOT_FOUND
 */
export async function changeEndpoint(transaction: Transaction, caller: Caller, id: string, change: EndpointChange) {
  const { url, eventTypes, description, enabled } = change;
  const { client, prisma } = transaction;
  const { platformId } = caller;
  const tokenId = await lockMaker(client, caller);
  const before = await lockEndpoint(transaction, caller, id, change);
  const changesUrl = typeof url === 'string' && url !== before.url;
  const enables = enabled === true && before.status === 'DISABLED';
  const disables = enabled === false && before.status !== 'DISABLED';
  const approves = eventTypes?.includes(approvalType) === true && !before.eventTypes.includes(approvalType);
  const takesOver = enables || changesUrl || approves;
  if (takesOver) requireMayApprove(caller, eventTypes ?? before.eventTypes);
  const { now } = await readClock(client);
  const endpoint = await prisma.webhookEndpoint.update({
    where: { platformId_id: { platformId, id } },
    data: {
      url: url ?? undefined,
      eventTypes: eventTypes ? [...eventTypes] : undefined,
      description,
      ...((enables || (changesUrl && before.status !== 'DISABLED')) && { ...enabledState, failuresAfter: now }),
      ...(enables && { position: await endOfFeed(prisma, caller) }),
      ...(takesOver && { tokenId }),
      ...(disables && { status: 'DISABLED', disabledAt: now, notice: 'Disabled by the platform.' }),
    },
  });
  if (enables || disables) await dropPending(client, platformId, id);
  if (changesUrl && endpoint.status !== 'DISABLED') await announceTest(client, platformId, id);
  return endpoint;
}

/** The type of event for which an endpoint's response can approve a payment. */
const approvalType = 'INCOMING_PAYMENT';

/** Refuses an endpoint whose responses can approve payments, unless the caller's own token may approve them. */
function requireMayApprove({ permissions }: Caller, eventTypes: readonly EventType[]): void {
  if (permissions.includes('TRANSACT') || !eventTypes.includes(approvalType)) return;
  const why = `which is required for an endpoint that receives ${approvalType}, because its responses approve payments`;
  throw new Refusal('FORBIDDEN', `this token lacks the permission TRANSACT, ${why}`);
}

/** Removes an endpoint, if it exists, along with all its deliveries. */
export async function removeEndpoint(prisma: Prisma.TransactionClient, caller: Caller, id: string): Promise<void> {
  await prisma.webhookEndpoint.deleteMany({ where: { AND: [visibleToPlatform(caller), { id }] } });
}

/** Generates a signing secret. Returns it both in plain text and as stored. */
export function sealedSecret(webhooks: Webhooks, platformId: string, id: string) {
  const secret = newSigningSecret();
  return { secret, sealed: new Uint8Array(requireBox(webhooks).seal(secret, secretOwner(platformId, id))) };
}

async function endOfFeed(prisma: Prisma.TransactionClient, { platformId }: Caller): Promise<bigint> {
  return (await prisma.feedHead.findFirst({ where: { platformId } }))?.sequence ?? 0n;
}

/**
 * Creates the endpoint in a platform's settings, changes its URL, or removes it if `url` is null. The caller's
 * transaction must have locked the platform's row. The endpoint is marked `ofConfig` and receives every type of event.
 * A test event is sent to a new URL. Setting the URL of a disabled endpoint, even to its current value, enables it.
 * @returns the signing secret of a new endpoint, which is shown only here; undefined if none was created
 * @throws Refusal FORBIDDEN, CONFLICT (the platform has the maximum number of endpoints)
 */
export async function setConfigEndpoint(
  webhooks: Webhooks,
  transaction: Transaction,
  caller: Caller,
  url: string | null,
): Promise<string | undefined> {
  authorize(caller, url === null ? 'deleteWebhookEndpoint' : 'updateWebhookEndpoint');
  const endpoint = await findConfigEndpoint(transaction.prisma, caller);
  if (url === null) {
    if (endpoint) await removeEndpoint(transaction.prisma, caller, endpoint.id);
    return undefined;
  }
  if (endpoint) {
    await changeEndpoint(transaction, caller, endpoint.id, { url, enabled: true });
    return undefined;
  }
  const description = 'The webhookEndpoint of the settings.';
  const row = { url, description, eventTypes: webhookTypes, ofConfig: true };
  return (await insertEndpoint(webhooks, transaction, caller, row)).secret;
}

/** Returns a string that identifies the state of the endpoint in the settings. */
export function stateOf(endpoint: WebhookEndpoint | null): string {
  return endpoint ? `${endpoint.id.slice(-12)}.${endpoint.version}` : 'none';
}

/** Locks the endpoint in the settings. Throws CONFLICT if its state differs from the given one. */
export async function checkConfigEndpoint(transaction: Transaction, caller: Caller, state: string): Promise<void> {
  await lockMaker(transaction.client, caller);
  const found = await findConfigEndpoint(transaction.prisma, caller);
  const endpoint = found && (await lockEndpoint(transaction, caller, found.id));
  if (stateOf(endpoint) !== state)
    throw new Refusal('CONFLICT', 'the webhook endpoint in the settings has since changed', ['expectedVersion']);
}

/**
 * Sends a test event to the endpoint in the settings, or to the registered endpoint at `url`, and waits for the
 * response. Only its status is returned, because otherwise callers could read data that only this service can reach.
 * @throws Refusal WEBHOOK_ENDPOINT_NOT_SET, WEBHOOK_DELIVERY_ERROR (no response), CONFLICT (the endpoint is disabled),
 * SERVICE_UNAVAILABLE (the attempt has not ended: repeat the call with the same key), IDEMPOTENCY_MISMATCH
 */
export async function testConfigEndpoint(
  webhooks: Webhooks,
  caller: Caller,
  { url }: { readonly url?: string | undefined },
  idempotencyKey: string | undefined,
): Promise<CommandResult<{ readonly url: string; readonly responseStatus: number }>> {
  authorize(caller, 'sendTestWebhook');
  const { prisma } = webhooks.payments.database;
  const endpoint = await (url === undefined
    ? findConfigEndpoint(prisma, caller)
    : findEndpointByUrl(prisma, caller, url));
  if (!endpoint) {
    throw url === undefined
      ? new Refusal('WEBHOOK_ENDPOINT_NOT_SET', 'the platform has no webhook endpoint: set one first')
      : new Refusal('WEBHOOK_ENDPOINT_NOT_SET', 'no webhook endpoint has this URL', { path: ['url'], value: url });
  }
  const input = { endpointId: publicId('WebhookEndpoint', endpoint.id) };
  const outcome = await sendTest(webhooks, caller, input, idempotencyKey);
  const { responseStatus, replayed } = outcome;
  if (responseStatus !== null) return { row: { url: outcome.url, responseStatus }, replayed };
  if (!outcome.ended) {
    const message = 'the receiver has not answered yet: send the request again with the same key';
    throw new Refusal('SERVICE_UNAVAILABLE', message, { retryAfter: 1 });
  }
  const reason = outcome.error ?? 'the endpoint was disabled in the meantime';
  throw new Refusal('WEBHOOK_DELIVERY_ERROR', `the receiver did not answer: ${reason}`, { url: outcome.url }, replayed);
}
