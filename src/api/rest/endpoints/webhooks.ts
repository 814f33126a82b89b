import { z } from '@hono/zod-openapi';
import { testConfigEndpoint } from '../../webhooks/endpoints/config-endpoint.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { RestApp } from '../app.ts';
import { Endpoints } from '../endpoint.ts';

// The specification requires names with underscores (decision 51).
const TestSchema = z
  .object({
    response_status: z.int().min(100).max(599).openapi({ description: "The receiver's HTTP status.", example: 200 }),
    url: z.string().describe('The URL to which the event was posted.'),
  })
  .openapi('WebhookTest', { description: 'The outcome of a test event.' });

/** Adds the endpoint that tests webhooks (decision 51). Their settings are in config.ts. */
export function webhookEndpoints(app: RestApp, webhooks: Webhooks): void {
  new Endpoints(app, 'Webhooks').command('sendTestWebhook', {
    operationId: 'testWebhook',
    summary: 'Send a test event',
    description:
      'Posts a TEST event to the webhookEndpoint of the settings and waits a few seconds for the response to its first attempt. The event is retried like any other.',
    at: 'post /webhooks/test',
    body: z
      .strictObject({
        url: z.string().optional().openapi({
          description: 'The URL of a registered endpoint, to use it instead of the endpoint in the settings.',
          example: 'https://example.com/webhooks',
        }),
      })
      .openapi('TestWebhook'),
    isBodyOptional: true,
    answer: [200, TestSchema, 'The receiver answered.'],
    run: (input, { viewer, key }) => testConfigEndpoint(webhooks, viewer, input, key),
    record: ({ url, responseStatus }) => ({ response_status: responseStatus, url }),
  });
}
