import { readFileSync } from 'node:fs';
import {
  buildClientSchema,
  buildSchema,
  type GraphQLObjectType,
  getIntrospectionQuery,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql';
import { expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';

const t = await testGateway();
const schema = buildClientSchema(
  await t.platform.ask(getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true })),
);

const ownTypes = () => Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__'));

test('every type, field, argument, input field and enum value has a description', () => {
  const silent: string[] = [];
  const look = (place: string, { description }: { description?: string | null }) => {
    if (!description?.trim()) silent.push(place);
  };
  for (const type of ownTypes()) {
    look(type.name, type);
    if (isEnumType(type)) for (const value of type.getValues()) look(`${type.name}.${value.name}`, value);
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      look(`${type.name}.${field.name}`, field);
      if (!('args' in field)) continue;
      for (const arg of field.args) look(`${type.name}.${field.name}(${arg.name})`, arg);
    }
  }
  expect(silent).toEqual([]);
});

test("a boolean's name is an adjective or a verb, and begins with `is` only if the specification or REST has that name", () => {
  const fields = ownTypes().flatMap((type) =>
    isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) ? Object.values(type.getFields()) : [],
  );
  const named = fields.filter(({ type, name }) => /^\[?Boolean/.test(String(type)) && /^is[A-Z]/.test(name));
  expect([...new Set(named.map(({ name }) => name))].sort()).toEqual([
    'isDeleted',
    'isIncludingDeleted',
    'isRegulatedFinancialInstitution',
  ]);
});

test('a field has the same type and nullability in all members of a union', () => {
  const conflicts: string[] = [];
  for (const union of ownTypes().filter(isUnionType)) {
    const types = new Map<string, string>();
    for (const member of union.getTypes()) {
      for (const field of Object.values(member.getFields())) {
        const first = types.get(field.name) ?? String(field.type);
        types.set(field.name, first);
        if (first !== String(field.type)) conflicts.push(`${union.name}: ${member.name}.${field.name}`);
      }
    }
  }
  expect(conflicts).toEqual([]);
});

const takesScenario = new Set(['createQuote', 'executeQuote', 'transferOut', 'transferIn']);

test('every mutation takes one input with an idempotency key, and returns a success or a refusal', () => {
  const userError = schema.getType('UserError');
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const name = `${field.name.charAt(0).toUpperCase()}${field.name.slice(1)}`;
    const [first, ...further] = field.args.map((arg) => `${arg.name}: ${arg.type}`);
    expect(first).toBe(`input: ${name}Input!`);
    // Arguments that only the sandbox has are separate from the input used in production.
    expect(further).toEqual(takesScenario.has(field.name) ? ['sandboxScenario: SandboxScenarioInput'] : []);
    expect(String(field.type)).toBe(`${name}Result`);

    const input = schema.getType(`${name}Input`);
    const result = schema.getType(`${name}Result`);
    if (!isInputObjectType(input) || !isUnionType(result)) throw new Error(`${name} has another shape`);
    // For transfers, only a key distinguishes a repeated request from a second payment. A quote can be executed only
    // once anyway.
    const isKeyRequired = field.name.startsWith('transfer');
    expect(String(input.getFields().idempotencyKey?.type)).toBe(isKeyRequired ? 'String!' : 'String');
    const [success, ...others] = result.getTypes();
    // Mutations that move money can be validated without moving any.
    const validated = input.getFields().validateOnly ? ['ValidatedPayment'] : [];
    const refusals = others.filter((type) => !validated.includes(type.name));
    expect(refusals.length).toBe(others.length - validated.length);
    expect(success?.name).toBe(`${name}Success`);
    expect(String(success?.getFields().replayed?.type)).toBe('Boolean!');
    for (const refusal of refusals) expect(refusal.getInterfaces().map(String)).toContain(String(userError));
  }
});

