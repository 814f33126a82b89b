import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { schema } from '../../../src/api/graphql/server/schema.ts';
import type { Operation } from '../../../src/domain/access/operations.ts';
import { between, moving, sender } from '../../setup/acts.ts';
import { placesIn } from '../../setup/inputs.ts';
import { usAccount } from '../../setup/scene.ts';
import { selection } from '../../setup/selection.ts';
import { type Meaning, meaningOf } from './meanings.ts';
import { fresh, freshAccountNumber, requestWith, type Things } from './things.ts';

/** A schema field, and the document that selects it. */
export interface Call {
  readonly kind: 'query' | 'mutation' | 'subscription';
  /** The field with its parent type, such as `Query.accounts`. */
  readonly name: string;
  readonly field: string;
  readonly query: string;
  /** Sets of variables that name the caller's own objects, enough of them to cover every place that can name one. */
  readonly bases: readonly ((own: Things) => Variables)[];
}

export type Variables = Record<string, unknown>;

/** A place in a call's variables that identifies an object, and the kinds of object that it can identify. */
export interface Coordinate {
  readonly call: Call;
  /** The place in the schema, such as `CreateQuoteInput.lookupId`. */
  readonly place: string;
  readonly path: readonly string[];
  readonly isList: boolean;
  readonly meaning: Exclude<Meaning, 'nothing'>;
}

const person = { individual: { fullName: 'Grace Hopper' } };
const quoted = (own: Things, amount: number, rest?: object): Variables => ({
  ...between(own.InternalAccount, own.outsideEur, amount, rest),
});

/** An account's details other than its number, by currency. */
const bankDetails = {
  CAD: { bankCode: '001', branchCode: '00011' },
  GBP: { sortCode: '20-00-00' },
  NGN: { bankName: 'Bank', purposeOfPayment: 'GIFT' },
  PHP: { bankName: 'Bangko' },
  SGD: { bankName: 'Bank', swiftCode: 'DBSSSGSG' },
};

/** Valid inputs for each mutation. Omitting a mutation is a type error. */
const inputs: Readonly<Record<Operation, readonly ((own: Things) => Variables)[]>> = {
  createCustomer: [() => ({ platformCustomerId: fresh('customer'), details: person })],
  updateCustomer: [(own) => ({ customerId: own.Customer, details: person })],
  createExternalAccount: [
    (own) => ({
      customerId: own.Customer,
      currency: 'USD',
      platformAccountId: fresh('account'),
      accountInfo: usAccount(freshAccountNumber()),
      beneficiary: person,
    }),
    ...Object.entries(bankDetails).map(([currency, details]) => (own: Things) => ({
      customerId: own.Customer,
      currency,
      accountInfo: { [`${currency.toLowerCase()}Account`]: { accountNumber: freshAccountNumber(), ...details } },
      beneficiary: person,
    })),
  ],
  createQuote: [
    (own) => quoted(own, 1_000),
    (own) => quoted(own, 10_000_000, { source: { realtimeFunding: { customerId: own.Customer, currency: 'USDC' } } }),
    (own) =>
      quoted(own, 10_000, {
        destination: { uma: { umaAddress: '$success.usd@sandbox.uma.money', currency: 'USD' } },
        ...{ lookupId: own.Lookup, senderCustomerInfo: sender },
      }),
  ],
  executeQuote: [(own) => ({ quoteId: own.Quote })],
  cancelQuote: [(own) => ({ quoteId: own.FundedQuote })],
  transferOut: [(own) => moving(own.InternalAccount, own.ExternalAccount, 100)],
  transferIn: [(own) => moving(own.ExternalAccount, own.InternalAccount, 100)],
  transferInternal: [(own) => moving(own.InternalAccount, own.platformUsd, 100)],
  approveTransaction: [(own) => ({ transactionId: own.IncomingTransaction })],
  rejectTransaction: [(own) => ({ transactionId: own.IncomingTransaction })],
  lookUpReceiver: [
    (own) => ({ umaAddress: '$success.usd@sandbox.uma.money', sender: { customerId: own.Customer } }),
    (own) => ({ umaAddress: '$success.usd@sandbox.uma.money', sender: { umaAddress: own.umaAddress } }),
  ],
  sandboxFundAccount: [(own) => ({ accountId: own.InternalAccount, amount: { units: 100 } })],
  sandboxReceiveUma: [
    (own) => ({ ...receipt, receiver: { customerId: own.Customer } }),
    (own) => ({ ...receipt, receiver: { umaAddress: own.umaAddress } }),
  ],
  sandboxSend: [(own) => ({ quoteId: own.FundedQuote, currency: 'USDC' })],
  sandboxSetKycStatus: [(own) => ({ customerId: own.Customer, kycStatus: 'MANUALLY_APPROVED' })],
  setPolicy: [
    (own) => ({
      subjectId: own.Customer,
      receiverAccountIds: [own.ExternalAccount],
      limits: [{ period: 'DAY', payments: 1_000 }],
    }),
  ],
  deletePolicy: [(own) => ({ subjectId: own.Customer })],
  updatePlatform: [() => ({ currencies: ['USD', 'EUR', 'USDC'] })],
  createWebhookEndpoint: [(own) => ({ url: own.url, eventTypes: ['TEST'] })],
  updateWebhookEndpoint: [(own) => ({ endpointId: own.WebhookEndpoint, url: own.url, description: fresh('endpoint') })],
  rotateWebhookSecret: [(own) => ({ endpointId: own.WebhookEndpoint })],
  sendTestWebhook: [(own) => ({ endpointId: own.WebhookEndpoint })],
  replayWebhookEvents: [
    (own) => ({ endpointId: own.WebhookEndpoint, events: { eventId: own.Event } }),
    (own) => ({ endpointId: own.WebhookEndpoint, events: { between: { after: own['cursor:feed'], before: null } } }),
  ],
  resendWebhookDelivery: [(own) => ({ deliveryId: own.WebhookDelivery })],
  createApiToken: [() => ({ name: fresh('token'), permissions: ['VIEW'] })],
  createClientToken: [
    (own) => ({ ...minted, boundTo: { customerId: own.Customer } }),
    (own) => ({ ...minted, boundTo: { quoteId: own.Quote } }),
    (own) => ({ ...minted, boundTo: { transactionId: own.Transaction } }),
  ],
  updateExternalAccount: [
    (own) => ({
      accountId: own.ExternalAccount,
      platformAccountId: own.platformAccountId,
      defaultUmaDepositAccount: true,
    }),
  ],
  // Mutations that delete objects come last.
  deleteExternalAccount: [(own) => ({ accountId: own.ExternalAccount })],
  revokeClientToken: [(own) => ({ tokenId: own.ClientToken })],
  rotateApiToken: [(own) => ({ tokenId: own.ApiToken, overlapHours: 720 })],
  revokeApiToken: [(own) => ({ tokenId: own.ApiToken, revokeDescendants: true })],
  deleteWebhookEndpoint: [(own) => ({ endpointId: own.WebhookEndpoint })],
  deleteCustomer: [(own) => ({ customerId: own.Customer })],
};
const minted = { permissions: ['VIEW'], expiresInSeconds: 900 };
const receipt = { senderUmaAddress: '$success.usd@sandbox.uma.money', currency: 'USD', amount: { units: 100 } };

