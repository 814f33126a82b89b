import type { Prisma } from '../database/generated/client/client.ts';
import { matchesNothing } from '../payments/filters.ts';
import { publicId } from '../payments/ids.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { EventType, WebhookDeliveryStatus, WebhookEndpointStatus } from './enums.ts';
import { Event } from './events.ts';
import { nestedPage, nestedQuery, pageArgs, rootPage, withKeys } from './list.ts';

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

const WebhookDelivery = builder.prismaObject('WebhookDelivery', {
  description: 'An event on its way to an endpoint.',
  findUnique: (delivery) => ({ platformId_id: { platformId: delivery.platformId, id: delivery.id } }),
  fields: (t) => ({
    id: t.id({ description: 'WebhookDelivery:…', resolve: (delivery) => publicId('WebhookDelivery', delivery.id) }),
    event: t.field({
      type: Event,
      description: 'The event. Its webhook has the id Webhook:… with the same UUID, at every attempt.',
      select: { event: true },
      resolve: (delivery) => delivery.event,
    }),
    status: t.expose('status', { type: WebhookDeliveryStatus, description: 'Where it stands.' }),
    attempts: t.field({
      type: [WebhookAttempt],
      description: 'Every attempt so far, oldest first.',
      select: { attempts: { orderBy: { number: 'asc' } } },
      resolve: (delivery) => delivery.attempts,
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is attempted next; null when it will not be.',
    }),
  }),
});

const WebhookDeliveryConnection = builder.connectionObject(
  {
    type: WebhookDelivery,
    name: 'WebhookDeliveryConnection',
    description: 'A page of deliveries.',
    fields: (t) => ({
      totalCount: t.int({ description: 'All of them, on whatever page.', resolve: (page) => page.totalCount }),
    }),
  },
  { name: 'WebhookDeliveryEdge', description: 'A delivery in a page.' },
);

export const WebhookEndpoint = builder.prismaObject('WebhookEndpoint', {
  description:
    'Where the platform wants its events sent (specification section 6), signed by the Standard Webhooks convention.',
  interfaces: [builder.nodeInterfaceRef()],
  findUnique: (endpoint) => ({ platformId_id: { platformId: endpoint.platformId, id: endpoint.id } }),
  fields: (t) => ({
    id: t.id({ description: 'Its public id.', resolve: (endpoint) => publicId('WebhookEndpoint', endpoint.id) }),
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
    deliveries: t.field({
      type: WebhookDeliveryConnection,
      description: 'What was and is being sent to it, newest first.',
      args: pageArgs(t.arg),
      select: (args, context, nested) => ({
        deliveries: withKeys(nested(nestedQuery('WebhookDelivery', args, context, {}), ['edges', 'node'])),
      }),
      resolve: (endpoint, args, context, info) =>
        nestedPage(
          'WebhookDelivery',
          { args, context, info },
          endpoint.id,
          endpoint.deliveries,
          async (endpointIds, bound) => {
            const counts = await context.payments.database.prisma.webhookDelivery.groupBy({
              by: 'endpointId',
              where: { platformId: endpoint.platformId, endpointId: { in: endpointIds }, ...bound },
              _count: true,
            });
            return new Map(counts.map(({ endpointId, _count }) => [endpointId, _count]));
          },
        ),
    }),
  }),
});

const WebhookEndpointConnection = builder.connectionObject(
  {
    type: WebhookEndpoint,
    name: 'WebhookEndpointConnection',
    description: 'A page of webhook endpoints.',
    fields: (t) => ({
      totalCount: t.int({ description: 'All of them, on whatever page.', resolve: (page) => page.totalCount }),
    }),
  },
  { name: 'WebhookEndpointEdge', description: 'A webhook endpoint in a page.' },
);

/** A platform's own endpoints; an app with a client token sees none. */
function whereEndpoints({ viewer }: Context): Prisma.WebhookEndpointWhereInput {
  return viewer.kind === 'PLATFORM' ? { platformId: viewer.platformId } : matchesNothing;
}

builder.queryField('webhookEndpoints', (t) =>
  t.field({
    type: WebhookEndpointConnection,
    description: "The platform's webhook endpoints, newest first.",
    args: pageArgs(t.arg),
    resolve: (_root, args, context, info) => {
      const { webhookEndpoint } = context.payments.database.prisma;
      return rootPage('WebhookEndpoint', { args, context, info }, whereEndpoints(context), {
        rows: (query) => webhookEndpoint.findMany(query),
        count: (query) => webhookEndpoint.count(query),
      });
    },
  }),
);
