import { type RestApp, restPrefix, restVersion } from './app.ts';

type Document = ReturnType<RestApp['getOpenAPI31Document']>;

const tags = {
  Quotes: 'A rate and fees, locked until they expire.',
  Transactions: 'Payments, out and in.',
  Transfers: 'Payments in one currency, without a rate.',
  Customers: 'Those for whom the platform moves money.',
  'Internal accounts': 'Balances held here.',
  'External accounts': 'Bank accounts and wallets elsewhere.',
  Receivers: 'What can be paid to a UMA address.',
  'Exchange rates': 'Indicative rates.',
  Platform: "The platform's settings.",
  Tokens: 'Credentials of servers.',
  Webhooks: 'Events, posted to the platform.',
  Sandbox: 'Simulates the world outside.',
} as const;

/** The OpenAPI 3.1 document, made from the definitions that validate the requests. Made once, when all are known. */
export function restDocument(app: RestApp): Document {
  const registry = app.openAPIRegistry;
  registry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'basic',
    description: 'The client id and the secret of an API token, joined by a colon (specification 5).',
  });
  registry.registerComponent('parameters', 'IdempotencyKey', {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]{1,255}$' },
    description:
      'Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent, over this interface and over GraphQL.',
  });
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Payments',
      version: restVersion,
      description:
        'Quotes, transfers, accounts and customers. Amounts are integers in the smallest unit of their currency. The same domain as the GraphQL endpoint: ids, cursors and idempotency keys mean the same on both.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: restPrefix, description: 'This server.' }],
    security: [{ token: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
  });
  // The version is part of the base address, and the paths are the interface's (specification 9).
  const paths = Object.entries(document.paths ?? {}).map(
    ([path, item]) => [path.slice(restPrefix.length), item] as const,
  );
  return { ...document, paths: Object.fromEntries(paths) };
}