/** Arguments that are required or name objects, by query, subscription or node field. */
const args: Readonly<Record<string, readonly ((own: Things) => Variables)[]>> = {
  'Query.account': [(own) => ({ id: own.InternalAccount })],
  'Query.customer': [(own) => ({ id: own.Customer })],
  'Query.quote': [(own) => ({ id: own.Quote })],
  'Query.transaction': [(own) => ({ id: own.Transaction })],
  'Query.node': [(own) => ({ id: own.Customer })],
  'Query.nodes': [(own) => ({ ids: [own.Customer] })],
  'Query.exchangeRates': [() => ({ source: 'USD', destinations: ['EUR'] })],
  'Query.mutationReceipt': [() => ({ operation: 'TRANSFER_OUT', idempotencyKey: 'never-used' })],
  ...filteredBelow('Customer', 'accounts', 'quotes', 'transactions', 'transactionTotals'),
  ...filteredBelow('ExternalAccount', 'transactions', 'transactionTotals'),
  ...filteredBelow('InternalAccount', 'transactions', 'transactionTotals'),
  'WebhookEndpoint.deliveries': [(own) => ({ parent: own.WebhookEndpoint })],
  'Subscription.accountUpdates': [
    (own) => ({ of: { accountId: own.InternalAccount } }),
    (own) => ({ of: { customerId: own.Customer } }),
  ],
  'Subscription.customerUpdates': [(own) => ({ customerId: own.Customer })],
  'Subscription.quoteUpdates': [(own) => ({ quoteId: own.Quote })],
  'Subscription.transactionUpdates': [
    (own) => ({ of: { transactionId: own.Transaction } }),
    (own) => ({ of: { transactionIds: [own.Transaction] } }),
    (own) => ({ of: { customerId: own.Customer } }),
  ],
};

function filteredBelow(type: 'Customer' | 'ExternalAccount' | 'InternalAccount', ...fields: readonly string[]) {
  const base = (own: Things) => ({ parent: own[type], filter: {} });
  return Object.fromEntries(fields.map((field) => [`${type}.${field}`, [base]]));
}

type Field = GraphQLField<unknown, unknown>;

const rootTypes: readonly string[] = ['Query', 'Mutation', 'Subscription'];

