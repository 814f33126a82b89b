import { visibleToPlatform } from '../../../../domain/access/visible.ts';
import { whereDeliveries } from '../../../webhooks/delivery/deliveries.ts';
import { builder } from '../builder.ts';
import { EventType, WebhookDeliveryStatus, WebhookEndpointStatus } from '../enums.ts';
import { WebhookDeliveryFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { Event } from '../streams/events.ts';
import { node } from '../words.ts';

const WebhookAttempt = builder.prismaObject('WebhookAttempt', {
  description: 'An attempt to deliver an event to a webhook endpoint, with its outcome.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When the attempt began.' }),
    durationMs: t.exposeInt('durationMs', { description: 'How long the attempt took, in milliseconds.' }),
    responseStatus: t.exposeInt('responseStatus', {
      nullable: true,
      description: "The HTTP status of the receiver's response; null if there was none.",
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why the attempt failed; null if it succeeded.' }),
  }),
});

export const WebhookDelivery = builder.prismaNode('WebhookDelivery', {
  ...node(visibleToPlatform, 'The public id of the delivery: WebhookDelivery:…'),
  description: 'The delivery of an event to a webhook endpoint.',
  fields: (t) => ({
    event: t.relation('event', {
      type: Event,
      description: "The event. Every attempt sends it with the same webhook id: Webhook:… with the event's UUID.",
    }),
    status: t.expose('status', { type: WebhookDeliveryStatus, description: 'The status of the delivery.' }),
    attempts: t.many('attempts', WebhookAttempt, {
      description: 'The attempts so far, oldest first.',
      orderBy: ['number'],
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt is due; null if there will be none.',
    }),
  }),
});

const deliveries = listOf(WebhookDelivery, {
  name: 'WebhookDelivery',
  visible: visibleToPlatform,
  filter: WebhookDeliveryFilter,
  where: whereDeliveries,
  page: 'A page of webhook deliveries.',
  edge: 'A webhook delivery in a page.',
});

export const WebhookEndpoint = builder.prismaNode('WebhookEndpoint', {
  ...node(visibleToPlatform),
  description: "A URL to which the platform's events are sent, signed according to Standard Webhooks.",
  fields: (t) => ({
    url: t.exposeString('url', { description: 'The URL to which events are posted.' }),
    eventTypes: t.expose('eventTypes', {
      type: [EventType],
      description: 'The types of events that the endpoint receives.',
    }),
    status: t.expose('status', { type: WebhookEndpointStatus, description: 'Whether the endpoint receives events.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: "The platform's own description of the endpoint; null if there is none.",
    }),
    version: t.exposeInt('version', {
      description: 'Increases when its settings or its secret change, and when it is enabled or disabled.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the endpoint was created.' }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'When the first attempt since the last success failed; null if the endpoint is not failing.',
    }),
    disabledAt: t.expose('disabledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the endpoint was disabled; null if it is not.',
    }),
    notice: t.exposeString('notice', {
      nullable: true,
      description: 'Why the endpoint was disabled; null if it is not.',
    }),
    tokenId: t.publicId('ApiToken', 'tokenId', {
      nullable: true,
      description:
        'The API token whose revocation disables the endpoint: the one that created it, or that last changed its URL, enabled it or added INCOMING_PAYMENT. Null if the operator of the service did.',
    }),
    deliveries: t.page(deliveries, {
      of: ['deliveries'],
      description: 'The deliveries to this endpoint, newest first.',
    }),
  }),
});

const endpoints = listOf(WebhookEndpoint, {
  name: 'WebhookEndpoint',
  visible: visibleToPlatform,
  page: 'A page of webhook endpoints.',
  edge: 'A webhook endpoint in a page.',
  totalCount: 'The number of webhook endpoints, on all pages.',
});

builder.queryField('webhookEndpoints', (t) =>
  t.page(endpoints, { description: 'The webhook endpoints of the platform, newest first.' }),
);

builder.prismaObjectField(WebhookDelivery, 'endpoint', (t) =>
  t.seen('endpoint', WebhookEndpoint, visibleToPlatform, {
    description: 'The endpoint that the event is delivered to; null, inside an event, if the endpoint was deleted.',
  }),
);

builder.prismaObjectField(Event, 'deliveries', (t) =>
  t.many('deliveries', WebhookDelivery, {
    description: 'The deliveries of the event to webhook endpoints, in the order of creation. Empty for client tokens.',
    orderBy: ['id'],
    visible: visibleToPlatform,
  }),
);
