import { type OpenAPIHono, z } from '@hono/zod-openapi';
import { KycStatus } from '../../../infra/database/generated/client/client.ts';
import type { webhookTypes } from '../../webhooks/webhooks.ts';
import { AmountSchema, id, listed, time } from './fields.ts';
import { TransactionSchema } from './payment-schemas.ts';

// Defines the bodies that the service posts to a platform (specification 6), as webhooks of the OpenAPI document.

const customer = {
  customerId: id('Customer', 'The customer who owns the account; absent if the platform itself does.').optional(),
  platformCustomerId: z.string().optional().describe("The platform's own id of the customer."),
};

/** The fields that each type of webhook adds to the common ones, and its descriptions. */
const webhooks = {
  OUTGOING_PAYMENT: {
    name: 'OutgoingPaymentNotification',
    summary: 'An outgoing payment has progressed',
    description: 'Sent when an outgoing payment gets a new status.',
    fields: { transaction: TransactionSchema },
  },
  INCOMING_PAYMENT: {
    name: 'IncomingPaymentNotification',
    summary: 'An incoming payment has progressed, or waits for approval',
    description:
      'Sent when an incoming payment gets a new status. While the payment is PENDING, the response decides: 200 approves it, 403 rejects it, 422 names information that is missing about the sender, and 202 defers the decision to the endpoints that approve and reject.',
    fields: {
      transaction: TransactionSchema,
      requestedReceiverCustomerInfoFields: listed(
        z.object({
          name: z.string().describe('The name of the information, such as FULL_NAME.'),
          mandatory: z.boolean().describe('Whether an approval must contain this information.'),
        }),
      )
        .optional()
        .describe(
          'The information about the receiver that the sender requests; only while the payment waits for approval.',
        ),
    },
  },
  ACCOUNT_STATUS: {
    name: 'AccountStatusNotification',
    summary: 'A balance has changed',
    description: 'Sent when money was credited to an internal account or debited from it.',
    fields: {
      accountId: id('InternalAccount', 'The account whose balance changed.'),
      oldBalance: AmountSchema.optional(),
      newBalance: AmountSchema.optional(),
      ...customer,
    },
  },
  KYC_STATUS: {
    name: 'KycStatusNotification',
    summary: 'An identity check has a result',
    description: 'Sent when the KYC status of a customer changes.',
    fields: {
      ...customer,
      kycStatus: z.enum(KycStatus).describe('The status of the identity check after the change.'),
    },
  },
  API_TOKEN_EXPIRY: {
    name: 'TokenExpiryNotification',
    summary: 'A token expires soon',
    description: 'Sent once, within the week before an API token expires.',
    fields: {
      tokenId: id('ApiToken', 'The token that expires.'),
      expiresAt: time('When the token expires.'),
    },
  },
  TEST: {
    name: 'TestNotification',
    summary: 'A test event',
    description: 'Sent to a new endpoint, and on request.',
    fields: { test: z.literal(true).describe('Marks the event as a test: always true.') },
  },
} as const satisfies Record<(typeof webhookTypes)[number], object>;

const signature = z.object({
  'webhook-id': z.string().describe('The same as `webhookId`: process each id only once.'),
  'webhook-timestamp': z
    .string()
    .describe('When this attempt was made, in seconds since 1970. Refuse an attempt that is minutes old.'),
  'webhook-signature': z
    .string()
    .describe(
      '`v1,` and the base64 of the HMAC-SHA256 of `webhook-id.webhook-timestamp.body`, as in Standard Webhooks. While a secret is being rotated, several signatures are separated by spaces.',
    ),
});

const approval = z
  .object({
    receiverCustomerInfo: z
      .record(z.string(), z.string())
      .optional()
      .describe('The requested information about the receiver, by name.'),
  })
  .openapi('PaymentApproval', { description: 'Approves the pending payment.' });

/** Adds every webhook to the OpenAPI document. */
export function documentWebhooks(registry: OpenAPIHono['openAPIRegistry']): void {
  for (const [type, { name, summary, description, fields }] of Object.entries(webhooks)) {
    const common = {
      type: z.literal(type).describe('The type of the event.'),
      webhookId: id('Webhook', 'The id of the webhook: the same in every attempt, at every endpoint and in replays.'),
      eventId: id('Event', 'The id of the event in the feed.'),
      timestamp: time('When the change happened.'),
      sequence: z.int().min(1).max(Number.MAX_SAFE_INTEGER).describe("The number of the event in the platform's feed."),
      cursor: z.string().describe('The position of the event in the feed: a stream can resume after it.'),
      version: z
        .int()
        .min(0)
        .max(Number.MAX_SAFE_INTEGER)
        .describe('The version of the object that changed. Ignore versions lower than the latest you have seen.'),
    };
    const schema = z.object({ ...common, ...fields }).openapi(name, { description });
    const taken = { description: 'Accepted. Any 2xx response and 409 count as accepted.' };
    const approves = type === 'INCOMING_PAYMENT' && { content: { 'application/json': { schema: approval } } };
    registry.registerWebhook({
      ...{ method: 'post', path: type, operationId: name, tags: ['Webhooks'], summary, description, security: [] },
      request: { headers: signature, body: { required: true, content: { 'application/json': { schema } } } },
      responses: {
        200: { ...taken, ...approves },
        '4XX': { description: 'Refused: the webhook is sent again, ten times within about three days.' },
      },
    });
  }
}
