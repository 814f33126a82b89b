import type { Caller } from '../../access/caller.ts';
import { visibleToPlatform } from '../../access/visible.ts';
import { Refusal } from '../../core/refusal.ts';
import { lockPlatform } from '../../core/tenant.ts';
import { readClock } from '../../database/clock.ts';
import type { EventType, Prisma, WebhookEndpoint } from '../../database/generated/client/client.ts';
import type { Transaction } from '../../database/transaction.ts';
import { dropPending } from '../delivery/drop-pending.ts';
import { newSigningSecret } from '../delivery/signing.ts';
import { boxOf, secretOwner, type Webhooks } from '../webhooks.ts';
import { lockEndpoint } from './endpoint-queries.ts';
import { announceTest } from './test-event.ts';

/** What makes, changes and removes an endpoint in the caller's transaction. */

/** The most endpoints that a platform may have. */
const maxEndpoints = 20;

/** An endpoint with its signing secret, which is shown this once. */
export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint;
  readonly secret: string;
}

/**
 * Makes an endpoint, which gets every event from now on, and sends it a test event.
 * @throws Refusal CONFLICT (the platform has as many as it may), SERVICE_UNAVAILABLE (secrets cannot be kept here)
 */
export async function insertEndpoint(
  webhooks: Webhooks,
  { client, prisma }: Transaction,
  caller: Caller,
  given: {
    readonly url: string;
    readonly description?: string | null | undefined;
    readonly eventTypes: readonly EventType[];
    /** Whether it is the one that the platform's settings name. */
    readonly ofConfig: boolean;
  },
): Promise<EndpointWithSecret> {
  const { platformId } = caller;
  await lockPlatform(client, caller);
  if ((await prisma.webhookEndpoint.count({ where: { platformId } })) >= maxEndpoints)
    throw new Refusal('CONFLICT', `a platform has at most ${maxEndpoints} webhook endpoints`);
  const { id } = await readClock(client);
  const { secret, sealed } = sealedSecret(webhooks, platformId, id);
  const { url, description, ofConfig } = given;
  const position = await endOfFeed(prisma, caller);
  const endpoint = await prisma.webhookEndpoint.create({
    data: { platformId, id, url, description, eventTypes: [...given.eventTypes], ofConfig, secret: sealed, position },
  });
  await announceTest(client, platformId, id);
  return { endpoint, secret };
}

export interface EndpointChange {
  readonly url?: string | null | undefined;
  readonly eventTypes?: readonly EventType[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
}

const healthy = {
  status: 'ENABLED',
  failures: 0,
  failingSince: null,
  disabledAt: null,
  notice: null,
} as const satisfies Prisma.WebhookEndpointUpdateInput;

/**
 * Changes an endpoint. A new URL begins without failures and gets a test event. What an endpoint missed while it was
 * disabled is not sent by itself when it is enabled: it is replayed as a range.
 * @throws Refusal WEBHOOK_ENDPOINT_NOT_FOUND
 */
export async function changeEndpoint(
  transaction: Transaction,
  caller: Caller,
  id: string,
  { url, eventTypes, description, enabled }: EndpointChange,
): Promise<WebhookEndpoint> {
  const { client, prisma } = transaction;
  const { platformId } = caller;
  const before = await lockEndpoint(transaction, caller, id);
  const moves = typeof url === 'string' && url !== before.url;
  const enables = enabled === true && before.status === 'DISABLED';
  const disables = enabled === false && before.status !== 'DISABLED';
  const { now } = await readClock(client);
  const endpoint = await prisma.webhookEndpoint.update({
    where: { platformId_id: { platformId, id } },
    data: {
      url: url ?? undefined,
      eventTypes: eventTypes ? [...eventTypes] : undefined,
      description,
      ...((enables || (moves && before.status === 'FAILING')) && healthy),
      ...(enables && { position: await endOfFeed(prisma, caller) }),
      ...(disables && { status: 'DISABLED', disabledAt: now, notice: 'Disabled by the platform.' }),
    },
  });
  if (enables || disables) await dropPending(client, platformId, id);
  if (moves && endpoint.status !== 'DISABLED') await announceTest(client, platformId, id);
  return endpoint;
}

/**
 * Gives an endpoint a new signing secret; the one before signs beside it for a while.
 * @throws Refusal WEBHOOK_ENDPOINT_NOT_FOUND, SERVICE_UNAVAILABLE (secrets cannot be kept here)
 */
export async function changeSecret(
  webhooks: Webhooks,
  transaction: Transaction,
  caller: Caller,
  id: string,
): Promise<EndpointWithSecret> {
  const { platformId } = caller;
  const before = await lockEndpoint(transaction, caller, id);
  const { secret, sealed } = sealedSecret(webhooks, platformId, id);
  const { now } = await readClock(transaction.client);
  const endpoint = await transaction.prisma.webhookEndpoint.update({
    where: { platformId_id: { platformId, id } },
    data: {
      secret: sealed,
      previousSecret: before.secret,
      previousSecretUntil: new Date(now.getTime() + webhooks.pace.rotationMs),
    },
  });
  return { endpoint, secret };
}

/** Removes an endpoint, if it is there, with all its deliveries. */
export async function removeEndpoint(prisma: Prisma.TransactionClient, caller: Caller, id: string): Promise<void> {
  await prisma.webhookEndpoint.deleteMany({ where: { AND: [visibleToPlatform(caller), { id }] } });
}

function sealedSecret(webhooks: Webhooks, platformId: string, id: string) {
  const secret = newSigningSecret();
  return { secret, sealed: new Uint8Array(boxOf(webhooks).seal(secret, secretOwner(platformId, id))) };
}

/** The last number given in the platform's feed. */
async function endOfFeed(prisma: Prisma.TransactionClient, { platformId }: Caller): Promise<bigint> {
  return (await prisma.feedHead.findUnique({ where: { platformId } }))?.sequence ?? 0n;
}
