import { hash } from 'node:crypto';
import type { Data, TestPlatform } from '../../setup/gateway.ts';
import { base, restQuote, restTransfer, usAccount } from '../../setup/rest.ts';
import { isRestText, restTexts } from '../../setup/rest-inputs.ts';
import type { Cell, Figures, Reply } from './cells.ts';
import { type Meaning, meaningOf } from './meanings.ts';
import { fresh, requestWith, type Things } from './things.ts';
import type { MatrixWorld } from './world.ts';

/** A request to an operation: its path, query and body. */
interface Request {
  readonly path?: Record<string, unknown>;
  readonly query?: Record<string, unknown>;
  readonly body?: Record<string, unknown>;
  readonly header?: Record<string, unknown>;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly hasKey: boolean;
  readonly places: readonly Place[];
}

/** A place in a request that names an object. */
interface Place {
  readonly path: readonly string[];
  readonly meaning: Exclude<Meaning, 'nothing'>;
}

const quoted = (own: Things, amount: number, rest?: object) => ({
  body: restQuote(own.InternalAccount, own.outsideEur, amount, rest),
});
/** Accounts with a platform-assigned id: one for each of the two places where a request may contain it. */
const accounts = [
  () => ({ currency: 'USD', platformAccountId: fresh('account'), accountInfo: usAccount() }),
  () => ({ currency: 'USD', accountInfo: { ...usAccount(), platformAccountId: fresh('account') } }),
];
const receipt = {
  senderUmaAddress: '$success.usd@sandbox.uma.money',
  receivingCurrencyCode: 'USD',
  receivingCurrencyAmount: 100,
};
const facts = { FULL_NAME: 'Grace Hopper', BIRTH_DATE: '1986-12-09' };
const receiver = '%24success.usd%40sandbox.uma.money';

const manifestOf = (text: string) => ({ [hash('sha256', text)]: text });

const bare = `listCustomerInternalAccounts listPlatformInternalAccounts listCustomerExternalAccounts
  listPlatformExternalAccounts listCustomers listQuotes listTransactions listTokens
  getConfig listTrustedDocuments`.split(/\s+/);

