import { z } from '@hono/zod-openapi';
import { testConfigEndpoint } from '../../webhooks/endpoints/endpoints.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { Endpoints } from '../endpoint.ts';
import { requestObject, responseObject, string } from '../schemas/fields.ts';

// The specification requires names with underscores.
const TestSchema = responseObject('WebhookTest', {
  response_status: z.int().min(100).max(999).openapi({ description: "The receiver's HTTP status.", example: 200 }),
  url: string('The URL to which the event was posted.'),
}).describe('The outcome of a test event.');

/** Adds the endpoint for test webhooks. The webhook settings are in config.ts. Only GraphQL shows deliveries. */
export function webhookEndpoints(endpoints: Endpoints, webhooks: Webhooks): void {
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
}
