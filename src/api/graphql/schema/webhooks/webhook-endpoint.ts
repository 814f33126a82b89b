import { publicId } from '../../../../core/ids.ts';
import { visibleToPlatform } from '../../../../domain/access/visible.ts';
import { conditionsOf } from '../../../../infra/database/conditions.ts';
import type {
  WebhookAttempt as WebhookAttemptRow,
  WebhookDelivery as WebhookDeliveryRow,
  WebhookEndpoint as WebhookEndpointRow,
} from '../../../../infra/database/generated/client/client.ts';
import { whereDeliveries } from '../../../webhooks/delivery/delivery-filter.ts';
import { planned } from '../../reading/planned.ts';
import { leaf, pageOf, reads, referringBy, sql, toOne, typeReads } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { EventType, WebhookDeliveryStatus, WebhookEndpointStatus } from '../enums.ts';
import { WebhookDeliveryFilter } from '../filters.ts';
import { connection, listArgs, pageArgs } from '../list.ts';
import { Event } from '../streams/events.ts';

const WebhookAttempt = builder.objectRef<WebhookAttemptRow>('WebhookAttempt').implement({
  description: 'One attempt to deliver an event, as it ended.',
  ...typeReads({ model: 'WebhookAttempt' }),
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it was begun.' }),
    durationMs: t.exposeInt('durationMs', { description: 'How long it took, in milliseconds.' }),
    responseStatus: t.exposeInt('responseStatus', {
      nullable: true,
      description: "The receiver's HTTP status; null when it gave none.",
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed; null when it succeeded.' }),
  }),
});

export const WebhookDelivery = builder.objectRef<WebhookDeliveryRow>('WebhookDelivery').implement({
  description: 'An event on its way to an endpoint.',
  interfaces: [builder.nodeInterfaceRef()],
  ...typeReads({ model: 'WebhookDelivery', visible: visibleToPlatform }),
  fields: (t) => ({
    id: t.id({
      description: 'WebhookDelivery:…',
      ...reads(leaf.id('WebhookDelivery')),
      resolve: (delivery) => publicId('WebhookDelivery', delivery.id),
    }),
    event: t.field({
      type: Event,
      description: 'The event. Its webhook has the id Webhook:… with the same UUID, at every attempt.',
      ...planned({
        kind: 'row',
        from: ({ row }, alias) => [
          `event ${alias} where ${alias}.platform_id = ${row}.platform_id and ${alias}.sequence = ${row}.event_sequence`,
        ],
      }),
    }),
    status: t.expose('status', { type: WebhookDeliveryStatus, description: 'Where it stands.' }),
    attempts: t.field({
      type: [WebhookAttempt],
      description: 'Every attempt so far, oldest first.',
      ...planned({
        kind: 'values',
        from: ({ row }, alias) => ({
          from: [
            `webhook_attempt ${alias} where ${alias}.platform_id = ${row}.platform_id and ${alias}.delivery_id = ${row}.id`,
          ],
          orderBy: `${alias}.number`,
          env: { row: alias },
        }),
      }),
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is attempted next; null when it will not be.',
    }),
  }),
});

const WebhookDeliveryConnection = connection(WebhookDelivery, 'WebhookDelivery', {
  page: 'A page of deliveries.',
  edge: 'A delivery in a page.',
});

export const WebhookEndpoint = builder.objectRef<WebhookEndpointRow>('WebhookEndpoint').implement({
  description:
    'Where the platform wants its events sent (specification 6), signed by the Standard Webhooks convention.',
  interfaces: [builder.nodeInterfaceRef()],
  ...typeReads({ model: 'WebhookEndpoint', visible: visibleToPlatform }),
  fields: (t) => ({
    id: t.id({
      description: 'Its public id.',
      ...reads(leaf.id('WebhookEndpoint')),
      resolve: (endpoint) => publicId('WebhookEndpoint', endpoint.id),
    }),
    url: t.exposeString('url', { description: 'Where events are posted.' }),
    eventTypes: t.expose('eventTypes', { type: [EventType], description: 'Which events it gets.' }),
    status: t.expose('status', { type: WebhookEndpointStatus, description: 'How it fares.' }),
    description: t.exposeString('description', { nullable: true, description: "The platform's own words for it." }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'When the first attempt failed since the last success; null after a success.',
    }),
    disabledAt: t.expose('disabledAt', { type: 'DateTime', nullable: true, description: 'When it was disabled.' }),
    notice: t.exposeString('notice', { nullable: true, description: 'Why it was disabled.' }),
    tokenId: t.id({
      nullable: true,
      description:
        'The API token with which it ends: the one that made it, or that last changed its url, enabled it or added INCOMING_PAYMENT. Null where the operator did.',
      ...reads(leaf.id('ApiToken', 'token_id')),
      resolve: ({ tokenId }) => tokenId && publicId('ApiToken', tokenId),
    }),
    deliveries: t.field({
      type: WebhookDeliveryConnection,
      description: 'What was and is being sent to it, newest first.',
      args: listArgs(t.arg, WebhookDeliveryFilter),
      ...planned({ ...pageOf('WebhookDelivery', visibleToPlatform, whereDeliveries), of: referringBy('endpoint_id') }),
    }),
  }),
});

const WebhookEndpointConnection = connection(WebhookEndpoint, 'WebhookEndpoint', {
  page: 'A page of webhook endpoints.',
  edge: 'A webhook endpoint in a page.',
  totalCount: 'All of them, on whatever page.',
});

builder.queryField('webhookEndpoints', (t) =>
  t.field({
    type: WebhookEndpointConnection,
    description: "The platform's webhook endpoints, newest first.",
    args: pageArgs(t.arg),
    ...planned(pageOf('WebhookEndpoint', visibleToPlatform)),
  }),
);

builder.objectField(WebhookDelivery, 'endpoint', (t) =>
  t.field({
    type: WebhookEndpoint,
    nullable: true,
    description: 'The endpoint that it goes to; null in an event of one that has been removed.',
    ...planned(toOne('WebhookEndpoint', 'endpoint_id', visibleToPlatform)),
  }),
);

builder.objectField(Event, 'deliveries', (t) =>
  t.field({
    type: [WebhookDelivery],
    description: 'Its way to each endpoint that gets it, in the order of their creation. None for client tokens.',
    ...planned({
      kind: 'values',
      from: ({ row }, alias) => ({
        from: sql`webhook_delivery ${alias} where ${alias}.platform_id = ${row ?? ''}.platform_id and ${alias}.event_sequence = ${row ?? ''}.sequence and ${(run) => conditionsOf('WebhookDelivery', alias, visibleToPlatform(run.viewer), run)}`,
        orderBy: `${alias}.id`,
        env: { row: alias },
      }),
    }),
  }),
);
