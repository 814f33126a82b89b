import { createEndpoint, deleteEndpoint, rotateSecret, updateEndpoint } from '../../../webhooks/endpoints/endpoints.ts';
import { replay } from '../../../webhooks/endpoints/replay.ts';
import { resend } from '../../../webhooks/endpoints/resend.ts';
import { sendTest } from '../../../webhooks/endpoints/test-event.ts';
import { builder } from '../builder.ts';
import { EventType } from '../enums.ts';
import { mutation } from '../mutation.ts';
import { WebhookDelivery, WebhookEndpoint } from './webhook-endpoint.ts';

const secretDescription =
  'The signing secret (whsec_…), shown this once: a repeat of the call is refused with CONFLICT.';
const endpointIdDescription = 'WebhookEndpoint:…';

mutation('createWebhookEndpoint', {
  description: 'Has events sent to an address from now on, and a test event at once.',
  input: (t) => ({
    url: t.string({
      required: true,
      description:
        'https, port 443 or 8443, with a public host name; in the sandbox also http on the loopback interface.',
    }),
    eventTypes: t.field({
      type: [EventType],
      description:
        'Which events; all that webhooks carry when left out. INCOMING_PAYMENT needs a token with TRANSACT: answers to it approve payments.',
    }),
    description: t.string({ description: "The platform's own words for it, at most 500 characters." }),
  }),
  success: {
    endpoint: { type: WebhookEndpoint, description: 'The new endpoint.' },
    secret: { type: 'String', description: secretDescription },
  },
  resolve: ({ idempotencyKey, ...input }, { webhooks, viewer }) =>
    createEndpoint(webhooks, viewer, input, idempotencyKey),
});

mutation('updateWebhookEndpoint', {
  description:
    'Changes an endpoint. What is left out stays as it is. A new url gets a test event. To move or enable one for INCOMING_PAYMENT, or to add that type, needs a token with TRANSACT.',
  input: (t) => ({
    endpointId: t.id({ required: true, description: endpointIdDescription }),
    url: t.string({ description: 'As in createWebhookEndpoint.' }),
    eventTypes: t.field({ type: [EventType], description: 'Which events it gets from now on.' }),
    description: t.string({ description: 'At most 500 characters; null takes it away.' }),
    enabled: t.boolean({
      description:
        'false: it gets nothing, and what waits for it has failed. true: it gets events from now on; what it missed can be replayed.',
    }),
  }),
  success: { endpoint: { type: WebhookEndpoint, description: 'The endpoint as it is now.' } },
  refusals: ['NotFoundError'],
  resolve: ({ idempotencyKey, ...input }, { webhooks, viewer }) =>
    updateEndpoint(webhooks, viewer, input, idempotencyKey),
});

mutation('deleteWebhookEndpoint', {
  description: 'Removes an endpoint with all its deliveries.',
  input: (t) => ({ endpointId: t.id({ required: true, description: endpointIdDescription }) }),
  success: { deletedId: { type: 'ID', description: 'The id that it had.' } },
  refusals: ['NotFoundError'],
  resolve: ({ idempotencyKey, ...input }, { webhooks, viewer }) =>
    deleteEndpoint(webhooks, viewer, input, idempotencyKey),
});

mutation('rotateWebhookSecret', {
  description:
    'Gives an endpoint a new signing secret. For 24 hours its events carry two signatures, of the new secret and of the one before.',
  input: (t) => ({ endpointId: t.id({ required: true, description: endpointIdDescription }) }),
  success: {
    endpoint: { type: WebhookEndpoint, description: 'The endpoint.' },
    secret: { type: 'String', description: secretDescription },
  },
  refusals: ['NotFoundError'],
  resolve: ({ idempotencyKey, ...input }, { webhooks, viewer }) =>
    rotateSecret(webhooks, viewer, input, idempotencyKey),
});

mutation('sendTestWebhook', {
  description:
    'Sends a test event to an endpoint and waits some seconds for the outcome of its first attempt. The event is tried again like any other.',
  input: (t) => ({ endpointId: t.id({ required: true, description: endpointIdDescription }) }),
  success: {
    delivered: { type: 'Boolean', description: 'Whether the receiver took it.' },
    responseStatus: { type: 'Int', nullable: true, description: 'Its HTTP status; null when it gave none in time.' },
  },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, ...input }, { webhooks, viewer }) => {
    const { delivered, responseStatus, replayed } = await sendTest(webhooks, viewer, input, idempotencyKey);
    return { delivered, responseStatus, replayed };
  },
});

const FeedRangeInput = builder.inputType('FeedRangeInput', {
  description: 'A part of the feed: at least one field.',
  fields: (t) => ({
    after: t.string({ description: 'A cursor of the feed: only what came after it.' }),
    before: t.string({ description: 'A cursor of the feed: only what came before it.' }),
  }),
});

const ReplayedEventsInput = builder.inputType('ReplayedEventsInput', {
  description: 'What is sent again: exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    eventId: t.id({ description: "One event: Event:…, or the webhook's own id." }),
    between: t.field({ type: FeedRangeInput, description: 'Events of the types of the endpoint, at most 10000.' }),
  }),
});

mutation('replayWebhookEvents', {
  description: 'Sends events to an endpoint again, each under the id that it always had.',
  input: (t) => ({
    endpointId: t.id({ required: true, description: endpointIdDescription }),
    events: t.field({ type: ReplayedEventsInput, required: true, description: 'What is sent again.' }),
  }),
  success: { count: { type: 'Int', description: 'How many events are sent.' } },
  refusals: ['NotFoundError'],
  resolve: ({ idempotencyKey, endpointId, events: { eventId, between } }, { webhooks, viewer }) =>
    replay(webhooks, viewer, { endpointId, eventId, ...between }, idempotencyKey),
});

mutation('resendWebhookDelivery', {
  description:
    'Sends one delivery again, whatever became of it. It has the id that it always had, and the record of its attempts stays. CONFLICT: its endpoint is disabled.',
  input: (t) => ({ deliveryId: t.id({ required: true, description: 'WebhookDelivery:…' }) }),
  success: { delivery: { type: WebhookDelivery, description: 'The delivery, PENDING.' } },
  refusals: ['NotFoundError'],
  resolve: ({ idempotencyKey, ...input }, { webhooks, viewer }) => resend(webhooks, viewer, input, idempotencyKey),
});