/** For each operation id in the OpenAPI document, requests in which the caller names its own objects. */
export const requests: Readonly<Record<string, readonly ((own: Things) => Request)[]>> = {
  ...Object.fromEntries(bare.map((id) => [id, [() => ({})]])),
  listExchangeRates: [() => ({ query: { sourceCurrency: 'USD' } })],
  registerTrustedDocuments: [() => ({ body: manifestOf(`{ viewer { kind environment } } # ${fresh('document')}`) })],
  deleteTrustedDocument: [() => ({ path: { hash: '0'.repeat(64) } })],
  getCustomer: [(own) => ({ path: { customerId: own.Customer } })],
  getQuote: [(own) => ({ path: { quoteId: own.Quote } })],
  getAccountStatement: [
    (own) => ({
      path: { accountId: own.InternalAccount },
      query: { from: '2026-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' },
    }),
  ],
  getTransaction: [(own) => ({ path: { transactionId: own.Transaction } })],
  getToken: [(own) => ({ path: { tokenId: own.ApiToken } })],
  getUmaReceiver: [() => ({ path: { receiverUmaAddress: receiver } })],
  getReceiver: [() => ({ path: { receiverUmaAddress: receiver } })],
  createCustomer: [
    () => ({ body: { customerType: 'INDIVIDUAL', platformCustomerId: fresh('customer'), fullName: 'Ada' } }),
  ],
  updateCustomer: [
    (own) => ({ path: { customerId: own.Customer }, body: { customerType: 'INDIVIDUAL', fullName: 'Ada' } }),
  ],
  createExternalAccount: accounts.map((make) => (own) => ({ body: { ...make(), customerId: own.Customer } })),
  createPlatformExternalAccount: accounts.map((make) => () => ({ body: make() })),
  createQuote: [
    (own) => quoted(own, 1_000),
    (own) =>
      quoted(own, 10_000_000, {
        source: { sourceType: 'REALTIME_FUNDING', customerId: own.Customer, currency: 'USDC' },
      }),
    (own) =>
      quoted(own, 10_000, {
        destination: { destinationType: 'UMA_ADDRESS', umaAddress: '$success.usd@sandbox.uma.money', currency: 'USD' },
        ...{ lookupId: own.Lookup, senderCustomerInfo: facts },
      }),
  ],
  executeQuote: [(own) => ({ path: { quoteId: own.Quote } })],
  cancelQuote: [(own) => ({ path: { quoteId: own.FundedQuote } })],
  approveTransaction: [(own) => ({ path: { transactionId: own.IncomingTransaction }, body: {} })],
  rejectTransaction: [(own) => ({ path: { transactionId: own.IncomingTransaction }, body: {} })],
  transferOut: [(own) => ({ body: restTransfer(own.InternalAccount, own.ExternalAccount, 100) })],
  transferIn: [(own) => ({ body: restTransfer(own.ExternalAccount, own.InternalAccount, 100) })],
  transferInternal: [(own) => ({ body: restTransfer(own.InternalAccount, own.platformUsd, 100) })],
  testWebhook: [(own) => ({ body: { url: own.url } })],
  updateConfig: [(own) => ({ body: { webhookEndpoint: own.url } })],
  createToken: [() => ({ body: { name: fresh('token'), permissions: ['VIEW'] } })],
  sandboxSend: [(own) => ({ body: { quoteId: own.FundedQuote, currencyCode: 'USDC' } })],
  sandboxSetKycStatus: [(own) => ({ path: { customerId: own.Customer }, body: { kycStatus: 'MANUALLY_APPROVED' } })],
  sandboxFundAccount: [(own) => ({ path: { accountId: own.InternalAccount }, body: { amount: 100 } })],
  sandboxReceiveUma: [
    (own) => ({ body: { ...receipt, customerId: own.Customer } }),
    (own) => ({ body: { ...receipt, receiverUmaAddress: own.umaAddress } }),
  ],
  updateExternalAccount: [
    (own) => ({
      path: { accountId: own.ExternalAccount },
      body: { platformAccountId: own.platformAccountId, defaultUmaDepositAccount: true },
    }),
  ],
  deleteExternalAccount: [(own) => ({ path: { accountId: own.ExternalAccount } })],
  rotateToken: [(own) => ({ path: { tokenId: own.ApiToken }, body: { overlapHours: 720 } })],
  deleteToken: [(own) => ({ path: { tokenId: own.ApiToken } })],
  deleteCustomer: [(own) => ({ path: { customerId: own.Customer } })],
};

/** The operation to which an endpoint's idempotency keys belong, if its name differs from the endpoint's. */
const keyScope: Readonly<Record<string, string>> = {
  createPlatformExternalAccount: 'createExternalAccount',
  createToken: 'createApiToken',
  deleteToken: 'revokeApiToken',
  rotateToken: 'rotateApiToken',
  testWebhook: 'sendTestWebhook',
};

/** Returns the operations in the OpenAPI document, with every place where a request names an object. */
export async function restOperations(url: string): Promise<Operation[]> {
  const document = (await (await fetch(`${url}${base}/openapi.json`)).json()) as Data;
  const found = Object.entries<Data>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Data>(methods).map(([method, operation]) => operationOf(document, path, method, operation)),
  );
  const order = Object.keys(requests);
  return found.toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
}

