import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import { describe, expect, test, vi } from 'vitest';
import { schema } from '../../src/api/graphql/server/schema.ts';
import { unlimited } from '../attack/limits.ts';
import { lookUp, mint, quote, succeed, usdToEur } from '../setup/acts.ts';
import { uuidIn } from '../setup/connections.ts';
import { connect, type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { fund, makeScene, type Scene } from '../setup/scene.ts';
import { selection } from '../setup/selection.ts';
import { openEventStream, openRawSocket } from '../setup/streams.ts';
import { createEndpoint, endpointUntil } from '../webhooks/endpoint.ts';

/**
 * Every query, mutation, subscription and node of the schema is called by strangers to its objects, on every transport. The
 * calls are derived from the schema itself, so that a new field is tested automatically; one that names something in a new way
 * fails until this file knows an id for it.
 */

/** Public ids of the victim's objects, by type. */
const ids: Record<string, string> = {};
const callers: Record<string, TestPlatform> = {};

const t = await testGateway(unlimited);
const victim = await makeScene(t.platform);
const bystander = await makeScene(t.platform);
const quoteOf = (scene: Scene) =>
  quote(t.platform, usdToEur(scene, { lockedCurrencyAmount: 10_000, immediatelyExecute: true }));
const minted = (bound: object) => mint(t.platform, { ...bound, permissions: ['VIEW', 'TRANSACT'] });
const own = await quoteOf(victim);
const other = await quoteOf(bystander);
ids.Lookup = (await lookUp(t.platform, '$success.usd@sandbox.uma.money')).id;
const { apiTokens } = await t.platform.ask('{ apiTokens { edges { node { id clientId } } } }');
ids.Quote = own.id;
ids.Transaction = own.transaction.id;
ids.Customer = victim.customerId;
ids.InternalAccount = victim.usd;
ids.ExternalAccount = victim.outsideUsd;
ids.Account = victim.usd;
const hook = { url: 'http://127.0.0.1:9/hook', eventTypes: ['KYC_STATUS'] };
ids.WebhookEndpoint = (await createEndpoint(t.platform, hook)).id;
// A new endpoint gets a test event.
const endpoint = await endpointUntil(t.platform, ids.WebhookEndpoint, (one) => one.deliveries.length > 0);
ids.WebhookDelivery = endpoint.deliveries[0].id;
ids.Event = endpoint.deliveries[0].event.id;
ids.ApiToken = apiTokens.edges[0].node.id;
ids.ClientToken = (await minted({ customerId: victim.customerId })).tokenId;
ids.Policy = (await succeed(t.platform, 'setPolicy', { subjectId: victim.customerId }, 'policy { id }')).policy.id;
/** Texts that only the victim's objects have: no answer to another platform may contain any. */
const secrets = Object.values(ids).map((id) => uuidIn(id));
// No secret to the other callers of the platform.
ids.Platform = `Platform:${t.platform.platformId}`;

callers['another platform'] = await t.newPlatform('stranger');
const bearer = (token: string) => connect(t.url, t.platform.platformId, `Bearer ${token}`);
callers['another customer'] = bearer((await minted({ customerId: bystander.customerId })).token);
callers['another quote'] = bearer((await minted({ quoteId: other.id })).token);
callers['another transaction'] = bearer((await minted({ transactionId: other.transaction.id })).token);

/** What the ids in an argument or input field are of, by its name. */
const typeOfId: Readonly<Record<string, string>> = {
  quoteId: 'Quote',
  transactionId: 'Transaction',
  customerId: 'Customer',
  accountId: 'InternalAccount',
  sourceAccountId: 'InternalAccount',
  lookupId: 'Lookup',
  endpointId: 'WebhookEndpoint',
  eventId: 'Event',
  destinationAccountId: 'ExternalAccount',
  sendingAccountId: 'InternalAccount',
  receivingAccountId: 'ExternalAccount',
  subjectId: 'Customer',
  receiverAccountIds: 'ExternalAccount',
};

function idFor(owner: string, name: string): string {
  if (name === 'tokenId') return ids[owner.includes('Client') ? 'ClientToken' : 'ApiToken'] ?? '';
  if (name === 'id' || name === 'ids')
    return ids[owner.charAt(0).toUpperCase() + owner.slice(1)] ?? ids.Transaction ?? '';
  const known = ids[typeOfId[name] ?? ''];
  // A name without a known id is of a kind that this test has not made: it must be unknown to all.
  return known ?? `${name.charAt(0).toUpperCase()}${name.slice(1, -2)}:019aa000-0000-7000-8000-000000000000`;
}

const scalars: Readonly<Record<string, unknown>> = {
  String: 'USD',
  CurrencyCode: 'USD',
  Int: 1,
  Float: 1,
  Boolean: false,
  BigInt: 100,
  Decimal: '1',
  DateTime: '2026-01-01T00:00:00Z',
  Date: '2000-01-01',
};

/** A value for an input: everything required, and every id. Of a one-of input, the member that names the most. */
function valueFor(type: GraphQLInputType, owner: string, name: string): unknown {
  if (isNonNullType(type)) return valueFor(type.ofType, owner, name);
  if (isListType(type)) return [valueFor(type.ofType, owner, name)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (!isInputObjectType(type)) return type.name === 'ID' ? idFor(owner, name) : scalars[type.name];
  const fields = Object.values(type.getFields());
  if (type.isOneOf) {
    const [first] = fields;
    return first ? { [first.name]: valueFor(first.type, owner, first.name) } : {};
  }
  return Object.fromEntries(
    fields
      .filter((field) => isRequiredInputField(field) || namesIds(field.type))
      .map((field) => [field.name, valueFor(field.type, owner, field.name)]),
  );
}

function namesIds(type: GraphQLInputType): boolean {
  const named = getNamedType(type);
  return named.name === 'ID' || (isInputObjectType(named) && named.name.endsWith('Filter'));
}

const wanted = (argument: GraphQLArgument) => isRequiredArgument(argument) || namesIds(argument.type);

interface Call {
  readonly name: string;
  readonly query: string;
  readonly variables: Record<string, unknown>;
}

function callOf(
  kind: 'query' | 'mutation' | 'subscription',
  field: GraphQLField<unknown, unknown>,
  only?: string,
): Call {
  const args = field.args.filter((argument) => (only === undefined ? wanted(argument) : argument.name === only));
  const declared = args.map((argument) => `$${argument.name}: ${argument.type}`).join(', ');
  const given = args.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
  const depth = kind === 'query' ? 1 : 2;
  return {
    name: only ? `${field.name}(${only})` : field.name,
    query: `${kind} ${declared && `(${declared})`} { ${field.name} ${given && `(${given})`} ${selection(field.type, field.name === 'viewer' ? 1 : depth)} }`,
    variables: Object.fromEntries(
      args.map((argument) => [argument.name, valueFor(argument.type, field.name, argument.name)]),
    ),
  };
}

const fieldsOf = (type: ReturnType<typeof schema.getQueryType>) => Object.values(type?.getFields() ?? {});

/** The content of the answer, without the values that the caller itself had sent. */
function leaked(answer: unknown): string[] {
  const text = JSON.stringify(answer);
  return secrets.filter((secret) => text.includes(secret));
}

const queries = fieldsOf(schema.getQueryType()).map((field) => callOf('query', field));
const mutations = fieldsOf(schema.getMutationType()).map((field) => callOf('mutation', field));
const subscriptions = fieldsOf(schema.getSubscriptionType()).flatMap((field) => {
  const optional = field.args.filter((argument) => !isRequiredArgument(argument) && namesIds(argument.type));
  return [
    ...(optional.length < 2 ? [callOf('subscription', field)] : []),
    ...optional.map((argument) => callOf('subscription', field, argument.name)),
  ];
});

/** Runs a call as HTTP, as an event stream and on a socket. */
async function everyway(caller: TestPlatform, { query, variables }: Call): Promise<Record<string, Data>> {
  const document = { query, variables };
  const { data, errors } = await caller.send(document.query, document.variables);
  const open = await openEventStream(`${t.url}/graphql/stream`, caller.authorization, document);
  const streamed = (await open.events.next()).value?.data;
  open.cut();
  const raw = await openRawSocket(t.url, caller.authorization);
  raw.send({ id: '1', type: 'subscribe', payload: document });
  const socket = (await Promise.race([raw.receive('next'), raw.receive('error')])).payload;
  raw.socket.close();
  const answers = {
    http: { data, errors },
    stream: streamed,
    socket: Array.isArray(socket) ? { errors: socket } : socket,
  };
  // A document that this file makes must be a good one: a refusal of the document would prove nothing.
  for (const answer of Object.values(answers)) {
    expect(JSON.stringify(answer.errors ?? [])).not.toMatch(/VALIDATION_FAILED|PARSE_FAILED|LIMIT_EXCEEDED|INTERNAL/);
  }
  return answers;
}

describe.each(['another platform', 'another customer', 'another quote', 'another transaction'])('as %s', (who) => {
  const caller = () => {
    const known = callers[who];
    if (!known) throw new Error(`nobody is ${who}`);
    return known;
  };

  test.each(queries.map((call) => call.name))('the query %s shows nothing', async (name) => {
    const field = schema.getQueryType()?.getFields()[name];
    if (!field) throw new Error(name);
    const answers = await everyway(caller(), callOf('query', field));
    for (const answer of Object.values(answers)) expect(leaked(answer)).toEqual([]);
  });

  test.each([
    'Quote',
    'Transaction',
    'Customer',
    'InternalAccount',
    'ExternalAccount',
    'ApiToken',
    'ClientToken',
    'Lookup',
    'WebhookEndpoint',
  ])('the node %s is as unknown as one that never was', async (type) => {
    const id = ids[type] ?? '';
    const query = 'query ($id: ID!, $no: ID!) { node(id: $id) { id } nodes(ids: [$id, $no]) { id } }';
    const answers = await everyway(caller(), {
      name: type,
      query,
      variables: { id, no: `${id.slice(0, -6)}000000` },
    });
    for (const answer of Object.values(answers)) expect(answer.data).toEqual({ node: null, nodes: [null, null] });
  });

  test.each(mutations.map((call) => call.name))('the mutation %s does nothing', async (name) => {
    const field = schema.getMutationType()?.getFields()[name];
    if (!field) throw new Error(name);
    const call = callOf('mutation', field);
    const answers = await everyway(caller(), call);
    const namesThem = secrets.some((secret) => JSON.stringify(call.variables).includes(secret));
    for (const answer of Object.values(answers)) {
      expect(leaked(answer)).toEqual([]);
      if (namesThem) expect(answer.data[name].__typename).not.toMatch(/Success$/);
    }
  });

  test.each(subscriptions.map((call) => call.name))('the subscription %s tells nothing', async (name) => {
    const [, fieldName = '', only] = /^(\w+)(?:\((\w+)\))?$/.exec(name) ?? [];
    const field = schema.getSubscriptionType()?.getFields()[fieldName];
    if (!field) throw new Error(name);
    const call = callOf('subscription', field, only);
    if (!/:[0-9a-f-]{36}/.test(JSON.stringify(call.variables))) return tellsOnlyTheirs(caller(), call);
    const answers = await everyway(caller(), call);
    const codes = Object.entries(answers).map(([transport, answer]) => [transport, answer.errors[0].extensions.code]);
    for (const answer of Object.values(answers)) expect(leaked(answer)).toEqual([]);
    // A transport with one answer has no streams at all.
    expect(Object.fromEntries(codes)).toEqual({ http: 'NOT_ACCEPTABLE', stream: 'NOT_FOUND', socket: 'NOT_FOUND' });
  });
});

/** A stream over many objects is refused to nobody; it says nothing about others' objects. */
async function tellsOnlyTheirs(caller: TestPlatform, call: Call): Promise<void> {
  await vi.waitFor(() => expect(t.gateway.feed.subscriptions).toBe(0), { timeout: 10_000 });
  const raw = await openRawSocket(t.url, caller.authorization);
  raw.send({ id: '1', type: 'subscribe', payload: { query: call.query, variables: call.variables } });
  raw.send({ id: '2', type: 'subscribe', payload: { query: 'subscription { events { id } }' } });
  await vi.waitFor(() => expect(t.gateway.feed.subscriptions).toBe(2), { timeout: 10_000 });
  const heard: string[] = [];
  raw.socket.on('message', (message) => heard.push(String(message)));
  const mark = t.platform.watch(
    'subscription ($id: ID!) { accountUpdates(of: { accountId: $id }) { newBalance { amount } } }',
    {
      id: victim.usd,
    },
  );
  await mark.next();
  await fund(t.platform, victim.usd, 1n);
  await mark.next();
  await mark.return?.();
  raw.send({ id: '4', type: 'subscribe', payload: { query: '{ viewer { kind } }' } });
  await raw.receive('complete');
  expect(leaked(heard)).toEqual([]);
  raw.socket.close();
}

test('every type with an id of its own is among those that this file tries', () => {
  const node = schema.getType('Node');
  const types = node && isAbstractType(node) ? schema.getPossibleTypes(node).map((type) => type.name) : [];
  // A new node type needs a thing of it in the victim's hands above.
  expect(types.filter((type) => ids[type] === undefined)).toEqual([]);
});
