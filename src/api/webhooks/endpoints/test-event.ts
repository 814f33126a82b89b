import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Given } from '../../../core/conditions.ts';
import { outsideWait } from '../../../core/outside-wait.ts';
import { Refusal } from '../../../core/refusal.ts';
import { Slots } from '../../../core/slots.ts';
import type { Caller } from '../../../domain/access/caller.ts';
import { afterCommit } from '../../../infra/database/faults.ts';
import { statement } from '../../../infra/database/statement.ts';
import { type Webhooks, webhookCommand } from '../webhooks.ts';
import { endpointDisabled, endpointUuid, readEndpoint } from './endpoint-queries.ts';

/** How long a caller waits for the outcome of its test, in ms. After that, the delivery continues like any other. */
const waitMs = 8_000;
/** How many of a platform's tests may wait for responses at the same time in one process. */
const maxWaiting = 16;
/** The pause before the outcome is checked again, in milliseconds. It doubles each time, up to `maxPollMs`. */
const pollMs = 50;
const maxPollMs = 800;

const announceStatement = statement<{ eventId: string }>(
  'announce_test',
  `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
   values ($1, uuid_v7(), 'TEST', clock_ms(), 1, jsonb_build_object('endpoint_id', $2::uuid)) returning event_id`,
);

/** Adds a test event for one endpoint to the outbox, to be delivered like any other event. Returns the event's id. */
export async function announceTest(client: pg.PoolClient, platformId: string, endpointId: string): Promise<string> {
  const [row] = await announceStatement(client, platformId, endpointId);
  if (!row) throw new Error('announce_test returned no row');
  return row.eventId;
}

/**
 * Sends a test event to an endpoint and waits for the outcome of its first attempt.
 * @throws Refusal FORBIDDEN, WEBHOOK_ENDPOINT_NOT_FOUND, CONFLICT (the endpoint is disabled), RATE_LIMITED (too many
 *   tests are waiting), IDEMPOTENCY_MISMATCH
 */
export async function sendTest(webhooks: Webhooks, caller: Caller, input: NamedEndpoint, key: Given<string>) {
  const { platformId } = caller;
  const places = webhooks.waitingTests.get(platformId) ?? new Slots(maxWaiting);
  webhooks.waitingTests.set(platformId, places);
  if (places.isFull) {
    const message = `this platform already has ${maxWaiting} webhook tests waiting for responses; try again later`;
    throw new Refusal('RATE_LIMITED', message, { retryAfter: 1 });
  }
  return places.run(async () => {
    const { id, eventId, url, replayed } = await testOnce(webhooks, caller, input, key);
    const outcome = await afterCommit(outsideWait(firstOutcome(webhooks, caller, id, eventId)));
    // The endpoint's URL at the time of the call.
    return { url, ...outcome, replayed };
  });
}

interface NamedEndpoint {
  readonly endpointId: string;
}

const testOnce = webhookCommand((_webhooks, caller, { endpointId }: NamedEndpoint) => {
  const id = endpointUuid(endpointId);
  return {
    operation: 'sendTestWebhook',
    effect: async ({ client, prisma }) => {
      const endpoint = await readEndpoint(prisma, caller, id);
      if (endpoint.status === 'DISABLED') throw endpointDisabled(id);
      const eventId = await announceTest(client, caller.platformId, id);
      const result = { eventId, url: endpoint.url };
      return { result, answer: { id, ...result } };
    },
    repeat: async (result) => ({ id, eventId: String(result.eventId), url: String(result.url) }),
  };
});

async function firstOutcome(webhooks: Webhooks, caller: Caller, id: string, eventId: string) {
  const { prisma } = webhooks.payments.database;
  const deadline = Date.now() + waitMs;
  for (let pauseMs = pollMs; ; pauseMs = Math.min(2 * pauseMs, maxPollMs)) {
    // The event is sequenced after the command has committed, and the delivery is created after that.
    const event = await prisma.event.findFirst({
      where: { platformId: caller.platformId, id: eventId },
      select: {
        deliveries: { where: { endpointId: id }, include: { attempts: { orderBy: { number: 'asc' }, take: 1 } } },
      },
    });
    const delivery = event?.deliveries[0];
    const attempt = delivery?.attempts[0];
    const ended = attempt !== undefined || (delivery !== undefined && delivery.status !== 'PENDING');
    if (ended || Date.now() >= deadline)
      return {
        delivered: delivery?.status === 'DELIVERED',
        /** The HTTP status of the response; null if no response has been received. */
        responseStatus: attempt?.responseStatus ?? null,
        ended,
        /** Why the first attempt failed, if it did. */
        error: attempt?.error ?? null,
      };
    await delay(pauseMs);
  }
}
