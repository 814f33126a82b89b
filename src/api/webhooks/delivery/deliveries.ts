import { anyOf, type Given } from '../../../core/conditions.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import { dropPending } from '../../../domain/access/drop-pending.ts';
import type { Event, Prisma, WebhookDeliveryStatus } from '../../../infra/database/generated/client/client.ts';
import { type Lease, leasing } from '../../../infra/database/leases.ts';
import { columnsOf } from '../../../infra/database/rows.ts';
import { type Queryable, statement } from '../../../infra/database/statement.ts';
import type { Webhooks } from '../webhooks.ts';
import { type RelatedFields, relatedFields, relatedRows } from './bodies.ts';
import type { Outcome } from './sender.ts';

/** The maximum number of concurrent attempts per endpoint. Processes leasing simultaneously can together exceed it. */
const maxInFlight = 8;
/** The same limit for a failing endpoint: enough to notice a recovery, but too few to delay other endpoints. */
const maxInFlightWhileFailing = 2;
/** The number of consecutive failures after which an endpoint counts as failing. */
const failingAfter = 3;

export interface LeasedDelivery extends RelatedFields, Lease {
  readonly id: string;
  readonly endpointId: string;
  /** The number of this attempt, counting from 1 and including attempts whose process died. */
  readonly begun: number;
  /** The number of failed attempts since the delivery was created or last replayed. */
  readonly tries: number;
  readonly question: boolean;
  readonly url: string;
  readonly secret: Uint8Array;
  /** The secret before the last rotation, while it is still used for signing. */
  readonly previousSecret: Uint8Array | null;
  /** When the delivery was leased, by the database's clock. */
  readonly now: Date;
  readonly event: Event;
}

/** One row with the columns of the event and of the delivery. Both have an `id`, so the delivery's id is renamed. */
type LeasedRow = Event & Omit<LeasedDelivery, 'id' | 'event'> & { readonly deliveryId: string };

/**
 * Leases due deliveries. Endpoints with the fewest running attempts come first, so that fast endpoints are served
 * before slow ones. The limits per endpoint do not apply to approval requests, which are urgent.
 */
const lease = leasing<LeasedRow>(
  { table: 'webhook_delivery', rows: 'deliveries' },
  {
    counter: 'begun',
    until: 'leased_until',
    due: `capacity as (
     select e.platform_id, e.id,
       case e.status when 'FAILING' then ${maxInFlightWhileFailing} else ${maxInFlight} end - u.in_flight as free, u.in_flight
     from webhook_endpoint e
     cross join lateral (
       select count(*) as in_flight from webhook_delivery d
       where d.platform_id = e.platform_id and d.endpoint_id = e.id and d.leased_until > clock_timestamp()
     ) u
     where e.status <> 'DISABLED'
   ), questions as (
     select d.ctid as row from webhook_delivery d
     join webhook_endpoint e on e.platform_id = d.platform_id and e.id = d.endpoint_id and e.status <> 'DISABLED'
     where d.status = 'PENDING' and d.question and d.next_attempt_at <= clock_timestamp()
       and (d.leased_until is null or d.leased_until <= clock_timestamp())
     order by d.next_attempt_at limit $1 for update of d skip locked
   ), others as (
     select n.row from (select * from capacity where free > 0 order by in_flight) r
     cross join lateral (
       select d.ctid as row from webhook_delivery d
       where d.platform_id = r.platform_id and d.endpoint_id = r.id and d.status = 'PENDING' and not d.question
         and d.next_attempt_at <= clock_timestamp() and (d.leased_until is null or d.leased_until <= clock_timestamp())
       order by d.next_attempt_at limit r.free for update skip locked
     ) n
     limit $1
   ), due as (select * from questions union all select * from others)`,
    reads: `${columnsOf('Event', 'v')}, l.id as delivery_id, l.endpoint_id, l.begun, l.tries, l.question, e.url, e.secret, case when e.previous_secret_until > clock_timestamp() then e.previous_secret end as previous_secret,
     clock_ms() as now, ${relatedFields}`,
    joins: `join webhook_endpoint e on e.platform_id = l.platform_id and e.id = l.endpoint_id
     join event v on v.platform_id = l.platform_id and v.sequence = l.event_sequence ${relatedRows('v')}`,
  },
);

/** Leases up to `limit` due deliveries, and also up to `limit` approval requests. */
export async function leaseDeliveries(on: Queryable, limit: number, leaseMs: number): Promise<LeasedDelivery[]> {
  const rows = await lease(on, limit, leaseMs);
  return rows.map((row) => ({ ...row, id: row.deliveryId, event: row }));
}

const releaseStatement = statement<object>(
  'release_delivery',
  `update webhook_delivery set leased_until = null
   where platform_id = $1 and id = $2 and begun = $3 and status = 'PENDING'`,
);

/** Releases a delivery whose attempt this process has aborted, so that another process can attempt it immediately. */
export async function releaseDelivery({ payments }: Webhooks, delivery: LeasedDelivery): Promise<void> {
  await releaseStatement(payments.database.pool, delivery.platformId, delivery.id, delivery.begun);
}

