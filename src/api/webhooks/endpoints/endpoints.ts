import { keyPath } from '../../../core/idempotency.ts';
import { publicId } from '../../../core/ids.ts';
import { type Expecting, invalid, Refusal } from '../../../core/refusal.ts';
import { checkText, longest } from '../../../core/texts.ts';
import type { Caller } from '../../../domain/access/caller.ts';
import type { EventType } from '../../../infra/database/generated/client/client.ts';
import { readClock } from '../../../infra/database/transaction.ts';
import { loopbackAllowed, requireBox, type Webhooks, webhookCommand, webhookTypes } from '../webhooks.ts';
import {
  changeEndpoint,
  type EndpointChange,
  insertEndpoint,
  removeEndpoint,
  sealedSecret,
} from './endpoint-changes.ts';
import { endpointUuid, lockEndpoint, readEndpoint } from './endpoint-queries.ts';
import { parseEndpointUrl } from './endpoint-url.ts';

type NewEndpoint = Pick<EndpointChange, 'eventTypes' | 'description'> & { readonly url: string };
type NamedEndpoint = Expecting & { readonly endpointId: string };

/**
 * Creates an endpoint, which gets all new events, and sends it a test event.
 * @returns the endpoint and its signing secret, which is not shown again: a repeated call is refused with CONFLICT
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

/** Changes an endpoint. A new URL starts with no failures and gets a test event. */
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
 * @throws Refusal for an unknown endpoint, and for a version that differs from the expected one
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
    throw invalid(`${refused} is only in the feed; webhooks exist for ${webhookTypes.join(', ')}`, ['eventTypes']);
  if (types.length === 0)
    throw invalid('give at least one type of event, or leave the list out for all', ['eventTypes']);
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
