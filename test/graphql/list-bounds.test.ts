import {
  type GraphQLField,
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/api/graphql/server/schema.ts';
import { maxListLength } from '../../src/core/checks.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { nextOf } from '../setup/streams.ts';

const t = await testGateway();

/** A list that a document can send: the root field, its argument, and a value in which the list is one value too long. */
interface LongList {
  readonly name: string;
  readonly root: 'query' | 'mutation' | 'subscription';
  readonly field: GraphQLField<unknown, unknown>;
  readonly argument: string;
  /** Where the list is, below the argument. */
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Returns the smallest value that a type accepts. */
function least(type: GraphQLInputType): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [];
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name;
  if (!isInputObjectType(nullable)) return nullable.name === 'Boolean' ? true : nullable.name === 'Int' ? 1 : '1';
  const fields = Object.values(nullable.getFields());
  const needed = nullable.isOneOf ? fields.slice(0, 1) : fields.filter((field) => isNonNullType(field.type));
  return Object.fromEntries(needed.map((field) => [field.name, least(field.type)]));
}

/** Yields each list in a type, with a value of the type in which it is too long. */
function* longLists(type: GraphQLInputType, seen: readonly GraphQLInputType[] = []): Generator<[string[], unknown]> {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    yield [[], Array.from({ length: maxListLength + 1 }, () => least(nullable.ofType))];
    return;
  }
  if (!isInputObjectType(nullable) || seen.includes(nullable)) return;
  for (const field of Object.values(nullable.getFields())) {
    for (const [path, value] of longLists(field.type, [...seen, nullable])) {
      const others = nullable.isOneOf ? {} : Object(least(nullable));
      yield [[field.name, ...path], { ...others, [field.name]: value }];
    }
  }
}

function listsBelow(root: LongList['root'], typeName: string): LongList[] {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(`no type ${typeName}`);
  return Object.values(type.getFields()).flatMap((field) =>
    field.args.flatMap((arg) =>
      [...longLists(arg.type)].map(([path, value]) => ({
        name: [field.name, arg.name, ...path].join('.'),
        root,
        field,
        argument: arg.name,
        path,
        value,
      })),
    ),
  );
}

const lists = [
  ...listsBelow('query', 'Query'),
  ...listsBelow('mutation', 'Mutation'),
  ...listsBelow('subscription', 'Subscription'),
];

test.each(lists)('a list with one value too many is refused, naming it and its limit: $root $name', async (one) => {
  const args = one.field.args.filter(({ name, type }) => name === one.argument || isNonNullType(type));
  const declared = args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const given = args.map(({ name }) => `${name}: $${name}`).join(', ');
  const variables = Object.fromEntries(
    args.map(({ name, type }) => [name, name === one.argument ? one.value : least(type)]),
  );
  const selection = one.root === 'mutation' ? '{ __typename ... on UserError { message path } }' : '{ __typename }';
  const query = `${one.root} (${declared}) { ${one.field.name}(${given}) ${selection} }`;
  const answer: Data =
    one.root === 'subscription'
      ? await nextOf(t.platform.watch(query, variables))
      : await t.platform.send(query, variables);
  const path = [one.argument, ...one.path].join('.');
  const message = expect.stringMatching(new RegExp(`^${path} has 101 values; at most 100 are allowed`));
  if (one.root === 'mutation') {
    expect(answer.data[one.field.name]).toMatchObject({ __typename: 'InvalidInputError', message });
  } else {
    expect(answer.errors).toMatchObject([{ message, extensions: { code: 'INVALID_INPUT', field: path } }]);
  }
});

test('the description of every list in an argument or an input states its maximum length', () => {
  const silent: string[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__') || !('getFields' in type)) continue;
    for (const field of Object.values(type.getFields())) {
      for (const one of 'args' in field ? field.args : [field]) {
        const isList = isInputObjectType(type) || one !== field ? isListType(getNullableType(one.type)) : false;
        const [, most] = /At most (\d+)\./.exec(one.description ?? '') ?? [];
        if (isList && !(Number(most) <= maxListLength)) silent.push(`${type.name}.${field.name}`);
      }
    }
  }
  expect(silent).toEqual([]);
});