test('fields of queries and mutations are null on failure, and document any other meaning of null', () => {
  const printed = buildSchema(readFileSync('schema.graphql', 'utf8'));
  const plain = (root?: GraphQLObjectType | null) =>
    Object.values(root?.getFields() ?? {}).filter(({ type, astNode }) => {
      expect(isNonNullType(type)).toBe(false);
      return astNode?.directives?.every(({ name }) => name.value !== 'semanticNonNull');
    });
  const names = plain(printed.getQueryType()).map(({ name }) => name);
  expect(names.sort()).toEqual(['account', 'customer', 'node', 'quote', 'transaction']);
  expect(plain(printed.getMutationType())).toEqual([]);
});

test('every list is a connection with the same arguments and fields', () => {
  for (const type of ownTypes().filter(isObjectType)) {
    for (const field of Object.values(type.getFields())) {
      if (!/Connection!?$/.test(String(field.type))) continue;
      const args = Object.fromEntries(field.args.map((arg) => [arg.name, String(arg.type)]));
      // A subscription to a list returns only its first page. Clients read the other pages with a query.
      if (field.name === 'snapshot') expect(args).toEqual({ first: 'Int', sortOrder: 'SortOrder' });
      else expect(args).toMatchObject({ first: 'Int', after: 'String', last: 'Int', before: 'String' });
      // Logs and lists of settings have a single order. Lists that grow with business volume offer a choice.
      if (args.filter && field.name !== 'events') expect(args.sortOrder).toBe('SortOrder');
      const connection = schema.getType(String(field.type).replace('!', ''));
      if (!isObjectType(connection)) throw new Error(`${field.type} is not an object`);
      const row = connection.name.replace('Connection', '');
      const parts = Object.values(connection.getFields()).map((part) => `${part.name}: ${part.type}`);
      const nodes = /^nodes: \[(\w+)!\]!$/.exec(parts.sort()[1] ?? '')?.[1];
      expect(parts).toEqual([
        `edges: [${row}Edge!]!`,
        `nodes: [${nodes}!]!`,
        'pageInfo: PageInfo!',
        'totalCount: Int!',
      ]);
      const edge = schema.getType(`${row}Edge`);
      expect(isObjectType(edge) && String(edge.getFields().node?.type)).toBe(`${nodes}!`);
    }
  }
});

test('arguments that have a default value also accept null', async () => {
  const { customers } = await t.platform.ask(
    'query ($order: SortOrder, $deleted: Boolean) { customers(sortOrder: $order, filter: { isIncludingDeleted: $deleted }) { totalCount } }',
    { order: null, deleted: null },
  );
  expect(customers.totalCount).toBe(0);
  const { accounts } = await t.platform.ask(
    '{ accounts(filter: { currency: "USD" }) { edges { node { ... on InternalAccount { balance { formatted(locale: null) } } } } } }',
  );
  expect(accounts.edges[0].node.balance.formatted).toBe('$0.00');
});

test("no name clashes with names that Apollo's generators for iOS and Kotlin reserve (docs/mobile.md)", () => {
  const reservedTypes = new Set(
    `Any Bool Class Companion DataDict DocumentType Double Enum Error Float Fragments FragmentContainer Interface Int Nothing
    Object ParentType Protocol Schema Selection Self String Type Union Unit`.split(/\s+/),
  );
  const reservedFields = new Set('_ __data fragments Fragments self Self init hashCode toString'.split(' '));
  const own = ownTypes().filter(({ name }) => !isSpecifiedScalarType({ name } as never));
  const clashes = own.filter(
    ({ name }) => reservedTypes.has(name) || own.some((other) => isSameFile(name, other.name)),
  );
  expect(clashes.map(String)).toEqual([]);
  for (const type of own) {
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    const names = Object.keys(type.getFields());
    // The generators turn a field with subfields into a type with the field's name, capitalized.
    const wrong = names.filter(
      (name) => reservedFields.has(name) || reservedTypes.has(`${name.charAt(0).toUpperCase()}${name.slice(1)}`),
    );
    expect(wrong.filter((name) => !isLeafType(getNamedType(type.getFields()[name]?.type)))).toEqual([]);
    expect(wrong.filter((name) => reservedFields.has(name))).toEqual([]);
  }
});

/** On macOS file systems, names that differ only in case refer to the same file. */
const isSameFile = (one: string, other: string) => one !== other && one.toLowerCase() === other.toLowerCase();
