import { type GraphQLInputType, isEnumType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import { nodeTypes } from '../../src/api/graphql/schema/nouns.ts';
import { operations } from '../../src/domain/access/operations.ts';
import { mutationName } from '../setup/documents.ts';
import type { Choices } from './choices.ts';
import type { Material } from './material.ts';

/**
 * Draws a value for an argument or an input field, as JSON: usually a value that matches something, sometimes one that
 * matches nothing or is refused.
 * @param owner the field that the argument belongs to, or the input type that the input field belongs to
 */
export function valueFor(
  owner: string,
  name: string,
  type: GraphQLInputType,
  choices: Choices,
  material: Material,
): unknown {
  if (!isNonNullType(type) && choices.oneIn(16)) return null;
  const inner = isNonNullType(type) ? type.ofType : type;
  const drawn = byName[name]?.(choices, material, owner);
  if (drawn !== undefined) return drawn;
  if (isInputObjectType(inner)) {
    const fields = Object.values(inner.getFields());
    const chosen = new Set(Array.from({ length: choices.below(3) }, () => choices.oneOf(fields)));
    return Object.fromEntries(
      [...chosen].map((field) => [field.name, valueFor(inner.name, field.name, field.type, choices, material)]),
    );
  }
  if (isListType(inner)) {
    const count = choices.oneIn(8) ? 0 : 1 + choices.below(4);
    return Array.from({ length: count }, () => valueFor(owner, '', inner.ofType, choices, material));
  }
  if (isEnumType(inner)) return choices.oneOf(inner.getValues()).name;
  if (inner.name === 'Boolean') return choices.oneIn(2);
  throw new Error(`no value is known for ${owner}.${name}`);
}

type Draw = (choices: Choices, material: Material, owner: string) => unknown;

const nobody = '019a0000-0000-7000-8000-000000000000';

/** Draws an id of one of the given types, sometimes an unknown or malformed one. */
const idOf =
  (...types: readonly string[]): Draw =>
  (choices, { ids }) => {
    if (choices.oneIn(20)) {
      const [first = ''] = types;
      const known = ids[first]?.[0] ?? '';
      return choices.oneOf([
        `${first}:${nobody}`,
        '',
        'x',
        known.toUpperCase(),
        ` ${known}`,
        known.slice(known.indexOf(':') + 1),
        `Event:${nobody}`,
        'InternalAccount:1',
        `Customer:${known.slice(known.indexOf(':') + 1)}`,
      ]);
    }
    const known = ids[choices.oneOf(types)] ?? [];
    return known.length > 0 ? choices.oneOf(known) : `Transaction:${nobody}`;
  };

const accountId = idOf('InternalAccount', 'ExternalAccount');
const anyId = idOf(...nodeTypes);
const idsOfFields: Readonly<Record<string, Draw>> = {
  'Query.account': accountId,
  'Query.customer': idOf('Customer'),
  'Query.quote': idOf('Quote'),
  'Query.transaction': idOf('Transaction'),
};

/** Returns the row type of a list field. The list's cursors are stored under this type. */
function rowsOf(owner: string): string {
  const name = owner.slice(owner.indexOf('.') + 1);
  if (name === 'deliveries') return 'WebhookDelivery';
  if (name === 'ledgerEntries') return 'LedgerEntry';
  return `${name.charAt(0).toUpperCase()}${name.slice(1, -1)}`;
}

const size: Draw = (choices) => {
  if (choices.oneIn(50)) return choices.oneOf([0, 101, -1]);
  return choices.oneIn(12) ? choices.oneOf([20, 7, 11]) : 1 + choices.below(4);
};

const cursor: Draw = (choices, { cursors }, owner) => {
  if (choices.oneIn(30)) {
    const other = cursors[owner.endsWith('quotes') ? 'Customer' : 'Quote']?.[0] ?? '';
    return choices.oneOf(['', 'x', other, `${cursors.Event?.[0]}=`, 'é']);
  }
  const known = cursors[rowsOf(owner)] ?? [];
  return known.length > 0 ? choices.oneOf(known) : 'x';
};

const umaAddress: Draw = (choices, { umaAddresses }) => {
  const address = choices.oneOf([...umaAddresses, '$nobody@nowhere.example']);
  return choices.oneIn(4) ? address.toUpperCase() : address;
};

const end: Draw = (choices, material, owner) =>
  choices.oneIn(3) ? umaAddress(choices, material, owner) : accountId(choices, material, owner);

const moment: Draw = (choices, { moments }) => {
  if (choices.oneIn(10))
    return choices.oneOf(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '1970-01-01T00:00:00+01:00']);
  return choices.oneIn(150) ? 'soon' : choices.oneOf(moments);
};

