import { type OpenAPIHono, z } from '@hono/zod-openapi';
import { KycStatus } from '../../infra/database/generated/client/client.ts';
import type { webhookTypes } from '../webhooks/webhooks.ts';
import { type RestApp, restPrefix, restVersion } from './context.ts';
import { documentErrors } from './endpoint.ts';
import { exampleGuide } from './examples.ts';
import { AmountSchema, boolean, id, listOf, oneOf, responseObject, string, time, whole } from './schemas/fields.ts';
import { TransactionSchema } from './schemas/payment-schemas.ts';

const tags = {
  Quotes: 'A rate and fees, locked until the quote expires.',
  Transactions: 'Outgoing and incoming payments.',
  Transfers: 'Payments in one currency, without a rate.',
  Customers: 'The people and companies for whom the platform moves money.',
  'Internal accounts': 'Balances held by this service.',
  'External accounts': 'Bank accounts and wallets held elsewhere.',
  Receivers: 'The currencies and limits for payments to a UMA address.',
  'Exchange rates': 'Indicative rates.',
  Platform: "The platform's settings.",
  Tokens: "Credentials of the platform's servers.",
  'Trusted documents': 'The GraphQL documents that apps may send, registered by their hashes.',
  Webhooks: 'Events that are posted to the platform, and their deliveries.',
  Sandbox: 'Simulated deposits, incoming payments and identity checks.',
} as const;

/** Builds the OpenAPI 3.1 document from the definitions that validate requests. Call it after adding all endpoints. */
export function restDocument(app: RestApp) {
  const registry = app.openAPIRegistry;
  registry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'basic',
    description: 'An API token: its clientId is the username, and its secret is the password.',
  });
  registry.registerComponent('parameters', 'IdempotencyKey', {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]{1,255}$' },
    description:
      'Makes retries safe: requests with the same key and the same input, to this API or to GraphQL, take effect once and get the same response. 1 to 255 printable ASCII characters without spaces.',
  });
  registry.registerComponent('parameters', 'IfMatch', {
    name: 'If-Match',
    in: 'header',
    required: false,
    schema: { type: 'string', maxLength: 255 },
    description:
      'The entity tag (`ETag`) of the record as you last read it. If the tag has changed since then, nothing is changed and the response is 412. `*` matches any tag.',
  });
  documentErrors(registry);
  documentWebhooks(registry);
  const document = plain(
    app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: {
        title: 'Payments',
        version: restVersion,
        description:
          'Quotes, transfers, accounts and customers. Amounts are integers in the smallest unit of their currency. In requests, null is equivalent to omitting the field, except in a PATCH, where null clears an optional field. The GraphQL API serves the same data, with the same ids, cursors and idempotency keys.',
        license: { name: 'MIT License', url: 'https://opensource.org/license/mit' },
      },
      // Relative to the document, so that the URL is also correct behind a proxy that serves the API under a prefix.
      servers: [{ url: `..${restPrefix}`, description: 'This server.' }],
      security: [{ token: [] }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    }),
  );
  // The version is part of the base URL, so the paths do not contain it.
  const paths = Object.entries(document.paths ?? {}).map(
    ([path, item]) => [path.slice(restPrefix.length), item] as const,
  );
  // The console replaces the ids in the examples with the platform's own.
  return { ...document, paths: Object.fromEntries(paths), 'x-example-guide': exampleGuide };
}

/**
 * Moves a description or the type null out of an `allOf` and puts it next to the reference, as OpenAPI 3.1 allows.
 * Otherwise, code generators would turn the `allOf` into `A & unknown`.
 */
function plain<Part>(part: Part): Part {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map(plain) as Part;
  const { allOf, ...rest } = part as {
    readonly allOf?: readonly { readonly $ref?: string; readonly type?: unknown }[];
  };
  const [reference, more] = allOf ?? [];
  if (allOf?.length === 2 && reference?.$ref && more) {
    const { type, ...beside } = more;
    const own = { ...rest, ...beside };
    // The referenced type (or null), merged with any keywords next to the reference.
    return (Array.isArray(type) ? { anyOf: [reference, { type: 'null' }], ...own } : { ...reference, ...own }) as Part;
  }
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, plain(value)])) as Part;
}