function operationOf(document: Data, path: string, method: string, operation: Data): Operation {
  const id: string = operation.operationId;
  if (!requests[id]) throw new Error(`test/attack/matrix/rest-matrix.ts has no request for ${id}`);
  const parameters: Data[] = operation.parameters ?? [];
  const hasKey = parameters.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey'));
  const body = operation.requestBody?.content['application/json'].schema;
  const named = [
    ...parameters
      .filter(({ schema }) => schema && isRestText(schema.items ?? schema))
      .map((parameter): string[] => [parameter.in, parameter.name]),
    ...(body ? restTexts(document, id, body).map(({ path: at }) => ['body', ...at]) : []),
  ];
  const places = new Map<string, Place>();
  for (const at of named) {
    const name = at.findLast((part) => part !== '0' && part !== '*') ?? '';
    const meaning = meaningOf(id, name);
    if (meaning !== 'nothing') places.set(at.join('.'), { path: at, meaning });
  }
  // createPlatformExternalAccount shares its keys with another endpoint, where they are tested.
  const key: Place[] =
    hasKey && id !== 'createPlatformExternalAccount' ? [{ path: ['header', 'Idempotency-Key'], meaning: 'key' }] : [];
  return { id, method: method.toUpperCase(), path, hasKey, places: [...places.values(), ...key] };
}

async function send(url: string, who: TestPlatform, operation: Operation, request: Request): Promise<Reply> {
  const path = operation.path.replace(/\{(\w+)\}/g, (_whole, name: string) => String(request.path?.[name]));
  const query = new URLSearchParams(request.query as Record<string, string>).toString();
  const response = await fetch(`${url}${base}${path}${query && `?${query}`}`, {
    method: operation.method,
    headers: {
      authorization: who.authorization,
      ...(request.body && { 'content-type': 'application/json' }),
      ...(request.header as Record<string, string>),
    },
    ...(request.body && { body: JSON.stringify(request.body) }),
  });
  return {
    status: response.status,
    text: `${await response.text()}${response.headers.get('idempotency-replayed') ? '"replayed":true' : ''}`,
  };
}

/** Returns a cell for every place in the operations. */
export function restCells({ counting }: MatrixWorld, operations: readonly Operation[]): Cell[] {
  return operations.flatMap((operation) =>
    operation.places.map(
      ({ path, meaning }): Cell => ({
        where: `${operation.id}: ${path.join('.')}`,
        operation: keyScope[operation.id] ?? operation.id,
        meaning,
        isCommand: true,
        async send(who, value, own, key) {
          const made = (requests[operation.id] ?? []).map((make) => ({ query: {}, header: {}, ...make(own) }));
          const request = requestWith(made, path, value);
          if (key && operation.hasKey && meaning !== 'key') Object.assign(request.header, { 'Idempotency-Key': key });
          return { request, ...(await send(counting.url, who, operation, request)) };
        },
      }),
    ),
  );
}

/** Calls every operation with app tokens, tokens that lack the required permission, and invalid credentials. */
export async function tryRestTokens(
  world: MatrixWorld,
  operations: readonly Operation[],
  needed: ReadonlyMap<string, string>,
  figures: Figures,
): Promise<void> {
  const { url, statements } = world.counting;
  for (const operation of operations) {
    const [make] = requests[operation.id] ?? [];
    const request = make?.(world.victim) ?? {};
    const line = `${operation.method} ${operation.path}`;
    const permission = needed.get(line);
    if (!permission) throw new Error(`docs/rest.md does not say which permission ${line} needs`);
    const tokens = [
      ...world.weak
        .filter(({ permissions }) => !permissions.some((one) => permission.split(', or ').includes(one)))
        .map((weak) => ({ ...weak, status: 403 })),
      ...world.ended.map((one) => ({ ...one, status: 401 })),
      ...world.strangers.filter(({ isOfPlatform }) => isOfPlatform).map((one) => ({ ...one, status: 401 })),
    ];
    for (const { name, platform, status } of tokens) {
      figures.tried += 1;
      const { result, statements: sent } = await statements.during(() => send(url, platform, operation, request));
      const wrong = result.status !== status || sent.length > 0;
      if (wrong)
        figures.lost.push(`${name}, ${operation.id}: ${result.status} ${result.text.slice(0, 200)} ${sent[0] ?? ''}`);
    }
  }
}
