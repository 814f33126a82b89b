import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { z } from 'zod';
import { InexactJson, parseJson } from '../../core/json.ts';
import type { RailNews, RailWebhook, ReceivedWebhook } from '../rail-parts.ts';
import { customerIn } from './upstream-identity.ts';
import { isWithin, orderIdIn } from './upstream-movements.ts';

const messageSchema = z.object({
  type: z.string(),
  platformCustomerId: z.string().nullish(),
  transaction: z
    .object({
      status: z.string(),
      description: z.string().optional(),
      platformCustomerId: z.string().nullish(),
      source: z.object({ accountId: z.string().optional() }).optional(),
      destination: z.object({ accountId: z.string().optional() }).optional(),
    })
    .optional(),
});

const returnStatuses: ReadonlySet<string> = new Set(['REFUNDED', 'FAILED', 'REJECTED']);

/** The header fields of a webhook, each of which occurs exactly once. */
const fieldsSchema = z.object({
  'webhook-id': z.string().min(1),
  'webhook-timestamp': z.string().min(1),
  'webhook-signature': z.string().min(1),
});

/** Verifies a webhook's signature and age (standardwebhooks.com); undefined if it is not valid. @throws InexactJson */
export function verifyWebhook(secret: string | undefined, webhook: RailWebhook): ReceivedWebhook | undefined {
  if (secret === undefined) return undefined;
  const { data: fields } = fieldsSchema.safeParse(webhook.headers);
  if (!fields) return undefined;
  try {
    new Webhook(secret).verify(Buffer.from(webhook.body), fields, { jsonParse: false });
    return { id: fields['webhook-id'], status: asksForApproval(webhook.body) ? 202 : 200 };
  } catch (error) {
    if (error instanceof WebhookVerificationError) return undefined;
    throw error;
  }
}

/** Returns whether upstream asks for approval of an incoming payment, which is decided later, not by this rail. */
function asksForApproval(body: Uint8Array): boolean {
  const message = messageIn(body);
  return message?.type === 'INCOMING_PAYMENT' && message.transaction?.status === 'PENDING';
}

/** Reads what a webhook says about orders, deposits or a customer's identity; empty for any other webhook. */
export function newsIn(body: Uint8Array): readonly RailNews[] {
  const message = messageIn(body);
  if (message?.type === 'KYC_STATUS') {
    const customerId = customerIn(message.platformCustomerId);
    return customerId === undefined ? [] : [{ kind: 'identity', customerId }];
  }
  if (!message?.transaction) return [];
  const { transaction } = message;
  const { description, status, platformCustomerId } = transaction;
  const isIncoming = message.type === 'INCOMING_PAYMENT';
  const orderId = orderIdIn(description);
  // Money for an upstream customer never belongs to a gateway order, whatever the payer wrote in the description.
  if (orderId !== undefined && !(isIncoming && platformCustomerId))
    return [{ kind: 'order', orderId, mayHaveReturned: returnStatuses.has(status) }];
  return isIncoming && !isWithin(transaction) ? [{ kind: 'deposit' }] : [];
}

function messageIn(body: Uint8Array) {
  try {
    return messageSchema.safeParse(parseJson(Buffer.from(body).toString())).data;
  } catch (error) {
    if (error instanceof InexactJson) throw error;
    return undefined;
  }
}
