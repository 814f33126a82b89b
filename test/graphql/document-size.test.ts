import fc from 'fast-check';
import { buildSchema, Kind, parse, print, visit } from 'graphql';
import { expect, test } from 'vitest';
import { type DocumentSize, measureDocument } from '../../src/api/graphql/limits/document-size.ts';
import { type Params, relayQuery, schema } from './small-schema.ts';

const ids = '{ edges { node { id } } }';
const paged = (declared: string, first = '$n') => `query (${declared}) { customers(first: ${first}) ${ids} }`;

test.each<[what: string, query: string, expected: Partial<DocumentSize>, more?: Omit<Params, 'query'>]>([
  ['a field', '{ version }', { cost: 1, depth: 1, fields: 1 }],
  ['the ordinary deep Relay query', relayQuery, { cost: 341, depth: 7, fields: 11 }],
  [
    'a connection of the default size',
    '{ customers { edges { node { id } } pageInfo { hasNextPage } } }',
    { cost: 63 },
  ],
  ['first', `{ customers(first: 3) ${ids} }`, { cost: 10 }],
  ['last', `{ customers(last: 4) ${ids} }`, { cost: 13 }],
  ['the larger of first and last', `{ customers(first: 1, last: 5) ${ids} }`, { cost: 16 }],
  ['first: null', `{ customers(first: null) ${ids} }`, { cost: 61 }],
  ['first: 0 or less, as 1', `{ customers(first: 0, last: -7) ${ids} }`, { cost: 4 }],
  ['first: "many"', `{ customers(first: "many") ${ids} }`, { cost: 61 }],
  ['an infinite `first`', paged('$n: Int'), { cost: 3_000_001 }, { variables: { n: Infinity } }],
  ['an absurd `first`', `{ customers(first: 1e99) ${ids} }`, { cost: 3_000_001 }],
  ['another list, once', '{ currencies { code decimals } }', { cost: 3 }],
  ['an unknown field with children', '{ nonsense(first: 50) { a { b } } }', { cost: 3, depth: 3, fields: 3 }],
  ['a variable', paged('$n: Int = 9'), { cost: 7 }, { variables: { n: 2 } }],
  ['its default', paged('$n: Int = 9'), { cost: 28 }],
  ['null in place of its default', paged('$n: Int = 9'), { cost: 61 }, { variables: { n: null } }],
  [
    'the default of a variable with a name from Object.prototype',
    paged('$constructor: Int = 3', '$constructor'),
    { cost: 10 },
    { variables: {} },
  ],
  [
    'the default of the operation that is run',
    `query A($n: Int = 2) { ...F } query B($n: Int = 5) { ...F } fragment F on Query { customers(first: $n) ${ids} }`,
    { cost: 16 },
    { operationName: 'B' },
  ],
  [
    'the largest of several operations',
    '{ version } query B { version version } query C { currencies { code } a: version }',
    { cost: 3, fields: 3, depth: 2, aliases: 1 },
  ],
  [
    'one fragment at two depths',
    `{ customer { ...F friends(first: 10) { edges { node { ...F } } } } } fragment F on Customer { id accounts(first: 2) ${ids} }`,
    { cost: 1 + 8 + 1 + 10 * (2 + 8), depth: 8, fields: 14 },
  ],
  [
    'mutations, without __typename',
    'mutation { __typename pay ...F } fragment F on Mutation { refund ... { cancel } }',
    { mutationFields: 3, fields: 3 },
  ],
  [
    'no __typename beside other selections, at any depth',
    '{ __typename version customer { __typename ...F } } fragment F on Customer { __typename ... { __typename id } }',
    { cost: 3, fields: 3, depth: 2, tokens: 18 },
  ],
  ['__typename alone as a field that costs nothing', '{ customer { __typename } }', { cost: 1, fields: 2, depth: 2 }],
  [
    '__typename that occurs twice, or has an alias',
    '{ __typename __typename a: __typename version }',
    { cost: 3, fields: 3, aliases: 1, tokens: 7 },
  ],
  ['each id of a list', '{ nodes(ids: ["1", "2", "3"]) { id ... on Customer { name } } }', { cost: 10 }],
  ['repeated ids each time, since each gets a result', '{ nodes(ids: ["1", "1"]) { id } }', { cost: 5 }],
  ['an empty list as one id', '{ nodes(ids: []) { id } }', { cost: 2 }],
  ['one id that is not a list', '{ nodes(ids: "1") { id } }', { cost: 2 }],
  [
    'ids in a variable',
    'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    { cost: 9 },
    { variables: { ids: ['1', '2', '3', '4'] } },
  ],
  ['ids in its default', 'query ($ids: [ID!]! = ["1", "2"]) { nodes(ids: $ids) { id } }', { cost: 5 }],
  [
    'ids in variables in a list',
    'query ($a: ID!, $b: ID!) { nodes(ids: [$a, $b]) { id } }',
    { cost: 5 },
    { variables: { a: '1', b: '2' } },
  ],
  [
    'a connection below each id',
    `{ nodes(ids: ["1", "2"]) { ... on Customer { friends(first: 5) ${ids} } } }`,
    { cost: 1 + 2 + 2 * (1 + 5 * 3) },
  ],
  ['each value of a list in an argument, even if the result has no list', '{ echo(values: [1, 2, 3]) }', { cost: 4 }],
  ['no mutations in a query', '{ version version }', { mutationFields: 0 }],
  [
    'directives in every place',
    'query ($v: Int @a) @b { ...F @c ... @d { version @e } } fragment F on Query @f { version }',
    { directives: 6 },
  ],
])('counts %s', (_name, query, expected, more) => {
  expect(sizeOf({ query, ...more })).toMatchObject(expected);
});

