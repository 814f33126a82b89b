import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/api/graphql/server/schema.ts';
import { act, actOn } from '../setup/acts.ts';
import { fundedQuote } from '../setup/funded-quote.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { makeScene } from '../setup/scene.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';

/**
 * Postgres stores neither NUL nor unpaired surrogates. Each text of each argument and input field is replaced by such a text in
 * turn, with all other values valid, so that the text gets as far as possible.
 */
const unstorable = ['a\0b', 'a\ud800b'];

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const scene = await makeScene(t.platform, 10_000n);
const { quoteId } = await fundedQuote(t.platform, scene);
const endpoint = await createEndpoint(t.platform, { url: 'http://127.0.0.1:9/' });
const payment = {
  senderUmaAddress: '$sender@example.com',
  receiver: { customerId: scene.customerId },
  currency: 'USD',
  amount: 10,
};
const { transaction } = await actOn(t.platform, 'sandboxReceiveUma', payment);
/** Values of input fields and arguments, by name. */
const known: Readonly<Record<string, string>> = {
  id: scene.customerId,
  customerId: scene.customerId,
  accountId: scene.usd,
  sourceAccountId: scene.usd,
  destinationAccountId: scene.outsideUsd,
  quoteId,
  endpointId: endpoint.id,
  transactionId: transaction.id,
  operation: 'EXECUTE_QUOTE',
  currency: 'USD',
  source: 'USD',
  senderUmaAddress: '$sender@example.com',
  country: 'US',
  accountNumber: '7700000',
  routingNumber: '021000021',
  name: 'FULL_NAME',
  DateTime: '2026-01-01T00:00:00Z',
  Date: '2000-01-01',
};

test('a mutation refuses text that cannot be stored, in whichever field it is', async () => {
  const taken: object[] = [];
  let refused = 0;
  for (const field of fieldsOf('Mutation')) {
    for (const [path, variables] of spoilt(field)) {
      const query = `mutation ${call(field, variables, '__typename ... on UserError { code path }')}`;
      const { data, errors } = await t.platform.send(query, variables);
      if (data?.result?.code) refused += 1;
      else taken.push({ field: field.name, path, result: data?.result, errors });
    }
  }
  expect(taken).toEqual([]);
  expect(refused).toBeGreaterThan(200);
});

test('a query by text that cannot be stored finds nothing, or is refused', async () => {
  const wrong: object[] = [];
  for (const field of fieldsOf('Query')) {
    const isList = getNamedType(field.type).name.endsWith('Connection');
    for (const [path, variables] of spoilt(field)) {
      const query = `query ${call(field, variables, isList ? 'totalCount' : '__typename')}`;
      const { errors = [] } = await t.platform.send(query, variables);
      const faults = errors.filter(({ extensions }) => !/^INVALID_/.test(extensions?.code));
      if (faults.length > 0) wrong.push({ field: field.name, path, faults });
    }
  }
  expect(wrong).toEqual([]);
});

test('a payment announced in an impossible currency is refused at its currency', async () => {
  const input = {
    senderUmaAddress: known.senderUmaAddress,
    receiver: { customerId: known.customerId },
    amount: 10,
    currency: 'U\0D',
  };
  expect(await act(t.platform, 'sandboxReceiveUma', input)).toMatchObject({
    __typename: 'InvalidInputError',
    code: 'INVALID_CURRENCY',
    path: ['input', 'currency'],
  });
});

function fieldsOf(root: 'Query' | 'Mutation'): GraphQLField<unknown, unknown>[] {
  const type = root === 'Query' ? schema.getQueryType() : schema.getMutationType();
  return Object.values(type?.getFields() ?? {});
}

/** Returns the field of a document, with a variable for each argument that has one. */
function call(field: GraphQLField<unknown, unknown>, variables: object, selection: string): string {
  const given = field.args.filter(({ name }) => name in variables);
  const declared = given.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const passed = given.map(({ name }) => `${name}: $${name}`).join(', ');
  const inside = isLeafType(getNamedType(field.type)) ? '' : `{ ${selection} }`;
  return `(${declared}) { result: ${field.name}(${passed}) ${inside} }`;
}

/** Yields variables for a field's arguments, with one text spoilt in each, and where it is. */
function* spoilt({ args }: GraphQLField<unknown, unknown>): Generator<[path: string, variables: Record<string, Data>]> {
  const needed = args.filter(isNeeded).map(({ name, type }) => [name, sound(name, type)]);
  for (const { name, type } of args) {
    for (const [path, value] of spoiltValues(name, type))
      yield [path, { ...Object.fromEntries(needed), [name]: value }];
  }
}

function* spoiltValues(name: string, type: GraphQLInputType): Generator<[path: string, value: Data]> {
  const here = getNullableType(type);
  if (isListType(here)) {
    for (const [path, value] of spoiltValues(name, here.ofType)) yield [path, [value]];
  } else if (isInputObjectType(here)) {
    for (const field of Object.values(here.getFields())) {
      const others = here.isOneOf ? {} : sound(name, here);
      for (const [path, value] of spoiltValues(field.name, field.type)) {
        yield [`${name}.${path}`, { ...others, [field.name]: value }];
      }
    }
  } else if (here.name === 'String' || here.name === 'ID') {
    for (const bad of unstorable) yield [name, bad];
    const [idType, uuid] = known[name]?.split(':') ?? [];
    if (uuid !== undefined) for (const bad of unstorable) yield [name, `${idType}:${bad}`];
  }
}

function sound(name: string, type: GraphQLInputType): Data {
  const here = getNullableType(type);
  if (isListType(here)) return [sound(name, here.ofType)];
  if (isEnumType(here)) return here.getValues()[0]?.name;
  if (isInputObjectType(here)) {
    const fields = Object.values(here.getFields());
    const given = here.isOneOf ? fields.slice(0, 1) : fields.filter(isNeeded);
    return Object.fromEntries(given.map((field) => [field.name, sound(field.name, field.type)]));
  }
  if (here.name === 'Boolean') return false;
  if (here.name === 'String' || here.name === 'ID') return known[name] ?? 'x';
  return known[here.name] ?? 10;
}

function isNeeded({ name, type }: Pick<GraphQLArgument, 'name' | 'type'>): boolean {
  return isNonNullType(type) || name in known || name === 'beneficiary';
}
