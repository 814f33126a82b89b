import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { expect, test } from 'vitest';
import { derive } from '../../src/api/graphql/reading/derive.ts';
import { schema } from '../../src/api/graphql/server/schema.ts';

/** A schema with one field of quotes, as the plug-ins of Pothos leave it. */
function schemaWith(extensions: Readonly<Record<string, unknown>>): GraphQLSchema {
  const Quote = new GraphQLObjectType({
    name: 'Quote',
    extensions: { pothosPrismaModel: 'Quote' },
    fields: { label: { type: GraphQLString, extensions: { ...extensions } } },
  });
  const quote = { type: Quote, extensions: { executed: true } } as const;
  return new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { quote } }) });
}

const resolve = () => 'a quote';

test.each([
  ['no statement can read Quote.label', {}],
  ['no statement can read Quote.label', { pothosOptions: { resolve } }],
  ['Quote has no column nickname', { pothosExposedField: 'nickname' }],
  ['Quote has no column nickname', { pothosOptions: { resolve, select: { nickname: true } } }],
])('a field that cannot be read stops the start: %s', (message, extensions) => {
  expect(() => derive(schemaWith(extensions))).toThrow(message);
});

test('a type whose rows are read by their ids says who may see which of them', () => {
  expect(() => derive(schemaWith({ made: () => ({ kind: 'node', types: ['Quote'] }) }))).toThrow(
    'reads rows of Quote, which has no table, or no rule for who may see its rows',
  );
});

test('a field that graphql-js executes says so', () => {
  expect(() => derive(schemaWith({ executed: true }))).not.toThrow();
  const executed = Object.values(schema.getQueryType()?.getFields() ?? {}).filter((field) => field.extensions.executed);
  expect(executed.map(({ name }) => name).sort()).toEqual([
    'currencies',
    'exchangeRates',
    'externalAccountForms',
    'mutationReceipt',
    'viewer',
  ]);
});