// Describes the webhook bodies that the service posts to a platform, for the OpenAPI document.

const customer = {
  customerId: id('Customer', 'The customer who owns the account; absent if the platform itself owns it.').optional(),
  platformCustomerId: string("The platform's own id for the customer.").optional(),
};

/** The description of each webhook type, and the fields that it has in addition to the common ones. */
const webhooks = {
  OUTGOING_PAYMENT: {
    name: 'OutgoingPaymentNotification',
    summary: 'An outgoing payment has progressed',
    description: 'Sent when an outgoing payment gets a new status.',
    fields: { transaction: TransactionSchema },
  },
  INCOMING_PAYMENT: {
    name: 'IncomingPaymentNotification',
    summary: 'An incoming payment has progressed or is waiting for approval',
    description:
      'Sent when an incoming payment gets a new status. While the payment is PENDING, the response decides: 200 approves it, 403 rejects it, 422 names the missing information about the sender, and 202 defers the decision to a later request that approves or rejects it.',
    fields: {
      transaction: TransactionSchema,
      requestedReceiverCustomerInfoFields: listOf(
        z.object({
          name: string('The name of the field, such as FULL_NAME.'),
          mandatory: boolean('Whether an approval must contain this field.'),
        }),
      )
        .optional()
        .describe(
          'The receiver information that the sender requests; present only while the payment is waiting for approval.',
        ),
    },
  },
  ACCOUNT_STATUS: {
    name: 'AccountStatusNotification',
    summary: 'A balance has changed',
    description: 'Sent when money is credited to or debited from an internal account.',
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
      kycStatus: oneOf(KycStatus, 'The status of the identity check after the change.'),
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
  'webhook-id': string('The same as `webhookId`. Process each id only once.'),
  'webhook-timestamp': string(
    'When this attempt was made, in seconds since 1970. Reject attempts more than a few minutes old.',
  ),
  'webhook-signature': string(
    '`v1,` and the base64 of the HMAC-SHA256 of `webhook-id.webhook-timestamp.body`, as in Standard Webhooks. While a secret is being rotated, there are several signatures, separated by spaces.',
  ),
});

const approval = responseObject('PaymentApproval', {
  receiverCustomerInfo: z
    .record(z.string(), z.string())
    .optional()
    .describe('The requested receiver information, keyed by field name.'),
}).describe('Approves the pending payment.');

function documentWebhooks(registry: OpenAPIHono['openAPIRegistry']): void {
  for (const [type, { name, summary, description, fields }] of Object.entries(webhooks)) {
    const common = {
      type: z.literal(type).describe("The event's type."),
      webhookId: id('Webhook', "The webhook's id: the same in every attempt, at every endpoint and in every replay."),
      eventId: id('Event', 'The id of the event in the feed.'),
      timestamp: time('When the change happened.'),
      sequence: z.int().min(1).max(Number.MAX_SAFE_INTEGER).describe("The event's number in the platform's feed."),
      cursor: string("The event's position in the feed, after which a stream can resume."),
      version: whole('The version of the object that changed. Ignore versions lower than the latest you have seen.'),
    };
    const schema = z.object({ ...common, ...fields }).openapi(name, { description });
    const taken = { description: 'Accepted. Any 2xx or 409 response counts as acceptance.' };
    const approves = type === 'INCOMING_PAYMENT' && { content: { 'application/json': { schema: approval } } };
    registry.registerWebhook({
      ...{ method: 'post', path: type, operationId: name, tags: ['Webhooks'], summary, description, security: [] },
      request: { headers: signature, body: { required: true, content: { 'application/json': { schema } } } },
      responses: {
        200: { ...taken, ...approves },
        '4XX': {
          description:
            'Refused. An approval request is sent only once; any other webhook is retried (ten attempts over about three days), unless the response is 410, which disables the endpoint.',
        },
      },
    });
  }
}
