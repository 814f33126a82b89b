import fc from 'fast-check';
import { buildSchema, Kind, parse, print, visit } from 'graphql';
import { expect, test } from 'vitest';
import { type DocumentSize, measureDocument } from '../../src/api/graphql/limits/document-size.ts';
import { type Params, relayQuery, schema } from './budget-operations.ts';

test.each<[string, Params, Partial<DocumentSize>]>([
  ['a field', { query: '{ version }' }, { cost: 1, depth: 1, fields: 1 }],
  ['the ordinary deep Relay query', { query: relayQuery }, { cost: 341, depth: 7, fields: 11 }],
  [
    'a connection of the default size',
    { query: '{ customers { edges { node { id } } pageInfo { hasNextPage } } }' },
    { cost: 63 },
  ],
  ['first', { query: '{ customers(first: 3) { edges { node { id } } } }' }, { cost: 10 }],
  ['last', { query: '{ customers(last: 4) { edges { node { id } } } }' }, { cost: 13 }],
  ['first: null', { query: '{ customers(first: null) { edges { node { id } } } }' }, { cost: 61 }],
  ['first: 0 or less, as 1', { query: '{ customers(first: 0, last: -7) { edges { node { id } } } }' }, { cost: 4 }],
  ['first: "many"', { query: '{ customers(first: "many") { edges { node { id } } } }' }, { cost: 61 }],
  [
    'an infinite `first`',
    { query: 'query ($n: Int) { customers(first: $n) { edges { node { id } } } }', variables: { n: Infinity } },
    { cost: 3_000_001 },
  ],
  ['an absurd `first`', { query: '{ customers(first: 1e99) { edges { node { id } } } }' }, { cost: 3_000_001 }],
  ['another list, once', { query: '{ currencies { code decimals } }' }, { cost: 3 }],
  [
    'an unknown field with children',
    { query: '{ nonsense(first: 50) { a { b } } }' },
    { cost: 3, depth: 3, fields: 3 },
  ],
  [
    'a variable',
    { query: 'query ($n: Int = 9) { customers(first: $n) { edges { node { id } } } }', variables: { n: 2 } },
    { cost: 7 },
  ],
  ['its default', { query: 'query ($n: Int = 9) { customers(first: $n) { edges { node { id } } } }' }, { cost: 28 }],
  [
    'null in place of its default',
    { query: 'query ($n: Int = 9) { customers(first: $n) { edges { node { id } } } }', variables: { n: null } },
    { cost: 61 },
  ],
  [
    'the default of a variable with a name from Object.prototype',
    {
      query: 'query ($constructor: Int = 3) { customers(first: $constructor) { edges { node { id } } } }',
      variables: {},
    },
    { cost: 10 },
  ],
  [
    'the default of the operation that is run',
    {
      query: `query A($n: Int = 2) { ...F } query B($n: Int = 5) { ...F }
        fragment F on Query { customers(first: $n) { edges { node { id } } } }`,
      operationName: 'B',
    },
    { cost: 16 },
  ],
  [
    'the largest of several operations',
    { query: '{ version } query B { version version } query C { currencies { code } a: version }' },
    { cost: 3, fields: 3, depth: 2, aliases: 1 },
  ],
  [
    'one fragment at two depths',
    {
      query:
        '{ customer { ...F friends(first: 10) { edges { node { ...F } } } } } fragment F on Customer { id accounts(first: 2) { edges { node { id } } } }',
    },
    { cost: 1 + 8 + 1 + 10 * (2 + 8), depth: 8, fields: 14 },
  ],
  [
    'mutations, without __typename',
    { query: 'mutation { __typename pay ...F } fragment F on Mutation { refund ... { cancel } }' },
    { mutationFields: 3, fields: 3 },
  ],
  [
    'no __typename beside other selections, at any depth',
    {
      query:
        '{ __typename version customer { __typename ...F } } fragment F on Customer { __typename ... { __typename id } }',
    },
    { cost: 3, fields: 3, depth: 2, tokens: 18 },
  ],
  [
    '__typename alone as a field that costs nothing',
    { query: '{ customer { __typename } }' },
    { cost: 1, fields: 2, depth: 2 },
  ],
  [
    '__typename that occurs twice, or has an alias',
    { query: '{ __typename __typename a: __typename version }' },
    { cost: 3, fields: 3, aliases: 1, tokens: 7 },
  ],
  ['each id of a list', { query: '{ nodes(ids: ["1", "2", "3"]) { id ... on Customer { name } } }' }, { cost: 10 }],
  ['repeated ids each time, since each is answered', { query: '{ nodes(ids: ["1", "1"]) { id } }' }, { cost: 5 }],
  ['an empty list as one id', { query: '{ nodes(ids: []) { id } }' }, { cost: 2 }],
  ['one id that is not a list', { query: '{ nodes(ids: "1") { id } }' }, { cost: 2 }],
  [
    'ids in a variable',
    { query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', variables: { ids: ['1', '2', '3', '4'] } },
    { cost: 9 },
  ],
  ['ids in its default', { query: 'query ($ids: [ID!]! = ["1", "2"]) { nodes(ids: $ids) { id } }' }, { cost: 5 }],
  [
    'ids in variables in a list',
    { query: 'query ($a: ID!, $b: ID!) { nodes(ids: [$a, $b]) { id } }', variables: { a: '1', b: '2' } },
    { cost: 5 },
  ],
  [
    'a connection below each id',
    { query: '{ nodes(ids: ["1", "2"]) { ... on Customer { friends(first: 5) { edges { node { id } } } } } }' },
    { cost: 1 + 2 + 2 * (1 + 5 * 3) },
  ],
  [
    'each value of a list in an argument, even if the answer has no list',
    { query: '{ echo(values: [1, 2, 3]) }' },
    { cost: 4 },
  ],
  ['no mutations in a query', { query: '{ version version }' }, { mutationFields: 0 }],
  [
    'directives in every place',
    {
      query: 'query ($v: Int @a) @b { ...F @c ... @d { version @e } } fragment F on Query @f { version }',
    },
    { directives: 6 },
  ],
])('counts %s', (_name, params, expected) => {
  expect(sizeOf(params)).toMatchObject(expected);
});

test('the cached size of a document does not grow with the operation names requested', () => {
  const document = parse('query A { version } query B { version }');
  const measure = measureDocument({ schema, document, operationName: 'A' });
  for (const operationName of ['B', 'none of them', 'nor this', '', undefined, null]) {
    expect(measureDocument({ schema, document, operationName })).toBe(measureDocument({ schema, document }));
    expect(measureDocument({ schema, document, operationName })).toMatchObject(measure);
  }
});

test('a fragment that doubles forty times is counted without expanding it', () => {
  const doubling = Array.from({ length: 40 }, (_, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`);
  const size = sizeOf({ query: `{ ...F0 } ${doubling.join(' ')} fragment F40 on Query { version }` });
  expect(size).toMatchObject({ fields: 2 ** 40, cost: 2 ** 40 });
});

test('the size is that of the expanded document, for any document', () => {
  fc.assert(
    fc.property(randomDocument, (document) => {
      const { cost, fields, depth } = sizeOf({ query: render(document, true) });
      expect(sizeOf({ query: render(document) })).toMatchObject({ cost, fields, depth });
    }),
  );
});

test('the size is the same with __typename in every selection set, for any document', () => {
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

/** The object types that each type can be. An account is also a holder and a party; everything is a node. */
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

test.each([
  ['of an interface', '{ node { id ... on Account { a: id b: id } ... on Customer { c: id } } }', 1 + 1 + 2],
  ['of a union', '{ account { party { ... on Account { a: id } ... on Payment { b: id c: id } } } }', 1 + 1 + 2],
  [
    'together with those on an interface of it',
    '{ node { ... on Holder { a: id } ... on Customer { b: id } ... on Payment { c: id } } }',
    1 + 2,
  ],
  [
    'of several fragments, named ones too',
    '{ node { ...A ...B ... on Account { c: id } } } fragment A on Account { a: id } fragment B on Payment { b: id d: id e: id }',
    1 + 3,
  ],
  [
    'below one another, each for its own list',
    `{ node { ... on Account { near(ids: ["1", "2"]) { id ... on Payment { a: id b: id } ... on Account { c: id } } }
      ... on Customer { id } } }`,
    1 + (1 + 2 + 2 * 3),
  ],
  ['none of them if no row can have the type', '{ account { id ... on Customer { a: id b: id } } }', 1 + 1],
])('the most expensive of fragments on different types counts: %s', (_name, query, cost) => {
  expect(costOf(query)).toBe(cost);
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

test('a selection set costs as much as the most expensive type that a row can have', () => {
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

/**
 * A document in the shape that the generator produces: the first selection is that of one customer, the others are
 * fragments, each of which spreads only later ones.
 */
type RandomDocument = Selection[][];

type Selection =
  | { kind: 'id'; alias: boolean }
  | { kind: 'parent'; alias: boolean; inner: Selection[] }
  | { kind: 'friends'; first: number | undefined; inner: Selection[] }
  | { kind: 'inline'; inner: Selection[] }
  | { kind: 'spread'; of: number };

const { selections } = fc.letrec<{ selections: Selection[]; selection: Selection }>((tie) => ({
  selections: fc.array(tie('selection'), { minLength: 1, maxLength: 3 }),
  selection: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.record({ kind: fc.constant('id' as const), alias: fc.boolean() }),
    fc.record({ kind: fc.constant('spread' as const), of: fc.nat() }),
    fc.record({ kind: fc.constant('parent' as const), alias: fc.boolean(), inner: tie('selections') }),
    fc.record({
      kind: fc.constant('friends' as const),
      first: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
      inner: tie('selections'),
    }),
    fc.record({ kind: fc.constant('inline' as const), inner: tie('selections') }),
  ),
}));
const randomDocument: fc.Arbitrary<RandomDocument> = fc.array(selections, { minLength: 1, maxLength: 5 });

/** Returns the index of the selection that `from` spreads, a later one; undefined if `from` is the last. */
function spreadTarget(document: RandomDocument, from: number, of: number): number | undefined {
  const later = document.length - from - 1;
  return later === 0 ? undefined : from + 1 + (of % later);
}

/** Writes a document; `isExpanded`: with inline fragments in place of all spreads. */
function render(document: RandomDocument, isExpanded = false): string {
  const all = (from: number, inner: Selection[]): string =>
    `{ ${inner.map((selection) => one(from, selection)).join(' ')} }`;
  const one = (from: number, selection: Selection): string => {
    switch (selection.kind) {
      case 'id':
        return selection.alias ? 'alias: id' : 'id';
      case 'parent':
        return `${selection.alias ? 'alias: ' : ''}parent ${all(from, selection.inner)}`;
      case 'friends': {
        const size = selection.first === undefined ? '' : `(first: ${selection.first})`;
        return `friends${size} { edges { node ${all(from, selection.inner)} } }`;
      }
      case 'inline':
        return `... on Customer ${all(from, selection.inner)}`;
      case 'spread': {
        const target = spreadTarget(document, from, selection.of);
        if (target === undefined) return 'id';
        return isExpanded ? `... on Customer ${all(target, document[target] ?? [])}` : `...F${target}`;
      }
    }
  };
  return document
    .map((inner, at) => (at === 0 ? `{ customer ${all(at, inner)} }` : `fragment F${at} on Customer ${all(at, inner)}`))
    .join(' ');
}
