import { visibleToPlatform } from '../../../../domain/access/visible.ts';
import { whereDeliveries } from '../../../webhooks/delivery/deliveries.ts';
import { createEndpoint, deleteEndpoint, rotateSecret, updateEndpoint } from '../../../webhooks/endpoints/endpoints.ts';
import { replay, resend } from '../../../webhooks/endpoints/replay.ts';
import { sendTest } from '../../../webhooks/endpoints/test-event.ts';
import { node } from '../../reading/words.ts';
import { builder, oneOf, required } from '../builder.ts';
import { EventType } from '../enums.ts';
import { WebhookDeliveryFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { mutation } from '../mutation.ts';
import { Event } from '../streams/events.ts';

const WebhookAttempt = builder.prismaObject('WebhookAttempt', {
  description: 'An attempt to deliver an event to a webhook endpoint, with its outcome.',
  fields: (t) =>
    t.columns({
      at: 'When the attempt began.',
      durationMs: 'How long the attempt took, in milliseconds.',
      responseStatus: "The HTTP status of the receiver's response; null if there was none.",
      error: 'Why the attempt failed; null if it succeeded.',
    }),
});

const WebhookDelivery = builder.prismaNode('WebhookDelivery', {
  ...node(visibleToPlatform, "The delivery's public id (`WebhookDelivery:…`)."),
  description: 'The delivery of an event to a webhook endpoint.',
  fields: (t) => ({
    event: t.relation('event', {
      description: "The event. Its webhook id is the same in every attempt: `Webhook:` followed by the event's UUID.",
    }),
    ...t.columns({
      status: "The delivery's status.",
      nextAttemptAt: 'When the next attempt is due; null if there will be none.',
    }),
    attempts: t.many('attempts', WebhookAttempt, {
      description: 'The attempts so far, oldest first.',
      orderBy: ['number'],
    }),
  }),
});

const deliveries = listOf(WebhookDelivery, {
  visible: visibleToPlatform,
  filter: WebhookDeliveryFilter,
  where: whereDeliveries,
  words: ['A webhook delivery', 'webhook deliveries'],
});

const WebhookEndpoint = builder.prismaNode('WebhookEndpoint', {
  ...node(visibleToPlatform),
  description: "A URL to which the platform's events are sent, signed according to Standard Webhooks.",
  fields: (t) => ({
    ...t.columns({
      url: 'The URL to which events are posted.',
      eventTypes: 'The event types that the endpoint receives.',
      status: 'Whether the endpoint receives events.',
      description: "The platform's own description of the endpoint; null if there is none.",
      version: "Increases when the endpoint's settings or secret change, and when it is enabled or disabled.",
      createdAt: 'When the endpoint was created.',
      failingSince: 'The time of the first failure since the last success; null if the endpoint is not failing.',
      disabledAt: 'When the endpoint was disabled; null if it is not disabled.',
      notice: 'Why the endpoint was disabled; null if it is not disabled.',
    }),
    tokenId: t.publicId('ApiToken', 'tokenId', {
      nullable: true,
      description:
        "The API token that made the latest of these changes: creating or enabling the endpoint, changing its URL, or adding INCOMING_PAYMENT to its event types. Revoking this token disables the endpoint. Null if the service's operator made the latest such change.",
    }),
    deliveries: t.page(deliveries, {
      of: ['deliveries'],
      description: 'The deliveries to this endpoint, newest first.',
    }),
  }),
});

const endpoints = listOf(WebhookEndpoint, {
  visible: visibleToPlatform,
  words: ['A webhook endpoint', 'webhook endpoints'],
  totalCount: 'The number of webhook endpoints on all pages.',
});

builder.queryField('webhookEndpoints', (t) =>
  t.page(endpoints, { description: "The platform's webhook endpoints, newest first." }),
);

builder.prismaObjectField(WebhookDelivery, 'endpoint', (t) =>
  t.seen('endpoint', WebhookEndpoint, visibleToPlatform, {
    description: 'The endpoint to which the event is delivered; null if the endpoint was deleted during this query.',
  }),
);

builder.prismaObjectField(Event, 'deliveries', (t) =>
  t.many('deliveries', WebhookDelivery, {
    description: "The event's deliveries to webhook endpoints, oldest first. Empty if the caller uses a client token.",
    orderBy: ['id'],
    visible: visibleToPlatform,
  }),
);

const secretDescription =
  'The signing secret (whsec_…). It is shown only once: a repeated call is refused with CONFLICT.';
const endpointIdDescription = 'The webhook endpoint (`WebhookEndpoint:…`).';

mutation('createWebhookEndpoint', {
  description:
    'Creates a webhook endpoint. A test event is sent to its URL immediately, followed by all later events of its types.',
  input: (t) => ({
    url: t.string({
      required: true,
      description:
        'The URL to send events to: https with a public host name, on port 443 or 8443. In the sandbox, http or https to the loopback interface is also accepted.',
    }),
    eventTypes: t.field({
      type: [EventType],
      description:
        'The event types to send. By default, all types that have a webhook are sent. INCOMING_PAYMENT needs a token with TRANSACT, because the response to such an event can approve the payment.',
    }),
    description: t.string({ description: "The platform's own description of the endpoint, at most 500 characters." }),
  }),
  success: {
    endpoint: { type: WebhookEndpoint, description: 'The new endpoint.' },
    secret: { type: 'String', description: secretDescription },
  },
  namesNothing: true,
  resolve: (input, { webhooks, viewer }, key) => createEndpoint(webhooks, viewer, input, key),
});

mutation('updateWebhookEndpoint', {
  description:
    'Changes a webhook endpoint. Omitted fields stay as they are. If the URL changes, a test event is sent to the new one. A token needs TRANSACT to add INCOMING_PAYMENT to an endpoint and, if the endpoint receives it, to enable the endpoint or change its URL.',
  input: (t) => ({
    endpointId: t.id({ required: true, description: endpointIdDescription }),
    url: t.string({
      description:
        'The new URL to send events to: https with a public host name, on port 443 or 8443. In the sandbox, http or https to the loopback interface is also accepted.',
    }),
    eventTypes: t.field({ type: [EventType], description: 'The event types to send from now on.' }),
    description: t.string({
      description: "The platform's own description of the endpoint, at most 500 characters; null removes it.",
    }),
    enabled: t.boolean({
      description:
        'If false, the endpoint is disabled and its pending deliveries fail. If true, it is enabled: it receives new events again, and the events that it missed can be replayed.',
    }),
  }),
  success: { endpoint: { type: WebhookEndpoint, description: 'The changed endpoint.' } },
  resolve: (input, { webhooks, viewer }, key) => updateEndpoint(webhooks, viewer, input, key),
});

mutation('deleteWebhookEndpoint', {
  description: 'Deletes a webhook endpoint with all its deliveries.',
  input: (t) => ({ endpointId: t.id({ required: true, description: endpointIdDescription }) }),
  success: { deletedId: { type: 'ID', description: 'The id of the deleted endpoint.' } },
  resolve: (input, { webhooks, viewer }, key) => deleteEndpoint(webhooks, viewer, input, key),
});

mutation('rotateWebhookSecret', {
  description:
    'Replaces the signing secret of a webhook endpoint. For 24 hours, events are signed with both the new secret and the previous one.',
  input: (t) => ({ endpointId: t.id({ required: true, description: endpointIdDescription }) }),
  success: {
    endpoint: { type: WebhookEndpoint, description: 'The endpoint with the new secret.' },
    secret: { type: 'String', description: secretDescription },
  },
  resolve: (input, { webhooks, viewer }, key) => rotateSecret(webhooks, viewer, input, key),
});

mutation('sendTestWebhook', {
  description:
    'Sends a test event to a webhook endpoint and waits a few seconds for the outcome of the first attempt. The event is retried like any other.',
  input: (t) => ({ endpointId: t.id({ required: true, description: endpointIdDescription }) }),
  success: {
    delivered: { type: 'Boolean', description: 'Whether the receiver accepted the event.' },
    responseStatus: {
      type: 'Int',
      nullable: true,
      description: "The HTTP status of the receiver's response; null if none arrived in time.",
    },
  },
  resolve: async (input, { webhooks, viewer }, key) => {
    const { delivered, responseStatus, replayed } = await sendTest(webhooks, viewer, input, key);
    return { delivered, responseStatus, replayed };
  },
});

const FeedRangeInput = builder.inputType('FeedRangeInput', {
  description:
    'A part of the feed: events after a cursor, before one, or between two. At least one cursor is required.',
  fields: (t) => ({
    after: t.string({ description: 'Only events after this feed cursor.' }),
    before: t.string({ description: 'Only events before this feed cursor.' }),
  }),
});

const ReplayedEventsInput = oneOf('ReplayedEventsInput', 'The events to replay', (t) => ({
  eventId: t.id({ description: 'A single event, by its own id or its webhook id (`Event:…` or `Webhook:…`).' }),
  between: t.field({
    type: FeedRangeInput,
    description:
      "All events in a part of the feed, limited to the endpoint's event types. Refused if there are more than 10000.",
  }),
}));

mutation('replayWebhookEvents', {
  description: 'Sends past events to a webhook endpoint again, each with its original webhook id.',
  input: (t) => ({
    endpointId: t.id({ required: true, description: endpointIdDescription }),
    events: t.field(required(ReplayedEventsInput, 'The events to replay: set exactly one field.')),
  }),
  success: { count: { type: 'Int', description: 'The number of events that will be sent.' } },
  resolve: ({ endpointId, events: { eventId, between } }, { webhooks, viewer }, key) =>
    replay(webhooks, viewer, { endpointId, eventId, ...between }, key),
});

mutation('resendWebhookDelivery', {
  description:
    'Resends a delivery, regardless of its outcome. The delivery keeps its id and its history of attempts. If the endpoint is disabled, the request is refused with CONFLICT.',
  input: (t) => ({
    deliveryId: t.id({ required: true, description: 'The delivery to resend (`WebhookDelivery:…`).' }),
  }),
  success: { delivery: { type: WebhookDelivery, description: 'The delivery, which is now PENDING.' } },
  resolve: (input, { webhooks, viewer }, key) => resend(webhooks, viewer, input, key),
});