const settleStatement = statement<object>(
  'settle_delivery',
  // The clock is read once, so that the recorded pause is exact.
  `with ended as materialized (
     select clock_ms() as at
   ), attempt as (
     insert into webhook_attempt (platform_id, delivery_id, number, at, duration_ms, response_status, error)
     select d.platform_id, d.id, $3, e.at - $7::float8 * interval '1 millisecond', $7::float8::int, $8, $9
     from webhook_delivery d, ended e where d.platform_id = $1 and d.id = $2 and $7::float8 is not null
     on conflict do nothing
   )
   update webhook_delivery set status = $4::webhook_delivery_status, tries = tries + $5::int, leased_until = null,
     next_attempt_at = case when $4::text = 'PENDING' then (select at from ended) + $6::float8 * interval '1 millisecond' end
   where platform_id = $1 and id = $2 and begun = $3 and status = 'PENDING'`,
);

/**
 * Records an attempt and the new state of its delivery. Only the attempt that began last changes that state.
 * @param attempt undefined if the state changes without an attempt
 * @param state `nextInMs` is the time until the next attempt after a failure
 */
export async function settleDelivery(
  { payments }: Webhooks,
  delivery: LeasedDelivery,
  attempt: Outcome | undefined,
  { status, nextInMs }: { readonly status: 'DELIVERED' | 'FAILED' | 'PENDING'; readonly nextInMs?: number | undefined },
): Promise<void> {
  const { durationMs = null, responseStatus = null, error = null } = attempt ?? {};
  const { platformId, id, begun } = delivery;
  const state = [status, status === 'DELIVERED' ? 0 : 1, nextInMs ?? null];
  await settleStatement(payments.database.pool, platformId, id, begun, ...state, durationMs, responseStatus, error);
}

const healedStatement = statement<object>(
  'webhook_endpoint_healed',
  // The commit need not wait for the disk. If this change is lost in a crash, the next success makes it again.
  `with relaxed as materialized (select set_config('synchronous_commit', 'off', true))
   update webhook_endpoint set failures = 0, failing_since = null, failures_after = greatest(failures_after, $3),
     status = case status when 'FAILING' then 'ENABLED' else status end
   from relaxed where platform_id = $1 and id = $2 and (failures > 0 or failures_after is null or failures_after < $3)`,
);

const failedStatement = statement<{ status: string }>(
  'webhook_endpoint_failed',
  `update webhook_endpoint set failures = failures + 1, failing_since = coalesce(failing_since, clock_ms()),
     status = case when $3::boolean or failing_since <= clock_timestamp() - $4::float8 * interval '1 millisecond' then 'DISABLED'
       when failures + 1 >= ${failingAfter} then 'FAILING' else status end::webhook_endpoint_status,
     disabled_at = case when $3::boolean or failing_since <= clock_timestamp() - $4::float8 * interval '1 millisecond' then clock_ms() end,
     notice = case when $3::boolean then 'Disabled: the receiver answered 410, so it wants no more events.'
       when failing_since <= clock_timestamp() - $4::float8 * interval '1 millisecond'
       then 'Disabled: every attempt since ' || to_char(failing_since, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' has failed, the last one: ' || $5::text end
   where platform_id = $1 and id = $2 and status <> 'DISABLED' and (failures_after is null or failures_after < $6)
   returning status::text`,
);

/**
 * Updates an endpoint's health. A success clears its failures. Days of failures, or a 410 response, disable the
 * endpoint. A failure counts only if its attempt began later than every successful one, because the late failure of an
 * older attempt says nothing about the endpoint's current state.
 */
export async function recordHealth(
  { payments, pace }: Webhooks,
  delivery: LeasedDelivery,
  { healthy, gone, error }: { readonly healthy: boolean; readonly gone: boolean; readonly error: string },
): Promise<void> {
  const { pool } = payments.database;
  const { platformId, endpointId, now: begunAt } = delivery;
  const key = [pool, platformId, endpointId] as const;
  if (healthy) {
    await healedStatement(...key, begunAt);
    return;
  }
  const [endpoint] = await failedStatement(...key, gone, pace.disableAfterMs, error, begunAt);
  if (endpoint?.status !== 'DISABLED') return;
  payments.log.warn({ platformId, endpointId, reason: error }, 'a webhook endpoint was disabled');
  await dropPending(pool, platformId, endpointId);
}

type DeliveryFilter = Given<{ readonly status?: Given<readonly WebhookDeliveryStatus[]> }>;

/** Returns the condition for the deliveries that match a filter. */
export function whereDeliveries(_viewer: Viewer, filter: DeliveryFilter): Prisma.WebhookDeliveryWhereInput {
  const status = filter?.status;
  // Nearly all deliveries are DELIVERED. The others have a partial index, used only if the query repeats its predicate.
  const isUndelivered = status && !status.includes('DELIVERED');
  return { ...anyOf('status', status), ...(isUndelivered && { AND: [{ status: { not: 'DELIVERED' } }] }) };
}
