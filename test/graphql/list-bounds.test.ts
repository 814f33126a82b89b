import { getNullableType, isInputObjectType, isListType, isNonNullType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/api/graphql/server/schema.ts';
import { maxListLength } from '../../src/core/checks.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { least, placesIn, putAt } from '../setup/inputs.ts';
import { nextOf } from '../setup/streams.ts';

const t = await testGateway();

/** All lists in arguments, each with its root field, argument, and a value that makes the list one element too long. */
const lists = (['Query', 'Mutation', 'Subscription'] as const).flatMap((typeName) => {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(`no type ${typeName}`);
  return Object.values(type.getFields()).flatMap((field) =>
    field.args.flatMap((arg) =>
      [...placesIn(field.name, arg.type)].flatMap(({ path, type: list }) => {
        // Lists inside another list's elements are omitted.
        if (!isListType(list) || path.includes('0')) return [];
        const long = Array.from({ length: maxListLength + 1 }, () => least(list.ofType));
        const value = putAt(arg.type, undefined, path, long);
        const name = [field.name, arg.name, ...path].join('.');
        return [{ name, root: typeName.toLowerCase(), field, argument: arg.name, path, value }];
      }),
    ),
  );
});

test.each(lists)('a list with one value too many is refused with its path and limit: $root $name', async (one) => {
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
        const [, most] = /At most (\d+)/.exec(one.description ?? '') ?? [];
        if (isList && !(Number(most) <= maxListLength)) silent.push(`${type.name}.${field.name}`);
      }
    }
  }
  expect(silent).toEqual([]);
});
