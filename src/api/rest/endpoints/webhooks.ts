import { z } from '@hono/zod-openapi';
import { byId } from '../../../core/conditions.ts';
import { publicId } from '../../../core/ids.ts';
import { withoutNulls } from '../../../core/json.ts';
import { visibleToPlatform } from '../../../domain/access/visible.ts';
import { EventType, type Prisma, WebhookDeliveryStatus } from '../../../infra/database/generated/client/client.ts';
import { whereDeliveries } from '../../webhooks/delivery/deliveries.ts';
import { findConfigEndpoint } from '../../webhooks/endpoints/endpoint-queries.ts';
import { testConfigEndpoint } from '../../webhooks/endpoints/endpoints.ts';
import { resend } from '../../webhooks/endpoints/replay.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { RestApp } from '../context.ts';
import { asRow, Endpoints } from '../endpoint.ts';
import { addPagedList, anyOf } from '../lists.ts';
import { id, oneOf, requestObject, responseObject, string, time, whole } from '../schemas/fields.ts';

// The specification requires names with underscores.
const TestSchema = responseObject('WebhookTest', {
  response_status: z.int().min(100).max(999).openapi({ description: "The receiver's HTTP status.", example: 200 }),
  url: string('The URL to which the event was posted.'),
}).describe('The outcome of a test event.');

const DeliverySchema = responseObject('WebhookDelivery', {
  id: id('WebhookDelivery', 'The id of the delivery.'),
  endpointId: id('WebhookEndpoint', 'The endpoint that the webhook is delivered to.'),
  webhookId: id('Webhook', 'The id of the webhook: the same in every attempt and at every endpoint.'),
  type: oneOf(EventType, "The event's type."),
  status: oneOf(WebhookDeliveryStatus, "The delivery's status."),
  attempts: z
    .array(
      z.object({
        at: time('When the attempt began.'),
        durationMs: whole('How long the attempt took, in milliseconds.'),
        responseStatus: z
          .int()
          .min(100)
          .max(999)
          .optional()
          .describe("The HTTP status of the receiver's response; absent if there was none."),
        error: string('Why the attempt failed; absent if it succeeded.').optional(),
      }),
    )
    .describe('The attempts so far, oldest first.'),
  nextAttemptAt: time('When the next attempt is due; absent if there will be none.').optional(),
}).describe('The delivery of a webhook to an endpoint.');

const filters = {
  endpointId: string('The id of the endpoint; by default, the endpoint in the settings.').optional(),
  status: anyOf(WebhookDeliveryStatus, 'Only deliveries with any of these statuses.'),
};

/** Adds the endpoints for test webhooks and deliveries. Webhooks are configured in config.ts. */
export function webhookEndpoints(app: RestApp, webhooks: Webhooks): void {
  const { prisma } = webhooks.payments.database;
  const endpoints = new Endpoints(app, 'Webhooks');

  endpoints.command('sendTestWebhook', {
    operationId: 'testWebhook',
    summary: 'Send a test event',
    description:
      'Posts a TEST event to the webhookEndpoint in the settings and waits a few seconds for the response to the first attempt. The event is retried like any other.',
    at: 'post /webhooks/test',
    body: requestObject('TestWebhook', {
      url: string(
        'The URL of a registered endpoint to use instead of the endpoint in the settings.',
        'https://example.com/webhooks',
      ).optional(),
    }),
    isBodyOptional: true,
    answer: [200, TestSchema, 'The receiver responded.'],
    errors: [],
    run: (input, { viewer, key }) => testConfigEndpoint(webhooks, viewer, input, key),
    record: ({ url, responseStatus }) => ({ response_status: responseStatus, url }),
  });

  addPagedList(endpoints, 'listWebhookDeliveries', {
    summary: 'List webhook deliveries',
    description: 'Finished and pending deliveries to one endpoint.',
    at: '/webhooks/deliveries',
    filters,
    item: DeliverySchema,
    name: 'WebhookDeliveryPage',
    list: {
      name: 'WebhookDelivery',
      where: async (
        viewer,
        { endpointId, ...filter }: z.output<z.ZodObject<typeof filters>>,
      ): Promise<Prisma.WebhookDeliveryWhereInput> => {
        // If there is no endpoint, there is nothing to list, because every delivery belongs to an endpoint.
        const ofEndpoint =
          endpointId === undefined
            ? { endpointId: { in: [(await findConfigEndpoint(prisma, viewer))?.id ?? []].flat() } }
            : byId(endpointId, (uuid) => ({ endpointId: uuid }), 'WebhookEndpoint');
        return { AND: [visibleToPlatform(viewer), ofEndpoint, whereDeliveries(viewer, filter)] };
      },
      rows: (query: Prisma.WebhookDeliveryFindManyArgs) =>
        prisma.webhookDelivery.findMany({ ...query, include: deliveryParts }),
      count: (query: Prisma.WebhookDeliveryCountArgs) => prisma.webhookDelivery.count(query),
      record: deliveryRecord,
    },
  });

  endpoints.command('resendWebhookDelivery', {
    summary: 'Resend a webhook',
    description:
      'Resends a delivery, whatever its outcome was. The delivery keeps its id and its history of attempts. If the endpoint is disabled, the response is 409 CONFLICT.',
    at: 'post /webhooks/deliveries/{deliveryId}/resend',
    params: z.object({ deliveryId: id('WebhookDelivery', 'The id of the delivery.') }),
    answer: [204, null, 'The delivery will be resent; the list shows its attempts.'],
    run: (input, { viewer, key }) => asRow(resend(webhooks, viewer, input, key)),
  });
}

const deliveryParts = {
  event: { select: { id: true, type: true } },
  attempts: { orderBy: { number: 'asc' } },
} as const satisfies Prisma.WebhookDeliveryInclude;

type Row = Prisma.WebhookDeliveryGetPayload<{ include: typeof deliveryParts }>;

function deliveryRecord(row: Row) {
  return {
    id: publicId('WebhookDelivery', row.id),
    endpointId: publicId('WebhookEndpoint', row.endpointId),
    webhookId: publicId('Webhook', row.event.id),
    type: row.event.type,
    status: row.status,
    attempts: row.attempts.map(({ at, durationMs, responseStatus, error }) =>
      withoutNulls({ at: at.toISOString(), durationMs, responseStatus, error }),
    ),
    nextAttemptAt: row.nextAttemptAt?.toISOString(),
  };
}
