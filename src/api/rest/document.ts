import { type RestApp, restPrefix, restVersion } from './app.ts';
import { exampleGuide, examples } from './examples.ts';
import { documentWebhooks } from './schemas/webhook-schemas.ts';

type Document = ReturnType<RestApp['getOpenAPI31Document']>;

const tags = {
  Quotes: 'A rate and fees, locked until they expire.',
  Transactions: 'Outgoing and incoming payments.',
  Transfers: 'Payments in one currency, without a rate.',
  Customers: 'The people and companies for whom the platform moves money.',
  'Internal accounts': 'Balances held by this service.',
  'External accounts': 'Bank accounts and wallets outside this service.',
  Receivers: 'The currencies and limits of payments to a UMA address.',
  'Exchange rates': 'Indicative rates.',
  Platform: "The platform's settings.",
  Tokens: "Credentials of the platform's servers.",
  'Trusted documents': 'The GraphQL documents that apps may send, registered by their hashes.',
  Webhooks: 'Events that are posted to the platform, and their deliveries.',
  Sandbox: 'Simulated deposits, incoming payments and identity checks.',
} as const;

/** Builds the OpenAPI 3.1 document from the definitions that validate requests. Call it after all have been added. */
export function restDocument(app: RestApp): Document {
  const registry = app.openAPIRegistry;
  registry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'basic',
    description: 'The client id and the secret of an API token, joined by a colon.',
  });
  registry.registerComponent('parameters', 'IdempotencyKey', {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]{1,255}$' },
    description:
      'Makes retries safe: requests with the same key and the same input have one effect and one response, in this API and GraphQL alike. 1 to 255 printable ASCII characters without spaces.',
  });
  registry.registerComponent('parameters', 'IfMatch', {
    name: 'If-Match',
    in: 'header',
    required: false,
    schema: { type: 'string', maxLength: 255 },
    description:
      'The entity tag (`ETag`) of the record that you last read. If the record has a different one by now, nothing is changed and the response is 412. `*` accepts any.',
  });
  documentWebhooks(registry);
  const document = plain(
    app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: {
        title: 'Payments',
        version: restVersion,
        description:
          'Quotes, transfers, accounts and customers. Amounts are integers in the smallest unit of their currency. In requests, null means the same as leaving a field out; in a PATCH it clears the field. The GraphQL API serves the same data, with the same ids, cursors and idempotency keys.',
        license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      },
      // Relative to the document, so that it is also right behind a proxy that serves it under a prefix.
      servers: [{ url: `..${restPrefix}`, description: 'This server.' }],
      security: [{ token: [] }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    }),
  );
  // The version is part of the base URL: the paths do not contain it (specification 9).
  const paths = Object.entries(document.paths ?? {}).map(
    ([path, item]) => [path.slice(restPrefix.length), withExamples(item)] as const,
  );
  // The console replaces the ids of the examples with those of the platform.
  return { ...document, paths: Object.fromEntries(paths), 'x-example-guide': exampleGuide };
}

/**
 * Writes references in OpenAPI 3.1 form, with description and null beside them instead of an `allOf`, which code
 * generators turn into `A & unknown`.
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
    // The referenced type (or null), with its own keywords.
    return (Array.isArray(type) ? { anyOf: [reference, { type: 'null' }], ...own } : { ...reference, ...own }) as Part;
  }
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, plain(value)])) as Part;
}

type Paths = NonNullable<Document['paths']>;

function withExamples(item: Paths[string]): Paths[string] {
  const operations = Object.entries(item as Record<string, Operation>).map(([method, operation]) => {
    const body = operation.requestBody?.content['application/json'];
    const ofBody = examples[operation.operationId];
    if (!body) return [method, operation];
    const content = { 'application/json': { ...body, examples: ofBody } };
    return [method, { ...operation, requestBody: { ...operation.requestBody, content } }];
  });
  return Object.fromEntries(operations);
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> };
}
