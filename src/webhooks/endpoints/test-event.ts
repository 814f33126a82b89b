import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Caller } from '../../access/caller.ts';
import { runIdempotent } from '../../access/run-idempotent.ts';
import { Refusal } from '../../core/refusal.ts';
import { afterCommit } from '../../database/faults.ts';
import { statement } from '../../database/statement.ts';
import type { Webhooks } from '../webhooks.ts';
import { endpointUuid, readEndpoint } from './endpoint-queries.ts';

/** How long a caller waits for the outcome of its test. The delivery itself goes on as any other. */
const waitMs = 8_000;
const lookAgainMs = 50;

const announceStatement = statement<{ eventId: string }>(
  'announce_test',
  `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
   values ($1, uuid_v7(), 'TEST', clock_ms(), 1, jsonb_build_object('endpoint_id', $2::uuid)) returning event_id`,
);

/** Puts a test event for one endpoint into the feed, where it becomes a delivery like any event. */
export async function announceTest(client: pg.PoolClient, platformId: string, endpointId: string): Promise<string> {
  const [row] = await announceStatement(client, platformId, endpointId);
  if (!row) throw new Error('an insert answers its row');
  return row.eventId;
}

export interface TestOutcome {
  /** Where the event was sent. */
  readonly url: string;
  readonly delivered: boolean;
  /** The status of the first answer; null when there was none (yet). */
  readonly responseStatus: number | null;
  /** Whether the first attempt has ended; otherwise nothing is known of it yet. */
  readonly ended: boolean;
  /** Why the first attempt failed, where it did. */
  readonly error: string | null;
}

/** Sends a test event to an endpoint and waits for the outcome of its first attempt. */
export async function sendTest(
  webhooks: Webhooks,
  caller: Caller,
  input: { readonly endpointId: string },
  idempotencyKey: string | null | undefined,
): Promise<TestOutcome & { replayed: boolean }> {
  const id = endpointUuid(input.endpointId);
  const { eventId, url, replayed } = await runIdempotent(webhooks.payments.database, caller, {
    operation: 'sendTestWebhook',
    input,
    idempotencyKey,
    effect: async ({ client, prisma }) => {
      const endpoint = await readEndpoint(prisma, caller, id);
      if (endpoint.status === 'DISABLED') throw new Refusal('CONFLICT', 'the endpoint is disabled: enable it first');
      const eventId = await announceTest(client, caller.platformId, id);
      const sent = { eventId, url: endpoint.url };
      return { result: sent, answer: sent };
    },
    repeat: async (result) => ({ eventId: String(result.eventId), url: String(result.url) }),
  });
  return { url, ...(await afterCommit(firstOutcome(webhooks, caller, id, eventId))), replayed };
}

async function firstOutcome(
  webhooks: Webhooks,
  caller: Caller,
  id: string,
  eventId: string,
): Promise<Omit<TestOutcome, 'url'>> {
  const { prisma } = webhooks.payments.database;
  const deadline = Date.now() + waitMs;
  for (;;) {
    // The event comes into its place in the feed after the command, and its delivery after that.
    const event = await prisma.event.findUnique({
      where: { platformId_id: { platformId: caller.platformId, id: eventId } },
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
        responseStatus: attempt?.responseStatus ?? null,
        ended,
        error: attempt?.error ?? null,
      };
    await delay(lookAgainMs);
  }
}