test('requesting other operation names does not make the cached document grow', () => {
  const document = parse('query A { version } query B { version }');
  const measure = measureDocument({ schema, document, operationName: 'A' });
  for (const operationName of ['B', 'none of them', 'nor this', '', undefined, null]) {
    expect(measureDocument({ schema, document, operationName })).toBe(measureDocument({ schema, document }));
    expect(measureDocument({ schema, document, operationName })).toMatchObject(measure);
  }
});

test('the size of any document is the size of its expanded form', () => {
  fc.assert(
    fc.property(randomDocument, (document) => {
      const { cost, fields, depth } = sizeOf({ query: render(document, true) });
      expect(sizeOf({ query: render(document) })).toMatchObject({ cost, fields, depth });
    }),
  );
});

test('adding __typename to every selection set does not change the size of any document', () => {
  fc.assert(
    fc.property(randomDocument, (random) => {
      const query = render(random);
      const typename = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } } as const;
      const added = visit(parse(query), {
        SelectionSet: { leave: (set) => ({ ...set, selections: [...set.selections, typename] }) },
      });
      expect(sizeOf({ query: print(added) })).toEqual(sizeOf({ query }));
    }),
  );
});

/** The object types that each type can represent. An account is also a holder and a party, and everything is a node. */
const alternatives: Readonly<Record<string, readonly string[]>> = {
  Node: ['Account', 'Customer', 'Payment'],
  Holder: ['Account', 'Customer'],
  Party: ['Account', 'Payment'],
  Account: ['Account'],
  Customer: ['Customer'],
  Payment: ['Payment'],
};
const ofAlternatives = buildSchema(`
  interface Node { id: ID! near(ids: [ID!]!): [Node!]! }
  interface Holder implements Node { id: ID! near(ids: [ID!]!): [Node!]! }
  union Party = Account | Payment
  type Account implements Node & Holder { id: ID! near(ids: [ID!]!): [Node!]! party: Party }
  type Customer implements Node & Holder { id: ID! near(ids: [ID!]!): [Node!]! party: Party }
  type Payment implements Node { id: ID! near(ids: [ID!]!): [Node!]! party: Party }
  type Query { node: Node account: Account }
`);
const costOf = (query: string) => measureDocument({ schema: ofAlternatives, document: parse(query) }).size.cost;

test('of several named fragments on different types, only the most expensive counts', () => {
  const [a, b] = ['fragment A on Account { a: id }', 'fragment B on Payment { b: id d: id e: id }'];
  expect(costOf(`{ node { ...A ...B ... on Account { c: id } } } ${a} ${b}`)).toBe(1 + 3);
});