/** Calls to all fields of the three root types, and to the node fields whose arguments name an object. */
export const calls: readonly Call[] = [
  ...fieldsOf(schema.getQueryType()).map((field) => callOf('query', 'Query', field)),
  ...Object.keys(inputs).map((name) => {
    const field = schema.getMutationType()?.getFields()[name];
    if (!field) throw new Error(`the schema has no mutation ${name}`);
    return callOf('mutation', 'Mutation', field);
  }),
  ...fieldsOf(schema.getSubscriptionType()).map((field) => callOf('subscription', 'Subscription', field)),
  ...nodeTypes().flatMap((type) =>
    fieldsOf(type)
      .filter((field) => namesAnything(type.name, field))
      .map((field) => callOf('query', type.name, field)),
  ),
];

/** The fields of all root types, so that a test can find any that are missing from `calls`. */
export const rootFields: readonly string[] = rootTypes.flatMap((name) =>
  fieldsOf(schema.getType(name) as GraphQLObjectType).map((field) => `${name}.${field.name}`),
);

export function nodeTypes(): readonly GraphQLObjectType[] {
  const node = schema.getType('Node');
  return node && isAbstractType(node) ? schema.getPossibleTypes(node) : [];
}

function fieldsOf(type: GraphQLObjectType | null | undefined): Field[] {
  return Object.values(type?.getFields() ?? {});
}

function namesAnything(owner: string, field: Field): boolean {
  return field.args.some((arg) => namesIn(`${owner}.${field.name}`, arg).length > 0);
}

/** Returns fields with arguments that name objects, on types that no call reaches: neither root nor node types. */
export function unreachedFields(): readonly string[] {
  const reached = new Set([...rootTypes, ...nodeTypes().map(({ name }) => name)]);
  return Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__') && !reached.has(type.name))
    .flatMap((type) =>
      fieldsOf(type as GraphQLObjectType)
        .filter((field) => namesAnything(type.name, field))
        .map((field) => `${type.name}.${field.name}`),
    );
}

function callOf(kind: Call['kind'], owner: string, field: Field): Call {
  const name = `${owner}.${field.name}`;
  const isOfNode = !rootTypes.includes(owner);
  const declared = field.args.map((arg) => `$${arg.name}: ${declaredType(arg)}`);
  if (isOfNode) declared.push('$parent: ID!');
  const given = field.args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const selected = `${field.name} ${given && `(${given})`} ${bodyOf(field)}`;
  const ofMutation = inputs[field.name as keyof typeof inputs]?.map((input) => (own: Things) => ({
    input: input(own),
  }));
  const isFiltered = field.args.some((arg) => arg.name === 'filter');
  return {
    kind,
    name,
    field: field.name,
    query: `${kind} ${declared.length > 0 ? `(${declared.join(', ')})` : ''} { ${isOfNode ? `node(id: $parent) { id ... on ${owner} { ${selected} } }` : selected} }`,
    bases: (kind === 'mutation' ? ofMutation : args[name]) ?? [() => (isFiltered ? { filter: {} } : {})],
  };
}

/** Returns the type of an argument's variable, which is nullable if the argument is optional. */
function declaredType({ type, defaultValue }: GraphQLArgument): GraphQLInputType {
  return isNonNullType(type) && defaultValue !== undefined ? type.ofType : type;
}

function bodyOf(field: Field): string {
  const type = getNamedType(field.type);
  if (type.name === 'Node') return '{ __typename id }';
  if (isObjectType(type) && type.name.endsWith('Connection')) {
    const edge = getNamedType(type.getFields().edges?.type ?? type);
    const row = isObjectType(edge) ? edge.getFields().node : undefined;
    const counted = type.getFields().totalCount ? 'totalCount' : '';
    return `{ ${counted} edges { cursor node ${row ? selection(row.type, isAbstractType(getNamedType(row.type)) ? 1 : 0) : ''} } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`;
  }
  return selection(field.type, 2);
}

export const coordinates: readonly Coordinate[] = calls.flatMap((call) => {
  const [owner = '', name = ''] = call.name.split('.');
  const type = schema.getType(owner) as GraphQLObjectType;
  const field = type.getFields()[name];
  if (!field) throw new Error(`the schema has no ${call.name}`);
  return field.args.flatMap((arg) => namesIn(call.name, arg).map((place) => ({ call, ...place })));
});

function namesIn(call: string, arg: GraphQLArgument): Omit<Coordinate, 'call'>[] {
  return [...placesIn(call, arg.type, [arg.name])].flatMap(({ owner, path: whole, type }) => {
    const path = whole.filter((step) => step !== '0');
    const name = path.at(-1) ?? '';
    const isText = 'name' in type && ['ID', 'String'].includes(type.name);
    const meaning = isText ? meaningOf(owner, name) : 'nothing';
    return meaning === 'nothing' ? [] : [{ place: `${owner}.${name}`, path, isList: whole.includes('0'), meaning }];
  });
}

/** Returns variables with `value` at the coordinate, and with ids of the caller's own objects everywhere else. */
export function naming({ call, path, isList }: Coordinate, value: string, own: Things): Variables {
  return requestWith(
    call.bases.map((base) => base(own)),
    path,
    isList ? [value] : value,
  );
}
