import { createRoute, z } from '@hono/zod-openapi';
import { testConfigEndpoint } from '../../webhooks/endpoints/config-endpoint.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { RestApp } from '../app.ts';
import {
  command,
  commandEndpointWithOptionalBody,
  commandErrors,
  commandResponse,
  noQuery,
  optionalBody,
} from '../endpoint.ts';
import { samePaths } from '../input-paths.ts';

// The specification requires names with underscores (decision 51).
const TestSchema = z
  .object({
    response_status: z.int().min(100).max(599).openapi({ description: "The receiver's HTTP status.", example: 200 }),
    url: z.string().describe('The URL to which the event was posted.'),
  })
  .openapi('WebhookTest', { description: 'The outcome of a test event.' });

const test = createRoute({
  ...commandEndpointWithOptionalBody('sendTestWebhook', {
    operationId: 'testWebhook',
    tags: ['Webhooks'],
    summary: 'Send a test event',
    description:
      'Posts a TEST event to the webhookEndpoint of the settings and waits some seconds for the response to its first attempt. It is retried like any event.',
  }),
  method: 'post',
  path: '/webhooks/test',
  request: {
    query: noQuery,
    body: optionalBody(
      z
        .strictObject({
          url: z.string().optional().openapi({
            description: 'The URL of a registered endpoint, to use it instead of the endpoint in the settings.',
            example: 'https://example.com/webhooks',
          }),
        })
        .openapi('TestWebhook'),
    ),
  },
  responses: { 200: commandResponse(TestSchema, 'The receiver answered.'), ...commandErrors() },
});

/** Adds the endpoint that tests webhooks (decision 51). Their settings are in config.ts. */
export function webhookEndpoints(app: RestApp, webhooks: Webhooks): void {
  app.openapi(test, async (context) => {
    const input = context.req.valid('json');
    const { url, responseStatus } = await command(context, samePaths, (key, viewer) =>
      testConfigEndpoint(webhooks, viewer, input, key),
    );
    return context.json({ response_status: responseStatus, url }, 200);
  });
}
