import { hash } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { z } from 'zod';
import type { AccountDetails } from '../../core/account-fields.ts';
import { identityOf } from '../../core/account-types.ts';
import type { boundedCache } from '../../core/bounded-cache.ts';
import { InexactJson, parseJson, withoutNulls } from '../../core/json.ts';
import type { AccountCheck, AccountToCheck } from '../rail.ts';
import type {
  IdentityCheck,
  IdentityRequest,
  MovementsRequest,
  RailAccount,
  RailMovement,
  RailNews,
  RailWebhook,
  ReceivedWebhook,
} from '../rail-parts.ts';
import * as api from './upstream-client.ts';
import { type TransactionRecord, transactionPage } from './upstream-client.ts';

/** A platform's connection to its upstream service. */
export interface Upstream {
  readonly client: api.UpstreamClient;
  readonly settings: z.infer<typeof api.upstreamSettings>;
  /** The upstream ids of accounts, which never change, and of newly created customers. */
  readonly ids: ReturnType<typeof boundedCache<string>>;
}

const recheckMs = 5_000;

/** Returns the balances of the platform's own upstream accounts, by currency. */
export async function balances({ client }: Upstream): Promise<ReadonlyMap<string, bigint>> {
  const { data } = await client.get('/platform/internal-accounts', api.internalAccountList);
  return new Map(data.map(({ balance }) => [balance.currency.code, BigInt(balance.amount)]));
}

/** Returns the upstream id of the platform's own account in a currency. @throws UpstreamRefusal if there is none */
export async function internalId({ client, ids }: Upstream, currency: string): Promise<string> {
  const known = ids.get(currency);
  if (known !== undefined) return known;
  const [account] = (await client.get('/platform/internal-accounts', api.internalAccountList, { currency })).data;
  if (!account) throw new api.UpstreamRefusal('ACCOUNT_NOT_FOUND', `the platform has no ${currency} account upstream`);
  ids.set(currency, account.id);
  return account.id;
}

/** Returns the upstream id of an external account. @throws UpstreamRefusal if it is not registered upstream */
export async function externalId(upstream: Upstream, account: RailAccount, currency: string): Promise<string> {
  const key = `${currency} ${identityKey(account.type, account.details)}`;
  const known = upstream.ids.get(key);
  if (known !== undefined) return known;
  const found = await find(upstream, account, currency);
  if (!found) throw new api.UpstreamRefusal('ACCOUNT_NOT_FOUND', 'the account is not registered upstream');
  upstream.ids.set(key, found.id);
  return found.id;
}

/** Registers an external account upstream unless it already exists, and returns the result of the upstream check. */
export async function checkAccount(upstream: Upstream, account: AccountToCheck): Promise<AccountCheck> {
  const { id, type, currency, details, beneficiary } = account;
  const found = await find(upstream, account, currency);
  if (found) return checkOf(found);
  const body = {
    currency,
    platformAccountId: id,
    accountInfo: { ...details, accountType: type, ...(beneficiary && { beneficiary: withoutNulls(beneficiary) }) },
  };
  try {
    const command = { body, key: `account-${id}` };
    return checkOf(await upstream.client.post('/platform/external-accounts', api.externalAccountRecord, command));
  } catch (error) {
    if (error instanceof api.UpstreamRefusal) return { accepted: false, explanation: error.message };
    throw error;
  }
}

/** Finds an upstream account by its identity, which is unique per owner. Its other details stay as registered. */
async function find({ client }: Upstream, { type, details }: RailAccount, currency: string) {
  const { data } = await client.get('/platform/external-accounts', api.externalAccountList, { currency });
  const key = identityKey(type, details);
  const same = data.filter(({ accountInfo: { accountType, ...info } }) => {
    return accountType === type && identityKey(type, info) === key;
  });
  if (same.length > 1) throw new Error('the upstream service has more than one record of this account');
  return same[0];
}

function identityKey(type: RailAccount['type'], details: AccountDetails): string {
  const { bank, identifier } = identityOf(type, details);
  return JSON.stringify([type, bank, identifier]);
}

