import type { Caller } from '../../access/caller.ts';
import { authorize } from '../../access/operations.ts';
import { publicId } from '../../core/ids.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Transaction } from '../../database/transaction.ts';
import type { CommandResult } from '../../payments/command.ts';
import type { Webhooks } from '../webhooks.ts';
import { changeEndpoint, insertEndpoint, removeEndpoint } from './endpoint-changes.ts';
import { findConfigEndpoint, findEndpointByUrl } from './endpoint-queries.ts';
import { webhookTypes } from './endpoints.ts';
import { sendTest } from './test-event.ts';

/**
 * The one endpoint of a platform's settings, as REST knows it (decision 51): an endpoint like those that GraphQL
 * makes, for every type of event, and known as the settings' own. Setting it never touches the others.
 */

/**
 * Sets, moves or (with null) removes it, in the caller's transaction, which holds the platform's row. A URL that is new
 * gets a test event. A disabled endpoint whose URL is set, be it the same, gets events again from now on.
 * @returns the signing secret of an endpoint that was made, which is shown this once; undefined where there is no new one
 * @throws Refusal CONFLICT (the platform has as many endpoints as it may)
 */
export async function setConfigEndpoint(
  webhooks: Webhooks,
  transaction: Transaction,
  caller: Caller,
  url: string | null,
): Promise<string | undefined> {
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

/**
 * Sends a test event to the endpoint of the settings, or to the registered one at `url`, and waits for the answer. It
 * answers where the event went and the receiver's status, whatever that is; what else a receiver says is kept from
 * everybody, or the service could be used to read what only it can reach. It goes to no other address: a receiver can only trust what is signed with a secret that it has.
 * @throws Refusal WEBHOOK_ENDPOINT_NOT_SET, WEBHOOK_DELIVERY_ERROR (no answer came), CONFLICT (the endpoint is disabled),
 *   SERVICE_UNAVAILABLE (nothing is known yet: ask again with the same key), IDEMPOTENCY_MISMATCH
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
      ? new Refusal('WEBHOOK_ENDPOINT_NOT_SET', 'the settings name no webhook endpoint: set one first')
      : new Refusal('WEBHOOK_ENDPOINT_NOT_SET', 'no webhook endpoint has this URL', { path: ['url'], value: url });
  }
  const endpointId = publicId('WebhookEndpoint', endpoint.id);
  const sent = await sendTest(webhooks, caller, { endpointId }, idempotencyKey);
  const { responseStatus, replayed } = sent;
  if (responseStatus !== null) return { row: { url: sent.url, responseStatus }, replayed };
  if (!sent.ended) {
    throw new Refusal('SERVICE_UNAVAILABLE', 'the test has not been answered yet: ask again with the same key', {
      retryAfter: 1,
    });
  }
  const reason = sent.error ?? 'the endpoint was disabled meanwhile';
  throw new Refusal('WEBHOOK_DELIVERY_ERROR', `the test was not answered: ${reason}`, { url: sent.url }, replayed);
}
