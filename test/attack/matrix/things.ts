import { fundedIn, moving, usdToEur } from '../../setup/acts.ts';
import { cursors } from '../../setup/cursors.ts';
import type { Data, TestPlatform } from '../../setup/gateway.ts';
import { usAccount } from '../../setup/scene.ts';
import { createEndpoint } from '../../webhooks/endpoint.ts';

/** The kinds of object that a request can name, by id or by another value. */
export const kinds = [
  ...(['Customer', 'InternalAccount', 'ExternalAccount', 'Quote', 'FundedQuote', 'Transaction'] as const),
  ...(['IncomingTransaction', 'Lookup', 'Event', 'ApiToken', 'ClientToken', 'WebhookEndpoint'] as const),
  ...(['WebhookDelivery', 'Platform', 'Policy', 'umaAddress', 'umaPayee', 'platformCustomerId'] as const),
  ...(['platformAccountId', 'accountNumber', 'reference', 'tokenName', 'customerName', 'url'] as const),
  ...(['cursor:Account', 'cursor:ExternalAccount', 'cursor:Customer', 'cursor:Quote', 'cursor:Transaction'] as const),
  ...(['cursor:ApiToken', 'cursor:ClientToken', 'cursor:WebhookEndpoint', 'cursor:WebhookDelivery'] as const),
  ...(['cursor:feed'] as const),
] as const;
export type Kind = (typeof kinds)[number];

/** For each kind, the id or other value of an object that belongs to a customer or its platform. */
export type Things = Readonly<Record<Kind, string>> & {
  /** The customer's external account in another currency. */
  readonly outsideEur: string;
  /** The platform's own account. */
  readonly platformUsd: string;
};

let made = 0;

/** Returns a string that is unique in this process. */
export function fresh(prefix: string): string {
  made += 1;
  return `${prefix}-${made}-new`;
}

/** Returns an account number that is unique in this process, with a suffix that has no effect. */
export function freshAccountNumber(): string {
  made += 1;
  return `${40_000 + made}000`;
}

/** Creates a customer with one object of each kind. Its platform's webhook endpoint is at `url`. */
export async function makeThings(platform: TestPlatform, url: string): Promise<Things> {
  const scene = await platform.makeScene(5_000_000n);
  const [platformAccountId, accountNumber, tokenName] = [fresh('account'), freshAccountNumber(), fresh('token')];
  const ExternalAccount = await platform.externalAccount(scene.customerId, 'USD', usAccount(accountNumber));
  await platform.act('createExternalAccount', {
    customerId: scene.customerId,
    currency: 'USDC',
    platformAccountId,
    accountInfo: { baseWallet: { address: `0x${accountNumber.padStart(40, '0')}` } },
  });
  const ordinary = await platform.quote(usdToEur(scene));
  const funded = await platform.quote(fundedIn('USDC', scene, 10_000_000));
  const customerName = fresh('name');
  await platform.succeed('updateCustomer', {
    customerId: scene.customerId,
    details: { individual: { fullName: customerName } },
  });
  const names = 'umaAddress platformCustomerId';
  const { umaAddress, platformCustomerId } = await platform.fieldsOf('customer', scene.customerId, names);
  // An undelivered payment to the address of another customer on the same platform.
  const umaPayee = await platform.umaAddressOf(await platform.newCustomer());
  await platform.umaQuote(scene.usd, umaPayee);
  const before = await platform.feedEnd();
  const { id: IncomingTransaction } = await platform.announce(scene.customerId, 100);
  const out = moving(scene.usd, ExternalAccount, 100);
  const transfer = await platform.succeed('transferOut', out, 'transaction { id reconciliationReference }');
  await platform.seen(before, ({ id }) => id === transfer.transaction.id);
  const asked = { sender: { customerId: scene.customerId } };
  const lookup = await platform.lookUp('$success.usd@sandbox.uma.money', asked);
  const endpoint = await createEndpoint(platform, { url });
  await platform.succeed('sendTestWebhook', { endpointId: endpoint.id });
  const ofToken = { name: tokenName, permissions: ['VIEW'] };
  const { apiToken } = await platform.succeed('createApiToken', ofToken, 'apiToken { id }');
  const { policy } = await platform.succeed('setPolicy', { subjectId: scene.customerId }, 'policy { id }');
  const named = {
    outsideEur: scene.outsideEur,
    platformUsd: await platform.ownAccount('USD'),
    Customer: scene.customerId,
    InternalAccount: scene.usd,
    ExternalAccount,
    Quote: ordinary.id,
    FundedQuote: funded.id,
    Transaction: ordinary.transaction.id,
    IncomingTransaction,
    Lookup: lookup.id,
    ApiToken: apiToken.id,
    ClientToken: (await platform.mint({ customerId: scene.customerId })).tokenId,
    WebhookEndpoint: endpoint.id,
    Platform: `Platform:${platform.platformId}`,
    Policy: policy.id,
    umaAddress,
    umaPayee,
    platformCustomerId,
    platformAccountId,
    accountNumber,
    reference: transfer.transaction.reconciliationReference,
    tokenName,
    customerName,
    url,
  };
  return { ...named, ...(await cursorsOf(platform, named)) };
}

