import DataLoader from 'dataloader';
import type { GraphQLResolveInfo } from 'graphql';
import { visibleWebhookEndpoints } from '../../../access/visible.ts';
import { publicId } from '../../../core/ids.ts';
import { idOfCursor, pageQuery, rowCursor } from '../../../core/paging.ts';
import type {
  WebhookDelivery as DeliveryRow,
  Event as EventRow,
  Prisma,
  WebhookAttempt as WebhookAttemptRow,
  WebhookEndpoint as WebhookEndpointRow,
} from '../../../database/generated/client/client.ts';
import type { Context } from '../../context.ts';
import { connectionOf, type PageArgs, parsePage } from '../../paging.ts';
import { together } from '../../reading/together.ts';
import { builder } from '../builder.ts';
import { EventType, WebhookDeliveryStatus, WebhookEndpointStatus } from '../enums.ts';
import { pageArgs, recordPage } from '../list.ts';
import { Event } from '../streams/events.ts';

/** A delivery with what it tells of and what came of it. */
interface WebhookDeliveryRow extends DeliveryRow {
  readonly event: EventRow;
  readonly attempts: WebhookAttemptRow[];
}

const WebhookAttempt = builder.objectRef<WebhookAttemptRow>('WebhookAttempt').implement({
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

const WebhookDelivery = builder.objectRef<WebhookDeliveryRow>('WebhookDelivery').implement({
  description: 'An event on its way to an endpoint.',
  fields: (t) => ({
    id: t.id({ description: 'WebhookDelivery:…', resolve: (delivery) => publicId('WebhookDelivery', delivery.id) }),
    event: t.field({
      type: Event,
      description: 'The event. Its webhook has the id Webhook:… with the same UUID, at every attempt.',
      resolve: (delivery) => delivery.event,
    }),
    status: t.expose('status', { type: WebhookDeliveryStatus, description: 'Where it stands.' }),
    attempts: t.field({
      type: [WebhookAttempt],
      description: 'Every attempt so far, oldest first.',
      resolve: (delivery) => delivery.attempts,
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is attempted next; null when it will not be.',
    }),
  }),
});

/** The deliveries of endpoints, read in one statement for all endpoints of a list. */
function deliveriesOf(args: PageArgs, context: Context, info: GraphQLResolveInfo) {
  const { prisma } = context.payments.database;
  const { platformId } = context.viewer;
  return together(context, info, async (ids) => {
    const list = 'WebhookDelivery';
    const page = parsePage(args, (cursor) => idOfCursor(list, platformId, cursor));
    const endpoints = await prisma.webhookEndpoint.findMany({
      where: { platformId, id: { in: [...ids] } },
      select: {
        id: true,
        deliveries: { ...pageQuery({}, page), include: { event: true, attempts: { orderBy: { number: 'asc' } } } },
      },
    });
    const byId = new Map(endpoints.map(({ id, deliveries }) => [id, deliveries]));
    const counts = (bounds: Prisma.WebhookDeliveryWhereInput) =>
      new DataLoader<string, number>(async (counted) => {
        const found = await prisma.webhookDelivery.groupBy({
          by: ['endpointId'],
          where: { platformId, endpointId: { in: [...counted] }, ...bounds },
          _count: true,
        });
        const countOf = new Map(found.map(({ endpointId, _count }) => [endpointId, _count]));
        return counted.map((id) => countOf.get(id) ?? 0);
      });
    const [all, beyond] = [counts({}), counts(page.beyond ? { id: page.beyond } : {})];
    return ids.map((id) =>
      connectionOf(page, byId.get(id) ?? [], (delivery) => rowCursor(list, platformId, delivery.id), {
        totalCount: () => all.load(id),
        anyBeyond: async () => (await beyond.load(id)) > 0,
      }),
    );
  });
}

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

export const WebhookEndpoint = builder.objectRef<WebhookEndpointRow>('WebhookEndpoint').implement({
  description:
    'Where the platform wants its events sent (specification section 6), signed by the Standard Webhooks convention.',
  interfaces: [builder.nodeInterfaceRef()],
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
      resolve: ({ id }, args, context, info) => deliveriesOf(args, context, info).load(id),
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

builder.queryField('webhookEndpoints', (t) =>
  t.field({
    type: WebhookEndpointConnection,
    description: "The platform's webhook endpoints, newest first.",
    args: pageArgs(t.arg),
    resolve: (_root, args, context) => {
      const { webhookEndpoint } = context.payments.database.prisma;
      return recordPage('WebhookEndpoint', { args, context }, visibleWebhookEndpoints(context.viewer), {
        rows: (query) => webhookEndpoint.findMany(query),
        count: (query) => webhookEndpoint.count(query),
      });
    },
  }),
);
