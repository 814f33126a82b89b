import { hash } from 'node:crypto';
import { answer, type Receiver, testReceiver } from '../webhooks/receiver.ts';
import { type Data, testGateway } from './gateway.ts';
import { type RestClient, type RestScene, restClient, restQuote, restScene, restTransfer, usAccount } from './rest.ts';

/** An endpoint in the OpenAPI document, with actual ids in its path. */
export interface Endpoint {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Data[];
  /** The body's required fields; undefined if there is no body. */
  readonly required: readonly string[] | undefined;
  /** For each variant of the body, the values that select it and the names of its other fields. */
  readonly variants: readonly { readonly chosen: Data; readonly fields: readonly string[] }[];
  readonly bodyIsOptional: boolean;
  readonly keyed: boolean;
  readonly statuses: readonly number[];
}

export interface GoodRequest {
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** The query parameters that an endpoint requires, by the endpoint's id. */
export const neededQuery: Readonly<Record<string, readonly string[]>> = {
  listExchangeRates: ['sourceCurrency=USD'],
  getAccountStatement: ['from=2026-01-01T00:00:00Z', 'to=2026-01-02T00:00:00Z'],
};

export type Catalog = Awaited<ReturnType<typeof openCatalog>>;

/** Starts a gateway for a test file, and reads its OpenAPI document. */
export async function openCatalog() {
  // The receiver accepts every event, and leaves payment approvals to the tests.
  const receiver = await testReceiver(answer(202));
  // Each endpoint is also called with wrong credentials.
  const t = await testGateway({ WRONG_CREDENTIALS_PER_MINUTE: 100_000 });
  const rest = await restClient(t.url, t.platform.authorization);
  const other = await restClient(t.url, (await t.newPlatform('other')).authorization);
  const scene = await restScene(rest);
  await rest.ask('PATCH', '/config', { webhookEndpoint: receiver.url });
  const requests = goodRequests(rest, scene, receiver);
  const { quoteId, transactionId } = await rest.make('/quotes', quoteBody(scene));
  await t.platform.mint({ customerId: scene.customer.id });
  const document = '{ viewer { kind } }';
  await rest.ask('POST', '/trusted-documents', { [hash('sha256', document)]: document });
  const token = await rest.make('/tokens', { name: 'catalog', permissions: ['VIEW'] });
  return {
    t,
    rest,
    other,
    scene,
    quoteId: quoteId as string,
    /** The `Authorization` headers for tokens that have a single permission. */
    viewOnly: (await t.platform.serverOf('VIEW')).authorization,
    transactOnly: (await t.platform.serverOf('TRANSACT')).authorization,
    endpoints: endpointsOf(rest.document, {
      quoteId,
      accountId: scene.usd.id,
      customerId: scene.customer.id,
      transactionId,
      tokenId: token.id,
      receiverUmaAddress: encodeURIComponent(scene.customer.umaAddress),
    }),
    /** The commands for which this file has a valid request. Tests fail for a command without one. */
    commands: Object.keys(requests),
    /** Returns a valid request for a command, a different one each time. */
    async good(id: string) {
      const make = requests[id];
      if (!make) throw new Error(`there is no valid request for ${id} here`);
      return make();
    },
  };
}

let made = 0;

/** Returns a number that no other request uses. */
function next(): number {
  made += 1;
  return made;
}

/** Builds the request body for a quote from the scene's internal USD account to its external EUR account. */
export const quoteBody = (scene: RestScene) => restQuote(scene.usd.id, scene.outsideEur.id, 1_000 + next());

function goodRequests(
  rest: RestClient,
  scene: RestScene,
  receiver: Receiver,
): Record<string, () => GoodRequest | Promise<GoodRequest>> {
  const customer = () => ({ customerType: 'INDIVIDUAL', platformCustomerId: `contract-${next()}`, fullName: 'Ada' });
  const newCustomer = () => rest.make('/customers', customer());
  const newQuote = async (): Promise<string> => (await rest.make('/quotes', quoteBody(scene))).quoteId;
  const newToken = async (): Promise<string> =>
    (await rest.make('/tokens', { name: 'short-lived', permissions: ['VIEW'] })).id;
  const newAccount = async (): Promise<string> => {
    const body = { currency: 'USD', accountInfo: usAccount(), customerId: scene.customer.id };
    return (await rest.make('/customers/external-accounts', body)).id;
  };
  /** Builds the request body for an incoming payment, which then waits for its platform's decision. */
  const announcement = () => ({
    senderUmaAddress: '$sender@example.com',
    customerId: scene.customer.id,
    receivingCurrencyCode: 'USD',
    receivingCurrencyAmount: 100 + next(),
  });
  const announced = async () => (await rest.ask('POST', '/sandbox/uma/receive', announcement())).id as string;
  return {
    createQuote: () => ({ path: '/quotes', body: quoteBody(scene) }),
    executeQuote: async () => ({ path: `/quotes/${await newQuote()}/execute` }),
    cancelQuote: async () => ({ path: `/quotes/${await newQuote()}/cancel` }),
    transferOut: () => ({
      path: '/transfer-out',
      body: restTransfer(scene.usd.id, scene.outsideUsd.id, 100 + next()),
    }),
    transferIn: () => ({
      path: '/transfer-in',
      body: restTransfer(scene.outsideUsd.id, scene.usd.id, 100 + next()),
    }),
    transferInternal: async () => {
      const [own] = (await rest.ask('GET', '/platform/internal-accounts?currency=USD')).data;
      return { path: '/transfer-internal', body: restTransfer(scene.usd.id, own.id, 100 + next()) };
    },
    createCustomer: () => ({ path: '/customers', body: customer() }),
    updateCustomer: async () => {
      const { id } = await newCustomer();
      return { path: `/customers/${id}`, body: { customerType: 'INDIVIDUAL', fullName: `Ada ${next()}` } };
    },
    deleteCustomer: async () => ({ path: `/customers/${(await newCustomer()).id}` }),
    createExternalAccount: () => ({
      path: '/customers/external-accounts',
      body: { currency: 'USD', accountInfo: usAccount(), customerId: scene.customer.id },
    }),
    updateExternalAccount: async () => ({
      path: `/customers/external-accounts/${await newAccount()}`,
      body: { platformAccountId: `account ${next()}`, defaultUmaDepositAccount: true },
    }),
    deleteExternalAccount: async () => ({ path: `/customers/external-accounts/${await newAccount()}` }),
    createPlatformExternalAccount: () => ({
      path: '/platform/external-accounts',
      body: { currency: 'USD', accountInfo: usAccount() },
    }),
    sandboxSend: async () => {
      const source = { sourceType: 'REALTIME_FUNDING', customerId: scene.customer.id, currency: 'USD' };
      const quote = await rest.make('/quotes', { ...quoteBody(scene), source });
      return { path: '/sandbox/send', body: { quoteId: quote.quoteId, currencyCode: 'USD' } };
    },
    sandboxFundAccount: () => ({
      path: `/sandbox/internal-accounts/${scene.usd.id}/fund`,
      body: { amount: 100 + next() },
    }),
    sandboxSetKycStatus: async () => ({
      path: `/sandbox/customers/${(await newCustomer()).id}/kyc-status`,
      body: { kycStatus: 'REJECTED' },
    }),
    sandboxReceiveUma: () => ({ path: '/sandbox/uma/receive', body: announcement() }),
    approveTransaction: async () => ({
      path: `/transactions/${await announced()}/approve`,
      body: { receiverCustomerInfo: { FULL_NAME: 'Ada Lovelace' } },
    }),
    rejectTransaction: async () => ({
      path: `/transactions/${await announced()}/reject`,
      body: { reason: `Reason ${next()}` },
    }),
    registerTrustedDocuments: () => {
      const text = `{ viewer { kind } } # ${next()}`;
      return { path: '/trusted-documents', body: { [hash('sha256', text)]: text } };
    },
    deleteTrustedDocument: () => ({ path: `/trusted-documents/${'0'.repeat(64)}` }),
    updateConfig: () => ({ path: '/config', body: { umaDomain: `contract-${next()}.example.com` } }),
    createToken: () => ({ path: '/tokens', body: { name: `contract ${next()}`, permissions: ['VIEW'] } }),
    rotateToken: async () => ({ path: `/tokens/${await newToken()}/rotate`, body: { overlapHours: 1 } }),
    deleteToken: async () => ({ path: `/tokens/${await newToken()}` }),
    // Each request uses an endpoint with a different URL, because otherwise all requests would be identical.
    testWebhook: async () => {
      const url = `${receiver.url}/${next()}`;
      await rest.ask('PATCH', '/config', { webhookEndpoint: null });
      await rest.ask('PATCH', '/config', { webhookEndpoint: url });
      return { path: '/webhooks/test', body: { url } };
    },
  };
}

function endpointsOf(document: Data, ids: Readonly<Record<string, string>>): Endpoint[] {
  return Object.entries(document.paths as Data).flatMap(([path, methods]) =>
    Object.entries(methods as Data).map(([method, operation]: [string, Data]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path: path.replace(/\{(\w+)\}/g, (_whole, name: string) => ids[name] ?? 'unknown'),
      parameters: (operation.parameters ?? []).filter((parameter: Data) => !parameter.$ref),
      required: operation.requestBody && requiredOf(document, operation.requestBody.content['application/json'].schema),
      variants: operation.requestBody
        ? variantsOf(document, operation.requestBody.content['application/json'].schema)
        : [],
      bodyIsOptional: operation.requestBody !== undefined && operation.requestBody.required !== true,
      keyed: (operation.parameters ?? []).some((parameter: Data) => parameter.$ref?.endsWith('/IdempotencyKey')),
      statuses: Object.keys(operation.responses).map(Number),
    })),
  );
}

function variantsOf(document: Data, schema: Data): Endpoint['variants'] {
  if (schema.$ref) return variantsOf(document, document.components.schemas[schema.$ref.split('/').at(-1)]);
  if (schema.oneOf) return schema.oneOf.flatMap((variant: Data) => variantsOf(document, variant));
  const constants = Object.entries<Data>(schema.properties).flatMap(([name, { const: value, enum: values }]) =>
    value !== undefined ? [[name, value]] : values?.length === 1 ? [[name, values[0]]] : [],
  );
  const chosen = Object.fromEntries(constants);
  return [{ chosen, fields: Object.keys(schema.properties).filter((name) => !(name in chosen)) }];
}

/** Returns the fields that a schema requires; for a schema with variants, the field that chooses between them. */
function requiredOf(document: Data, schema: Data): string[] {
  if (schema.$ref) return requiredOf(document, document.components.schemas[schema.$ref.split('/').at(-1)]);
  if (schema.oneOf) return [schema.discriminator.propertyName];
  return schema.required ?? [];
}
