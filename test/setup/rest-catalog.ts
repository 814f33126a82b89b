import { hashSecret, newCredentials } from '../../src/access/api-tokens.ts';
import { openDatabase } from '../../src/database/database.ts';
import { basicAuthorization } from '../../src/graphql/graphiql.ts';
import { type Data, startTestGateway, type TestGateway } from './gateway.ts';
import { type RestClient, restClient } from './rest.ts';
import { type RestScene, restScene, usAccount } from './rest-scene.ts';

/** An endpoint of the document, with ids in its path. */
export interface Endpoint {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Data[];
  /** The fields that its body must have; undefined where it has no body. */
  readonly required: readonly string[] | undefined;
}

/** A request of a command that the service accepts. */
export interface GoodRequest {
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Everything that a walk over all endpoints needs. */
export interface Catalog {
  readonly t: TestGateway;
  readonly rest: RestClient;
  /** Another platform's client. */
  readonly other: RestClient;
  readonly scene: RestScene;
  readonly quoteId: string;
  /** Credentials of tokens that may do one thing only. */
  readonly viewOnly: string;
  readonly transactOnly: string;
  readonly endpoints: readonly Endpoint[];
  /** The commands that have a good request here: an endpoint that has none fails the tests. */
  readonly commands: readonly string[];
  /** A good request of a command, a new one each time. */
  good(id: string): Promise<GoodRequest>;
}

/** Starts a gateway and reads its document. */
export async function openCatalog(): Promise<Catalog> {
  const t = await startTestGateway();
  const rest = await restClient(t.url, t.platform.authorization);
  const other = await restClient(t.url, (await t.newPlatform('other')).authorization);
  const scene = await restScene(rest);
  const requests = goodRequests(rest, scene);
  const quoteId: string = (await rest.ask('POST', '/quotes', quoteBody(scene), 201)).quoteId;
  return {
    t,
    rest,
    other,
    scene,
    quoteId,
    viewOnly: await tokenWith(t, 'VIEW'),
    transactOnly: await tokenWith(t, 'TRANSACT'),
    endpoints: endpointsOf(rest.document, {
      quoteId,
      accountId: scene.usd.id,
      customerId: scene.customer.id,
      transactionId: 'Transaction:0',
    }),
    commands: Object.keys(requests),
    async good(id) {
      const make = requests[id];
      if (!make) throw new Error(`no good request of ${id} is known here`);
      return make();
    },
  };
}

async function tokenWith(t: TestGateway, permission: 'VIEW' | 'TRANSACT'): Promise<string> {
  const credentials = newCredentials();
  const database = openDatabase({ url: t.databaseUrl, poolSize: 1 });
  await database.prisma.apiToken.create({
    data: {
      platformId: t.platform.platformId,
      clientId: credentials.clientId,
      secretHash: new Uint8Array(hashSecret(credentials.secret)),
      name: permission,
      permissions: [permission],
    },
  });
  await database.close();
  return basicAuthorization(credentials);
}

/** A quote from the scene's USD to EUR outside. */
export function quoteBody(scene: RestScene) {
  return {
    source: { sourceType: 'ACCOUNT', accountId: scene.usd.id },
    destination: { destinationType: 'ACCOUNT', accountId: scene.outsideEur.id },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 1_000,
  };
}

let made = 0;

/** A customer of its own. */
function newCustomer(rest: RestClient): Promise<Data> {
  made += 1;
  const body = { customerType: 'INDIVIDUAL', platformCustomerId: `contract-${made}`, fullName: 'Ada Lovelace' };
  return rest.ask('POST', '/customers', body, 201);
}

/** A payment that waits for its platform's word, as a command announces it. */
function announcement(scene: RestScene) {
  return {
    senderUmaAddress: '$sender@example.com',
    customerId: scene.customer.id,
    receivingCurrencyCode: 'USD',
    receivingCurrencyAmount: 100,
  };
}

function goodRequests(rest: RestClient, scene: RestScene): Record<string, () => GoodRequest | Promise<GoodRequest>> {
  return {
    createQuote: () => ({ path: '/quotes', body: quoteBody(scene) }),
    executeQuote: async () => {
      const quote = await rest.ask('POST', '/quotes', quoteBody(scene), 201);
      return { path: `/quotes/${quote.quoteId}/execute` };
    },
    transferOut: () => ({
      path: '/transfer-out',
      body: { source: { accountId: scene.usd.id }, destination: { accountId: scene.outsideUsd.id }, amount: 100 },
    }),
    transferIn: () => ({
      path: '/transfer-in',
      body: { source: { accountId: scene.outsideUsd.id }, destination: { accountId: scene.usd.id }, amount: 100 },
    }),
    createCustomer: () => {
      made += 1;
      return { path: '/customers', body: { customerType: 'INDIVIDUAL', platformCustomerId: `contract-${made}` } };
    },
    createExternalAccount: () => ({
      path: '/customers/external-accounts',
      body: { currency: 'USD', accountInfo: usAccount(), customerId: scene.customer.id },
    }),
    createPlatformExternalAccount: () => ({
      path: '/platform/external-accounts',
      body: { currency: 'USD', accountInfo: usAccount() },
    }),
    sandboxSend: async () => {
      const source = { sourceType: 'REALTIME_FUNDING', customerId: scene.customer.id, currency: 'USD' };
      const quote = await rest.ask('POST', '/quotes', { ...quoteBody(scene), source }, 201);
      return { path: '/sandbox/send', body: { quoteId: quote.quoteId, currencyCode: 'USD' } };
    },
    updateCustomer: async () => {
      const { id } = await newCustomer(rest);
      return { path: `/customers/${id}`, body: { customerType: 'INDIVIDUAL', fullName: `Ada ${made}` } };
    },
    deleteCustomer: async () => ({ path: `/customers/${(await newCustomer(rest)).id}` }),
    sandboxReceiveUma: () => ({ path: '/sandbox/uma/receive', body: announcement(scene) }),
    approveTransaction: async () => {
      made += 1;
      const { id } = await rest.ask('POST', '/sandbox/uma/receive', announcement(scene));
      return {
        path: `/transactions/${id}/approve`,
        body: { receiverCustomerInfo: { FULL_NAME: `Ada ${'x'.repeat(made)}` } },
      };
    },
    rejectTransaction: async () => {
      made += 1;
      const { id } = await rest.ask('POST', '/sandbox/uma/receive', announcement(scene));
      return { path: `/transactions/${id}/reject`, body: { reason: `Reason ${made}` } };
    },
    updateConfig: () => ({ path: '/config', body: { umaDomain: 'test.uma.money' } }),
    sandboxFundAccount: () => ({ path: `/sandbox/internal-accounts/${scene.usd.id}/fund`, body: { amount: 5 } }),
  };
}

function endpointsOf(document: Data, ids: Readonly<Record<string, string>>): Endpoint[] {
  return Object.entries(document.paths as Data).flatMap(([path, methods]) =>
    Object.entries(methods as Data).map(([method, operation]: [string, Data]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path: path.replace(/\{(\w+)\}/g, (_whole, name: string) => ids[name] ?? 'unknown'),
      parameters: operation.parameters ?? [],
      required: operation.requestBody && requiredOf(document, operation.requestBody.content['application/json'].schema),
    })),
  );
}

/** What every variant of a schema requires. */
function requiredOf(document: Data, schema: Data): string[] {
  if (schema.$ref) return requiredOf(document, document.components.schemas[schema.$ref.split('/').at(-1)]);
  return schema.oneOf ? [schema.discriminator.propertyName] : (schema.required ?? []);
}