const amount: Draw = (choices) =>
  choices.oneOf([0, 1, 10, '100', 2_000, '10000', '100000000', -5, '9223372036854775807']);

const odd = ['', 'nobody', 'a\u0000b', '%', "'"];

/** Functions that draw values, keyed by input name. If one returns undefined, the value depends only on the type. */
const byName: Readonly<Record<string, Draw>> = {
  id: (choices, material, owner) => (idsOfFields[owner] ?? anyId)(choices, material, owner),
  ids: (choices, material, owner) => {
    const count = choices.oneIn(60) ? 101 : 1 + choices.below(6);
    const ids = Array.from({ length: Math.min(count, 8) }, () => anyId(choices, material, owner));
    if (choices.oneIn(3)) ids.push(ids[0]);
    return count > 8 ? Array.from({ length: count }, () => ids[0]) : ids;
  },
  first: size,
  last: size,
  after: cursor,
  before: cursor,
  customerId: idOf('Customer'),
  transactionId: idOf('Transaction'),
  sendingAccountId: accountId,
  receivingAccountId: accountId,
  senderAccountIdentifier: end,
  receiverAccountIdentifier: end,
  umaAddress,
  sendingUmaAddress: umaAddress,
  receivingUmaAddress: umaAddress,
  platformCustomerId: (choices, { platformCustomerIds }) =>
    choices.oneIn(10) ? choices.oneOf(odd) : choices.oneOf(platformCustomerIds),
  reference: (choices, { references }) => (choices.oneIn(10) ? choices.oneOf(odd) : choices.oneOf(references)),
  currency: (choices) =>
    choices.oneIn(10) ? choices.oneOf(['usd', 'XXX', ...odd]) : choices.oneOf(['USD', 'EUR', 'BTC', 'USDC']),
  createdById: idOf('ApiToken'),
  accountId,
  name: (choices, { names }, owner) =>
    choices.oneIn(6)
      ? choices.oneOf(odd)
      : owner === 'ApiTokenFilter'
        ? choices.oneOf(['test', 'all'])
        : choices.oneOf(names).slice(0, choices.oneIn(2) ? 3 : 40),
  min: amount,
  max: amount,
  createdAfter: moment,
  createdBefore: moment,
  from: moment,
  to: moment,
  updatedAfter: moment,
  updatedBefore: moment,
  locale: (choices) => choices.oneOf(['en', 'de', 'de-DE', 'ja', 'ar-EG', 'pt-BR', 'no such locale']),
  source: (choices) => (choices.oneIn(20) ? 'XXX' : choices.oneOf(['USD', 'EUR', 'MXN', 'BTC', 'JPY'])),
  destinations: (choices) =>
    Array.from({ length: choices.below(4) }, () => choices.oneOf(['EUR', 'USD', 'INR', 'USDT', 'GBP'])),
  sendingAmount: (choices) =>
    choices.oneIn(2)
      ? { units: choices.oneOf([10_000, '123456', 1, 0, '9223372036854775807']) }
      : { decimal: choices.oneOf(['1', '12.50', '0.001', '-1', 'x']) },
  operation: (choices, { keys }) =>
    choices.oneOf([...keys.map(([operation]) => operation), ...Object.keys(operations).slice(0, 2)].map(mutationName)),
  idempotencyKey: (choices, { keys }) => choices.oneOf([...keys.map(([, key]) => key), 'a b']),
};