/**
 * Sets the value at a path in the first of the given requests that has a value there or, if there is none, in the first
 * one that has the enclosing object. Returns that request.
 */
export function requestWith<Request extends object>(
  requests: readonly Request[],
  path: readonly string[],
  value: unknown,
): Request {
  const member = path.at(-1) ?? '';
  const parentIn = (request: Data): Data => path.slice(0, -1).reduce((object: Data, name) => object?.[name], request);
  const request =
    requests.find((one) => parentIn(one)?.[member] !== undefined) ??
    requests.find((one) => parentIn(one) !== undefined);
  if (!request) throw new Error(`test/attack/matrix has no request with a place for ${path.join('.')}`);
  parentIn(request)[member] = value;
  return request;
}

const page = '{ edges { cursor node { id } } }';

/** Reads the cursors of rows that belong to the customer or its platform. */
async function cursorsOf(
  platform: TestPlatform,
  { Customer, WebhookEndpoint }: Pick<Things, 'Customer' | 'WebhookEndpoint'>,
) {
  const read: Data = await platform.ask(
    `query ($customer: ID!, $endpoint: ID!) {
      account: accounts(first: 1, filter: { kind: INTERNAL, customerId: $customer }) ${page}
      outside: accounts(first: 1, filter: { kind: EXTERNAL, customerId: $customer }) ${page}
      customers(first: 100) ${page}
      quotes(first: 1, filter: { customerId: $customer }) ${page}
      transactions(first: 1, filter: { customerId: $customer }) ${page}
      apiTokens(first: 1) ${page}
      clientTokens(first: 1) ${page}
      webhookEndpoints(first: 1) ${page}
      events(last: 3, filter: { customerId: $customer }) ${page}
      node(id: $endpoint) { ... on WebhookEndpoint { deliveries(first: 1) ${page} } }
    }`,
    { customer: Customer, endpoint: WebhookEndpoint },
  );
  const [event] = read.events.edges;
  const mine = read.customers.edges.find(({ node }: Data) => node.id === Customer);
  const cursor = (list: Data): string => list.edges[0].cursor;
  return {
    Event: event.node.id as string,
    WebhookDelivery: read.node.deliveries.edges[0].node.id as string,
    'cursor:feed': event.cursor as string,
    'cursor:Account': cursor(read.account),
    'cursor:ExternalAccount': cursor(read.outside),
    'cursor:Customer': mine.cursor as string,
    'cursor:Quote': cursor(read.quotes),
    'cursor:Transaction': cursor(read.transactions),
    'cursor:ApiToken': cursor(read.apiTokens),
    'cursor:ClientToken': cursor(read.clientTokens),
    'cursor:WebhookEndpoint': cursor(read.webhookEndpoints),
    'cursor:WebhookDelivery': cursor(read.node.deliveries),
  } as const;
}

/**
 * Returns a value that has the same form as the given one but has never existed. A cursor gets a different position
 * unless it is a feed cursor, and a different platform unless `isOfPlatform` is set.
 */
export function unknownOf(kind: Kind, value: string, isOfPlatform: boolean, platformId: string): string {
  if (kind.startsWith('cursor:')) {
    const list = kind.slice('cursor:'.length).replace('ExternalAccount', 'Account');
    const position = cursors.read(list, platformId, value) ?? '';
    const unknown = list === 'feed' ? position : `${position.slice(0, -1)}${otherDigit(position.at(-1))}`;
    return cursors.write(list, isOfPlatform ? platformId : otherDigits(platformId), unknown);
  }
  if (kind === 'umaAddress' || kind === 'umaPayee')
    return value.replace(/\$./, (start) => `$${start === '$z' ? 'y' : 'z'}`);
  // Scenes number their customers, so a different number could belong to another customer.
  if (kind === 'platformCustomerId') return `x${value.slice(1)}`;
  if (kind === 'url') return `${value}/never`;
  const id = value.indexOf(':') + 1;
  return `${value.slice(0, -4)}${otherDigits(value.slice(Math.max(id, value.length - 4)))}`;
}

/** References use capital letters. */
const following: Readonly<Record<string, string>> = { a: 'b', A: 'B' };
const otherDigit = (digit = '0') =>
  /\d/.test(digit) ? String((Number(digit) + 1) % 10) : (following[digit] ?? (/[A-F]/.test(digit) ? 'A' : 'a'));
const otherDigits = (digits: string) =>
  [...digits].map((digit) => (/[0-9a-f]/i.test(digit) ? otherDigit(digit) : digit)).join('');