type Alternative = { on?: string; near?: number; inner: readonly Alternative[] };

const { alternative } = fc.letrec<{ alternative: Alternative }>((tie) => {
  const inner = fc.array(tie('alternative'), { minLength: 1, maxLength: 3 });
  return {
    alternative: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constant({ inner: [] }),
      fc.record({ on: fc.constantFrom(...Object.keys(alternatives)), inner }),
      fc.record({ near: fc.integer({ min: 1, max: 5 }), inner }),
    ),
  };
});

test('the cost of a selection set is its cost for the most expensive type that a row can have', () => {
  const written = ({ on, near, inner }: Alternative): string => {
    if (on === undefined && near === undefined) return 'id';
    const selections = `{ __typename ${inner.map(written).join(' ')} }`;
    if (on === undefined) return `near(ids: ${JSON.stringify(Array(near).fill('1'))}) ${selections}`;
    // A union has no fields of its own.
    return on === 'Party' ? `... on Party { ... on Node ${selections} }` : `... on ${on} ${selections}`;
  };
  const costFor = (type: string, selections: readonly Alternative[]): number =>
    selections.reduce((sum, { on, near, inner }) => {
      if (near !== undefined) return sum + 1 + near + near * dearest(inner);
      if (on === undefined) return sum + 1;
      return sum + (alternatives[on]?.includes(type) ? costFor(type, inner) : 0);
    }, 0);
  const dearest = (inner: readonly Alternative[]) =>
    Math.max(...['Account', 'Customer', 'Payment'].map((type) => costFor(type, inner)));
  fc.assert(
    fc.property(fc.array(alternative, { minLength: 1, maxLength: 4 }), (inner) => {
      expect(costOf(`{ node { __typename ${inner.map(written).join(' ')} } }`)).toBe(1 + dearest(inner));
    }),
  );
});

function sizeOf({ query, ...request }: Params): DocumentSize {
  return measureDocument({ schema, document: parse(query), ...request }).size;
}

/** A selection on a customer, followed by fragments. Each part spreads only fragments that come later. */
type RandomDocument = readonly (readonly Selection[])[];

/** Prints a selection of the document's part at index `from`. If `isExpanded`, spreads become inline fragments. */
type Selection = (document: RandomDocument, from: number, isExpanded: boolean) => string;

const setOf = (inner: readonly Selection[], ...at: Parameters<Selection>): string =>
  `{ ${inner.map((one) => one(...at)).join(' ')} }`;

/** Selections with subfields. */
const objects = [
  ...['parent %', 'alias: parent %', '... on Customer %'],
  ...[
    'friends { edges { node % } }',
    'friends(first: 1) { edges { node % } }',
    'friends(first: 9) { edges { node % } }',
  ],
];

function spread(of: number): Selection {
  return (document, from, isExpanded) => {
    const later = document.length - from - 1;
    if (later === 0) return 'id';
    const target = from + 1 + (of % later);
    return isExpanded ? `... on Customer ${setOf(document[target] ?? [], document, target, true)}` : `...F${target}`;
  };
}

function object([text, inner]: readonly [string, readonly Selection[]]): Selection {
  return (...at) => text.replace('%', () => setOf(inner, ...at));
}

const { selections } = fc.letrec<{ selections: Selection[]; selection: Selection }>((tie) => ({
  selections: fc.array(tie('selection'), { minLength: 1, maxLength: 3 }),
  selection: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<Selection[]>(
      () => 'id',
      () => 'alias: id',
    ),
    fc.nat().map(spread),
    fc.tuple(fc.constantFrom(...objects), tie('selections')).map(object),
  ),
}));
const randomDocument: fc.Arbitrary<RandomDocument> = fc.array(selections, { minLength: 1, maxLength: 5 });

function render(document: RandomDocument, isExpanded = false): string {
  const parts = document.map((inner, from) => setOf(inner, document, from, isExpanded));
  return parts
    .map((part, from) => (from === 0 ? `{ customer ${part} }` : `fragment F${from} on Customer ${part}`))
    .join(' ');
}
