import { publicId } from '../../../core/ids.ts';
import { Refusal } from '../../../core/refusal.ts';
import type { Caller } from '../../../domain/access/caller.ts';
import { authorize } from '../../../domain/access/operations.ts';
import { lockMaker } from '../../../domain/access/tokens/token-locks.ts';
import type { CommandResult } from '../../../domain/commands/command.ts';
import type { WebhookEndpoint } from '../../../infra/database/generated/client/client.ts';
import type { Transaction } from '../../../infra/database/transaction.ts';
import { type Webhooks, webhookTypes } from '../webhooks.ts';
import { changeEndpoint, insertEndpoint, removeEndpoint } from './endpoint-changes.ts';
import { findConfigEndpoint, findEndpointByUrl, lockEndpoint } from './endpoint-queries.ts';
import { sendTest } from './test-event.ts';

// Manages the endpoint of a platform's settings, which REST offers (decision 51): an endpoint like those created
// through GraphQL, for every type of event, marked `ofConfig`. Setting it never changes the others.

/**
 * Creates the endpoint, changes its URL or (with null) removes it, in the caller's transaction, which has locked the
 * platform's row. A new URL gets a test event. Setting the URL of a disabled endpoint, even the same one, enables it:
 * it then gets all new events.
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

/** Returns a text that differs for each state of the endpoint of the settings. */
export function stateOf(endpoint: WebhookEndpoint | null): string {
  return endpoint ? `${endpoint.id.slice(-12)}.${endpoint.version}` : 'none';
}

/** Checks that the endpoint is in this state, and keeps it so during the transaction. Throws Refusal CONFLICT. */
export async function checkConfigEndpoint(transaction: Transaction, caller: Caller, state: string): Promise<void> {
  await lockMaker(transaction.client, caller);
  const found = await findConfigEndpoint(transaction.prisma, caller);
  const endpoint = found && (await lockEndpoint(transaction, caller, found.id));
  if (stateOf(endpoint) !== state)
    throw new Refusal('CONFLICT', 'the webhook endpoint of the settings has changed meanwhile', ['expectedVersion']);
}

/**
 * Sends a test event to the endpoint of the settings, or to the registered one at `url`, and waits for the response.
 * The event goes to no other address: a receiver can only trust signatures of a secret that it has. Only the status of
 * the response is returned, or callers could read data that only this service can reach.
 * @returns the URL of the endpoint and the status, whatever it is
 * @throws Refusal WEBHOOK_ENDPOINT_NOT_SET, WEBHOOK_DELIVERY_ERROR (no response), CONFLICT (the endpoint is disabled),
 *   SERVICE_UNAVAILABLE (the attempt has not ended: repeat the call with the same key), IDEMPOTENCY_MISMATCH
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
  const endpointId = publicId('WebhookEndpoint', endpoint.id);
  const outcome = await sendTest(webhooks, caller, { endpointId }, idempotencyKey);
  const { responseStatus, replayed } = outcome;
  if (responseStatus !== null) return { row: { url: outcome.url, responseStatus }, replayed };
  if (!outcome.ended) {
    throw new Refusal(
      'SERVICE_UNAVAILABLE',
      'the receiver has not answered yet: send the request again with the same key',
      {
        retryAfter: 1,
      },
    );
  }
  const reason = outcome.error ?? 'the endpoint has been disabled in the meantime';
  throw new Refusal('WEBHOOK_DELIVERY_ERROR', `the receiver did not answer: ${reason}`, { url: outcome.url }, replayed);
}
