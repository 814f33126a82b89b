import { type GraphQLInputType, isInputObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { argumentPath, inputPaths } from '../../src/api/graphql/schema/input-paths.ts';
import { schema } from '../../src/api/graphql/server/schema.ts';
import { placesIn } from '../setup/inputs.ts';

/** Returns the @oneOf fields of a mutation's input, except amounts, each with the path that leads there. */
const choicesOf = (input: GraphQLInputType): string[] =>
  [...placesIn('', input)].flatMap(({ path, type }) =>
    isInputObjectType(type) && type.isOneOf && type.name !== 'AmountInput'
      ? [path.filter((step) => step !== '0').join('.')]
      : [],
  );

test('the table has exactly the choices that the inputs of mutations have', () => {
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  expect(mutations.length).toBeGreaterThan(20);
  const choices = mutations.flatMap(({ name, args }) =>
    args.flatMap(({ type }) => choicesOf(type)).map((choice) => `${name} ${choice}`),
  );
  const pathInputs = Object.entries(inputPaths).flatMap(([name, table]) =>
    table.flatMap(([, input]) => {
      const chosen = input.findIndex((step) => typeof step !== 'string');
      return chosen < 0 ? [] : [`${name} ${input.slice(0, chosen).join('.')}`];
    }),
  );
  // The choices in an account's details have the same paths as in the command.
  expect(new Set(pathInputs)).toEqual(new Set(choices.filter((choice) => !choice.includes('accountInfo.'))));
});

test.each([
  ['createQuote', ['source', 'accountId'], { source: { account: {} } }, ['input', 'source', 'account', 'accountId']],
  ['createQuote', ['source'], { source: { realtimeFunding: {} } }, ['input', 'source', 'realtimeFunding']],
  // An account of kind `iban` has an `iban`.
  [
    'createExternalAccount',
    ['details', 'iban'],
    { accountInfo: { iban: {} } },
    ['input', 'accountInfo', 'iban', 'iban'],
  ],
  ['createExternalAccount', ['details'], { accountInfo: { clabe: {} } }, ['input', 'accountInfo', 'clabe']],
  ['createExternalAccount', ['beneficiary'], { accountInfo: {} }, ['input', 'beneficiary']],
  [
    'createCustomer',
    ['details', 'beneficialOwners', 1, 'taxId'],
    { details: { business: {} } },
    ['input', 'details', 'business', 'beneficialOwners', 1, 'taxId'],
  ],
  ['transferOut', ['amount'], { amount: { units: 1n } }, ['input', 'amount', 'units']],
  ['sandboxSend', ['currencyAmount'], { amount: { decimal: '1' } }, ['input', 'amount', 'decimal']],
  ['sandboxSend', ['currencyCode'], {}, ['input', 'currency']],
] as const)('%s has %j of its command at the path in the input', (name, path, input, place) => {
  expect(argumentPath(name, path, input)).toEqual(place);
});
