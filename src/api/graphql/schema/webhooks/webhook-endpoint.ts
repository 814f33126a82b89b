import { visibleToPlatform } from '../../../../domain/access/visible.ts';
import { whereDeliveries } from '../../../webhooks/delivery/delivery-filter.ts';
import { builder } from '../builder.ts';
import { EventType, WebhookDeliveryStatus, WebhookEndpointStatus } from '../enums.ts';
import { WebhookDeliveryFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { Event } from '../streams/events.ts';
import { node } from '../words.ts';

const WebhookAttempt = builder.prismaObject('WebhookAttempt', {
  description: 'One attempt to deliver an event, as it ended.',
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

export const WebhookDelivery = builder.prismaNode('WebhookDelivery', {
  ...node(visibleToPlatform, 'WebhookDelivery:…'),
  description: 'An event on its way to an endpoint.',
  fields: (t) => ({
    event: t.relation('event', {
      type: Event,
      description: 'The event. Its webhook has the id Webhook:… with the same UUID, at every attempt.',
    }),
    status: t.expose('status', { type: WebhookDeliveryStatus, description: 'Where it stands.' }),
    attempts: t.many('attempts', WebhookAttempt, {
      description: 'Every attempt so far, oldest first.',
      orderBy: ['number'],
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is attempted next; null when it will not be.',
    }),
  }),
});

const deliveries = listOf(WebhookDelivery, {
  name: 'WebhookDelivery',
  visible: visibleToPlatform,
  filter: WebhookDeliveryFilter,
  where: whereDeliveries,
  page: 'A page of deliveries.',
  edge: 'A delivery in a page.',
});

export const WebhookEndpoint = builder.prismaNode('WebhookEndpoint', {
  ...node(visibleToPlatform),
  description:
    'Where the platform wants its events sent (specification 6), signed by the Standard Webhooks convention.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'Where events are posted.' }),
    eventTypes: t.expose('eventTypes', { type: [EventType], description: 'Which events it gets.' }),
    status: t.expose('status', { type: WebhookEndpointStatus, description: 'How it fares.' }),
    description: t.exposeString('description', { nullable: true, description: "The platform's own words for it." }),
    version: t.exposeInt('version', {
      description: 'Rises with each change of its settings, its secret, or whether it is disabled.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'When the first attempt failed since the last success; null after a success.',
    }),
    disabledAt: t.expose('disabledAt', { type: 'DateTime', nullable: true, description: 'When it was disabled.' }),
    notice: t.exposeString('notice', { nullable: true, description: 'Why it was disabled.' }),
    tokenId: t.publicId('ApiToken', 'tokenId', {
      nullable: true,
      description:
        'The API token with which it ends: the one that made it, or that last changed its url, enabled it or added INCOMING_PAYMENT. Null where the operator did.',
    }),
    deliveries: t.page(deliveries, {
      of: ['deliveries'],
      description: 'What was and is being sent to it, newest first.',
    }),
  }),
});

const endpoints = listOf(WebhookEndpoint, {
  name: 'WebhookEndpoint',
  visible: visibleToPlatform,
  page: 'A page of webhook endpoints.',
  edge: 'A webhook endpoint in a page.',
  totalCount: 'All of them, on whatever page.',
});

builder.queryField('webhookEndpoints', (t) =>
  t.page(endpoints, { description: "The platform's webhook endpoints, newest first." }),
);

builder.prismaObjectField(WebhookDelivery, 'endpoint', (t) =>
  t.seen('endpoint', WebhookEndpoint, visibleToPlatform, {
    description: 'The endpoint that it goes to; null in an event of one that has been removed.',
  }),
);

builder.prismaObjectField(Event, 'deliveries', (t) =>
  t.many('deliveries', WebhookDelivery, {
    description: 'Its way to each endpoint that gets it, in the order of their creation. None for client tokens.',
    orderBy: ['id'],
    visible: visibleToPlatform,
  }),
);