function checkOf(record: api.ExternalAccountRecord): AccountCheck {
  const verification = record.beneficiaryVerificationStatus ?? null;
  if (record.status === 'INACTIVE')
    return { accepted: false, explanation: 'the upstream service cannot use the account' };
  const isDecided = record.status === 'ACTIVE' && verification !== 'PENDING';
  return {
    accepted: true,
    status: record.status,
    verification,
    verifiedName: record.beneficiaryVerifiedData?.fullName ?? null,
    ...(!isDecided && { checkInMs: recheckMs }),
  };
}

/** Checks a customer's identity through an upstream counterpart of the same name. A new name gets a new counterpart. */
export async function checkIdentity(
  { client, settings: { identityMs: checkInMs } }: Upstream,
  customer: IdentityRequest,
): Promise<IdentityCheck & { readonly upstreamId: string }> {
  const known = customer.attempts > 0 ? await readCustomer(client, customer) : undefined;
  const { id, kycStatus: status } = known ?? (await makeCustomer(client, customer));
  return { upstreamId: id, status, ...(status === 'PENDING_REVIEW' && { checkInMs }) };
}

type Named = Omit<IdentityRequest, 'attempts'>;

/** Returns the upstream counterpart of a customer. Creates it if the customer predates the rail's connection. */
export async function customerThere(client: api.UpstreamClient, customer: Named): Promise<{ readonly id: string }> {
  return (await readCustomer(client, customer)) ?? (await makeCustomer(client, customer));
}

/** Reads an existing counterpart. Repeating the request that created it would only return the original response. */
async function readCustomer(client: api.UpstreamClient, customer: Named) {
  const query = { platformCustomerId: nameThere(customer) };
  const [found, another] = (await client.get('/customers', api.customerPage, query)).data;
  if (another) throw new Error('the upstream service has several customers with the same platformCustomerId');
  return found;
}

function makeCustomer(client: api.UpstreamClient, customer: Named) {
  const { customerType, name } = customer;
  const platformCustomerId = nameThere(customer);
  const body = {
    platformCustomerId,
    customerType,
    ...(customerType === 'INDIVIDUAL'
      ? name !== null && { fullName: name }
      : { businessInfo: { legalName: name ?? '' } }),
  };
  return client.post('/customers', api.customerRecord, { body, key: `customer-${platformCustomerId}` });
}

/** Returns the `platformCustomerId` to use upstream: the customer's uuid, and a suffix that changes with the name. */
function nameThere({ customerId, name }: Named): string {
  return `${customerId}-${hash('sha256', name ?? '').slice(0, 8)}`;
}

/** Returns the gateway's customer id contained in a `platformCustomerId`; undefined if it is not a counterpart's. */
export function customerIn(platformCustomerId: string | null | undefined): string | undefined {
  return /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-[0-9a-f]{8}$/.exec(platformCustomerId ?? '')?.[1];
}

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

/** The header fields that a webhook must contain exactly once. */
const fieldsSchema = z.object({
  'webhook-id': z.string().min(1),
  'webhook-timestamp': z.string().min(1),
  'webhook-signature': z.string().min(1),
});

/** Verifies a webhook's signature and age (standardwebhooks.com). Returns undefined if invalid. @throws InexactJson */
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

/** Returns whether a webhook asks for approval of an incoming payment, which is decided later, outside this rail. */
function asksForApproval(body: Uint8Array): boolean {
  const message = messageIn(body);
  return message?.type === 'INCOMING_PAYMENT' && message.transaction?.status === 'PENDING';
}

/** Returns a webhook's news about an order, a deposit or a customer's identity; empty for any other webhook. */
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

/** Returns the memo for an upstream payment, which names its order or deposit for operators and reconciliation. */
export function memoOf(what: 'order' | 'return of' | 'deposit' | 'funding of' | 'unused of', id: string): string {
  return `${what} ${id}`;
}

type Ends = Pick<TransactionRecord, 'description' | 'source' | 'destination'>;

/** Returns whether a payment is the gateway's own transfer between two internal upstream accounts. */
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

/** Returns whether a payment has begun. A quote's payment begins when the quote is executed. */
export function hasBegun({ status, quoteId }: TransactionRecord): boolean {
  return quoteId === undefined || (status !== 'PENDING' && status !== 'EXPIRED');
}

function movementOf(transaction: TransactionRecord): RailMovement {
  const { id, type, createdAt, status, description, receivedAmount, sentAmount } = transaction;
  // For an outgoing payment, the amount is what left the upstream account.
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
