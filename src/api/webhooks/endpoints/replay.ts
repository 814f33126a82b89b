import type { Given } from '../../../core/conditions.ts';
import type { Cursors } from '../../../core/cursors.ts';
import { uuidOf } from '../../../core/ids.ts';
import { invalid, pathsIn, Refusal } from '../../../core/refusal.ts';
import type { Caller } from '../../../domain/access/caller.ts';
import { visibleEvents, visibleToPlatform } from '../../../domain/access/visible.ts';
import { positionOf } from '../../../domain/events/cursor.ts';
import { hasPosition } from '../../../domain/events/reads.ts';
import type { Prisma, WebhookDelivery } from '../../../infra/database/generated/client/client.ts';
import { statement } from '../../../infra/database/statement.ts';
import type { Transaction } from '../../../infra/database/transaction.ts';
import { webhookCommand, webhookTypesSql } from '../webhooks.ts';
import { endpointDisabled, endpointUuid, lockEndpoint } from './endpoint-queries.ts';

/**
 * Makes a delivery due now, with the full number of attempts. A pending approval request remains an approval request.
 */
const restart = `status = 'PENDING', tries = 0, next_attempt_at = clock_ms(), question = d.question and d.status = 'PENDING'`;

const maxEvents = 10_000;
const lastSequence = 2n ** 62n;

export interface Replay {
  readonly endpointId: string;
  readonly eventId?: Given<string>;
  /** The cursors that bound a range of the feed, both exclusive. Either may be omitted. */
  readonly after?: Given<string>;
  readonly before?: Given<string>;
}

const at = pathsIn<Replay>();

const inRange = `from event v join webhook_endpoint e on e.platform_id = v.platform_id and e.id = $2
   where v.platform_id = $1 and v.sequence > $3 and v.sequence < $4 and v.sequence <= e.position
     and v.type in (${webhookTypesSql}) and case v.type
       when 'TEST' then v.snapshot ->> 'endpoint_id' = e.id::text
       else $5::boolean or v.type = any(e.event_types) end`;

/**
 * Resends existing deliveries and creates missing ones. Stops one event past the limit, so that the caller can tell
 * if there are too many. The caller holds the endpoint's lock, so that no other process replays the same events.
 */
const replayStatement = statement<object>(
  'replay_deliveries',
  `with replayed as materialized (
     select v.platform_id, e.id as endpoint_id, v.sequence ${inRange} limit ${maxEvents + 1}
   ), restarted as (
     update webhook_delivery d set ${restart} from replayed r
     where d.platform_id = r.platform_id and d.endpoint_id = r.endpoint_id and d.event_sequence = r.sequence
     returning d.event_sequence
   ), made as (
     insert into webhook_delivery (platform_id, endpoint_id, event_sequence)
     select r.platform_id, r.endpoint_id, r.sequence from replayed r
     where not exists (select from webhook_delivery d
                       where d.platform_id = r.platform_id and d.endpoint_id = r.endpoint_id and d.event_sequence = r.sequence)
     order by r.sequence
     returning event_sequence
   )
   select 1 from restarted union all select 1 from made`,
);

/**
 * Resends one event, or a range of the feed, to an endpoint, under the original webhook ids. An event of a type that
 * the endpoint does not receive is sent only if it is requested by id.
 * @returns the number of events
 */
export const replay = webhookCommand((webhooks, caller, input: Replay) => {
  const id = endpointUuid(input.endpointId);
  return {
    operation: 'replayWebhookEvents',
    effect: async (transaction) => {
      const endpoint = await lockEndpoint(transaction, caller, id);
      if (endpoint.status === 'DISABLED') throw endpointDisabled(id);
      const { after, before, named } = await rangeOf(webhooks.payments.cursors, transaction, caller, input);
      const range = [caller.platformId, id, after.toString(), before.toString(), named];
      const { length: count } = await replayStatement(transaction.client, ...range);
      if (count > maxEvents)
        throw invalid(`the range has more than ${maxEvents} events: replay it in parts`, at('before'));
      return { result: { count }, answer: { count } };
    },
    repeat: async (result) => ({ count: Number(result.count) }),
  };
});

async function rangeOf(cursors: Cursors, { prisma, client }: Transaction, caller: Caller, input: Replay) {
  const { eventId, after, before } = input;
  const hasRange = (after ?? before) != null;
  if (eventId != null) {
    if (hasRange) throw invalid('give either one event or a range, not both', at(after ? 'after' : 'before'));
    const id = uuidOf(eventId, 'Event', 'Webhook');
    const where = { AND: [visibleEvents(caller), { id }] };
    const event = id && (await prisma.event.findFirst({ where, select: { sequence: true } }));
    if (!event) throw new Refusal('EVENT_NOT_FOUND', 'no such event', at('eventId'));
    return { after: event.sequence - 1n, before: event.sequence + 1n, named: true };
  }
  if (!hasRange) throw invalid('give either one event, or one or two cursors for a range', at('eventId'));
  const sequenceAt = async (field: 'after' | 'before', cursor: Given<string>) => {
    if (cursor == null) return undefined;
    const position = positionOf(cursors, caller.platformId, cursor);
    if (!position) throw invalid('the cursor does not belong to this feed', at(field));
    if (await hasPosition(client, caller.platformId, position)) return position.sequence;
    const undone = 'the change at the cursor has been undone, because the database was restored from an earlier backup';
    throw invalid(undone, at(field));
  };
  return {
    after: (await sequenceAt('after', after)) ?? 0n,
    before: (await sequenceAt('before', before)) ?? lastSequence,
    named: false,
  };
}

const resendStatement = statement<object>(
  'resend_delivery',
  `update webhook_delivery d set ${restart} where d.platform_id = $1 and d.id = $2`,
);

/**
 * Resends one delivery, whatever its status, under its original webhook id. New attempts are added to its earlier ones.
 * @throws Refusal WEBHOOK_DELIVERY_NOT_FOUND, CONFLICT (its endpoint is disabled), IDEMPOTENCY_MISMATCH
 */
export const resend = webhookCommand((webhooks, caller, input: { readonly deliveryId: string }) => {
  const id = uuidOf(input.deliveryId, 'WebhookDelivery') ?? notFound();
  return {
    operation: 'resendWebhookDelivery',
    effect: async (transaction) => {
      const { client, prisma } = transaction;
      const { endpointId } = await readDelivery(prisma, caller, id);
      // Disabling an endpoint ends its pending deliveries. The lock keeps this one from becoming pending afterwards.
      const endpoint = await lockEndpoint(transaction, caller, endpointId);
      if (endpoint.status === 'DISABLED') throw endpointDisabled(endpointId);
      await resendStatement(client, caller.platformId, id);
      return {
        result: { type: 'WebhookDelivery', row: { platform_id: caller.platformId, id } },
        answer: { delivery: await readDelivery(prisma, caller, id) },
      };
    },
    repeat: async () => ({ delivery: await readDelivery(webhooks.payments.database.prisma, caller, id) }),
  };
});

async function readDelivery(prisma: Prisma.TransactionClient, caller: Caller, id: string): Promise<WebhookDelivery> {
  const where = { AND: [visibleToPlatform(caller), { id }] };
  return (await prisma.webhookDelivery.findFirst({ where })) ?? notFound();
}

function notFound(): never {
  throw new Refusal('WEBHOOK_DELIVERY_NOT_FOUND', 'no such webhook delivery', ['deliveryId']);
}
