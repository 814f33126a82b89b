import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { z } from 'zod';
import { InexactJson, parseJson } from '../../core/json.ts';
import type { MovementsRequest, RailMovement, RailNews, RailWebhook, ReceivedWebhook } from '../rail-parts.ts';
import { customerIn, type Upstream } from './upstream-accounts.ts';
import { type TransactionRecord, transactionPage } from './upstream-client.ts';

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

/** Returns the id of the order named in a payment's description, or undefined. */
export function orderIdIn(description: string | undefined): string | undefined {
  return /^order ([0-9a-f-]{36})$/.exec(description ?? '')?.[1];
}

/** Returns the memo of an upstream payment, which names its order or deposit for operators and reconciliation. */
export function memoOf(what: 'order' | 'return of' | 'deposit' | 'funding of' | 'unused of', id: string): string {
  return `${what} ${id}`;
}

type Ends = Pick<TransactionRecord, 'description' | 'source' | 'destination'>;

/** Returns whether a payment only moves money between the platform's upstream accounts, whatever its memo says. */
export function isWithin({ description, source, destination }: Ends): boolean {
  const isOwn = (end: TransactionRecord['source']) => end?.accountId?.startsWith('InternalAccount:') === true;
  const isOurs = /^(deposit|funding of|unused of) [0-9a-f-]{36}$/.test(description ?? '');
  return isOurs && isOwn(source) && isOwn(destination);
}

export async function readMovements({ client }: Upstream, { from, to, cursor }: MovementsRequest) {
  const period = { startDate: from.toISOString(), endDate: to.toISOString() };
  const query = { ...period, sortOrder: 'asc', limit: '100', cursor };
  const { data, nextCursor } = await client.get('/transactions', transactionPage, query);
  return { movements: data.filter((one) => hasBegun(one) && !isWithin(one)).map(movementOf), nextCursor };
}

export const states: Readonly<Record<TransactionRecord['status'], RailMovement['state']>> = {
  CREATED: 'UNDER_WAY',
  PENDING: 'UNDER_WAY',
  PROCESSING: 'UNDER_WAY',
  COMPLETED: 'SETTLED',
  REJECTED: 'FAILED',
  FAILED: 'FAILED',
  EXPIRED: 'FAILED',
  REFUNDED: 'RETURNED',
};

/** Returns whether a payment has begun. An unexecuted quote's payment has not, because it moves no money. */
export function hasBegun({ status, quoteId }: TransactionRecord): boolean {
  return quoteId === undefined || (status !== 'PENDING' && status !== 'EXPIRED');
}

function movementOf(transaction: TransactionRecord): RailMovement {
  const { id, type, createdAt, status, description, receivedAmount, sentAmount } = transaction;
  // An outgoing payment has moved the amount that it took from the upstream account.
  const moved = type === 'OUTGOING' ? (sentAmount ?? receivedAmount) : receivedAmount;
  return {
    orderId: orderIdIn(description),
    returnOf: /^return of ([0-9a-f-]{36})$/.exec(description ?? '')?.[1],
    reference: id,
    amount: BigInt(moved.amount),
    currency: moved.currency.code,
    direction: type && (type === 'INCOMING' ? 'IN' : 'OUT'),
    at: createdAt === undefined ? undefined : new Date(createdAt),
    state: states[status],
  };
}
