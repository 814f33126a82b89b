import { GraphQLError, getIntrospectionQuery, specifiedRules, type ValidationRule } from 'graphql';
import { beforeEach, describe, expect, test } from 'vitest';
import { documentBudget, maxTokensParsed } from '../../src/api/graphql/limits/budget.ts';
import { Documents } from '../../src/api/graphql/limits/documents.ts';
import { testGateway } from '../setup/gateway.ts';
import { nextOf } from '../setup/streams.ts';
import { type Params, relayQuery, schema } from './small-schema.ts';

let validations = 0;
beforeEach(() => {
  validations = 0;
});
const countRule: ValidationRule = () => {
  validations += 1;
  return {};
};

/** Returns a function that checks a document as the gateway does before it executes an operation. */
function checking(introspection: boolean) {
  const documents = new Documents({ schema, introspection, rules: [...specifiedRules, countRule] });
  return ({ query, ...more }: Params): readonly GraphQLError[] => {
    try {
      return documents.check({ document: documents.parse(query), ...more }).errors;
    } catch (error) {
      if (error instanceof GraphQLError) return [error];
      throw error;
    }
  };
}

const check = checking(true);
const checkClosed = checking(false);
const codes = (errors: readonly GraphQLError[]) => errors.map(({ extensions }) => extensions.code);
const messages = (errors: readonly GraphQLError[]) => errors.map(({ message }) => message);

const malicious: Record<string, string | Params> = {
  'depth 50 through fields': `{ customer ${nest('{ parent', 50, '{ id }')} }`,
  'depth 50 through fields in inline fragments': `{ customer ${nest('{ ... on Customer { parent', 50, '{ id }', '} }')} }`,
  'depth 50 through inline fragments alone': nest('{ ... on Query', 50, '{ version }'),
  'depth 50 through fields in named fragments': `{ customer { ...F0 } } ${fragments(50, (i) => `fragment F${i} on Customer { parent { ...F${i + 1} } }`, 'Customer')}`,
  'depth 50 through named fragments alone': `{ customer { ...F0 } } ${fragments(50, (i) => `fragment F${i} on Customer { ...F${i + 1} }`, 'Customer')}`,
  'depth hidden in a fragment called __schema': `{ customer { ...__schema } } fragment __schema on Customer ${nest('{ parent', 20, '{ id }')}`,
  'a fragment that first occurs at a harmless depth': `{ customer { ...F ${nest('parent {', 10, '...F')} } } fragment F on Customer ${nest('{ parent', 10, '{ id }')}`,
  'a fragment that doubles forty times': `{ ...F0 } ${fragments(40, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`, 'Query', 'version')}`,
  'a thousand aliases of one field': `{ ${repeat(1000, (i) => `a${i}: version`)} }`,
  'aliases through fragments': `{ customer { a: parent { ...F } b: parent { ...F } c: parent { ...F } } } fragment F on Customer { ${repeat(7, (i) => `f${i}: id`)} }`,
  'a hundred aliased mutations': `mutation { ${repeat(100, (i) => `m${i}: pay`)} }`,
  'mutations through fragments': 'mutation { ...F ...F } fragment F on Mutation { pay refund cancel }',
  'the same field five thousand times': `{ ${repeat(5000, () => 'version')} }`,
  'overlapping fields within the token limit': `{ ${repeat(1900, () => 'version')} }`,
  'overlapping fields in a fragment that nothing uses': `{ version } fragment F on Query { ${repeat(1900, () => 'version')} }`,
  'ten thousand directives on one field': `{ version ${repeat(10_000, () => '@skip(if: false)')} }`,
  'a flood of unknown directives': `{ version ${repeat(900, (i) => `@d${i}`)} }`,
  'directives on operation, variables and fragments': `query ($v: Int ${repeat(7, () => '@a')}) ${repeat(7, () => '@b')} { ...F } fragment F on Query ${repeat(7, () => '@c')} { version }`,
  'directives on a definition that no request may contain': `{ version } extend type Query ${repeat(30, () => '@a')}`,
  'a document of five thousand tokens': `{ echo(values: [${repeat(5000, () => '1')}]) }`,
  'a document of a megabyte': `{ echo(values: [${repeat(60_000, () => '1234567890123456')}]) }`,
  'a `first` with a thousand digits': `{ customers(first: ${'9'.repeat(1000)}) { edges { node { id } } } }`,
  'nested connections, 100 x 100 x 100':
    '{ customers(first: 100) { edges { node { friends(first: 100) { edges { node { accounts(first: 100) { edges { node { id } } } } } } } } } }',
  'a page size in a variable named __proto__': {
    query: 'query ($__proto__: Int) { customers(first: $__proto__) { edges { node { id } } } }',
    variables: JSON.parse('{ "__proto__": 50000 }'),
  },
  'connections of the default size':
    '{ customers { edges { node { friends { edges { node { accounts { edges { node { id again: id } } } } } } } } } }',
  'a connection behind an interface':
    '{ node(id: "1") { ... on Customer { friends(first: 20000) { edges { node { id } } } } } }',
  'a list of ids': {
    query: `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Customer { friends(first: 100) { edges { node { id } } } } } }`,
    variables: { ids: Array.from({ length: 100 }, (_, id) => `${id}`) },
  },
  'a fragment with only __typename that doubles forty times': `{ ...F0 } ${fragments(40, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`, 'Query', '__typename')}`,
  'a repeated __typename': `{ ${repeat(600, () => '__typename')} }`,
  'fields below __typename': `{ __typename { ${repeat(1900, () => 'version')} } }`,
  'more tokens than are parsed': `{ echo(values: [${repeat(maxTokensParsed, () => '1')}]) }`,
  'a flood in an operation that is not run': {
    query: `query Run { version } query Wait { ${repeat(30, (i) => `a${i}: version`)} }`,
    operationName: 'Run',
  },
  'a circular introspection in disguise': `{ s: __type(name: "Query") { fields { type ${nest('{ ofType { fields { type', 10, '{ name }', '} } }')} } } }`,
  'an introspection of very deep types': getIntrospectionQuery({ typeDepth: 60 }),
  'the fields of the types of all fields, fifteen times': `{ ${repeat(15, (i) => `s${i}: __schema { types { name description possibleTypes { name description } fields { name description type { name description fields { name description args { name description defaultValue } } } } } }`)} }`,
};

describe('the gateway', () => {
  test.each(Object.entries(malicious))('refuses %s before any rule runs', (_name, sent) => {
    const errors = check(typeof sent === 'string' ? { query: sent } : sent);
    expect(new Set(codes(errors))).toEqual(new Set(['COST_LIMIT_EXCEEDED']));
    for (const message of messages(errors)) expect(message).toMatch(/^The document exceeds the \w+ limit of \d+/);
    expect(validations).toBe(0);
  });

  test.each([
    ['a fragment cycle', '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A version }'],
    ['a fragment that spreads itself', '{ customer { ...F } } fragment F on Customer { parent { ...F } }'],
    ['an unknown fragment', '{ ...Nowhere }'],
    ['two fragments with one name', '{ ...F } fragment F on Query { version } fragment F on Query { version }'],
    ['@defer', '{ ... @defer { version } }'],
    ['a fragment on an unknown type', '{ ... on constructor { __proto__ { toString } } }'],
  ])('leaves it to validation to refuse %s', (_name, query) => {
    expect(codes(check({ query }))).toContain('GRAPHQL_VALIDATION_FAILED');
  });

  test.each([
    ['the ordinary deep Relay query', relayQuery],
    ['a subscription', 'subscription { ticks }'],
    ['the introspection query', getIntrospectionQuery()],
    ['__typename', '{ __typename customer { __typename } }'],
  ])('allows %s', (_name, query) => {
    expect(check({ query })).toEqual([]);
  });

  const atTheLimit: Record<keyof typeof documentBudget, (size: number) => string> = {
    tokens: (size) => `{ echo(values: [${repeat(size - 9, () => '1')}]) }`,
    depth: (size) => `{ customer ${nest('{ parent', size - 2, '{ id }')} }`,
    fields: (size) => `{ ${repeat(size, () => 'version')} }`,
    aliases: (size) => `{ ${repeat(size, (i) => `a${i}: version`)} }`,
    directives: (size) => `{ ${repeat(size, () => 'version @skip(if: false)')} }`,
    mutationFields: (size) => `mutation { __typename ${repeat(size, () => 'pay')} }`,
    cost: (size) =>
      `{ ${repeat((size - 1) % 3, () => 'version')} customers(first: ${Math.floor((size - 1) / 3)}) { edges { node { id } } } }`,
  };

  test.each(Object.entries(documentBudget))('allows the full %s budget of %i, and nothing above it', (limit, size) => {
    const documentOf = atTheLimit[limit as keyof typeof documentBudget];
    expect(check({ query: documentOf(size) })).toEqual([]);
    const errors = check({ query: documentOf(size + 1) });
    expect(messages(errors)).toEqual([
      limit === 'cost'
        ? `The document exceeds the cost limit of ${size}: it costs ${size + 1}, ${size - (size % 3) + 1} of that for customers.`
        : `The document exceeds the ${limit} limit of ${size}: it has ${size + 1}.`,
    ]);
    expect(errors[0]?.extensions).toMatchObject({ budget: limit, limit: size, actual: size + 1 });
  });

  test('gives the path and the cost of the most expensive list', () => {
    const inner = (size: number) => `friends(first: ${size}) { edges { node { id name } } }`;
    const query = `query ($n: Int) { version few: customers(first: 5) { edges { node { ${inner(5)} } } }
      all: customers(first: 100) { edges { node { id ...F accounts(first: 2) { edges { node { id } } } } } } }
      fragment F on Customer { parent { close: ${inner(7).replace('7', '$n')} } }`;
    const close = 100 * (1 + 90 * 4);
    const costliest = { path: ['all', 'edges', 'node', 'parent', 'close'], cost: close };
    const cost = 1 + (1 + 5 * (2 + 1 + 5 * 4)) + (1 + 100 * (2 + 1 + 1 + (1 + 2 * 3))) + close;
    expect(check({ query, variables: { n: 90 } })).toMatchObject([
      {
        message: `The document exceeds the cost limit of 27500: it costs ${cost}, ${close} of that for all.edges.node.parent.close.`,
        extensions: { code: 'COST_LIMIT_EXCEEDED', budget: 'cost', limit: 27_500, actual: cost, costliest },
      },
    ]);
  });

  test('names the outer list, rather than one of the many lists below it, if its own rows cost the most', () => {
    const query = `{ customers(first: 1000) { edges { node { ${repeat(10, (i) => `a${i}: friends(first: 1) { edges { node { id } } }`)} } } } }`;
    expect(messages(check({ query }))).toEqual([
      'The document exceeds the cost limit of 27500: it costs 42001, 42001 of that for customers.',
    ]);
  });

  test('names every limit that a document exceeds', () => {
    const query = `mutation { ${repeat(21, (i) => `a${i}: pay @skip(if: false)`)} }`;
    expect(messages(check({ query }))).toEqual([
      'The document exceeds the aliases limit of 20: it has 21.',
      'The document exceeds the directives limit of 20: it has 21.',
      'The document exceeds the mutationFields limit of 5: it has 21.',
    ]);
  });

  test('checks a cached document again when its variables change, and does not cache refusals', () => {
    const query = 'query ($n: Int) { customers(first: $n) { edges { node { id name } } } }';
    const refused = (cost: number) => [
      `The document exceeds the cost limit of 27500: it costs ${cost}, ${cost} of that for customers.`,
    ];
    expect([20_000, 10, 20_000, 30_000, 10].map((n) => messages(check({ query, variables: { n } })))).toEqual([
      ...[refused(80_001), [], refused(80_001)],
      ...[refused(120_001), []],
    ]);
  });

  test('validates a document whose first request was refused before validation', () => {
    const query = 'query ($n: Int) { customers(first: $n) { nonsense } }';
    expect(codes(check({ query, variables: { n: 90_000 } }))).toEqual(['COST_LIMIT_EXCEEDED']);
    expect(codes(check({ query, variables: { n: 1 } }))).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  });

  test('stops validation after ten errors', () => {
    const errors = check({ query: `{ ${repeat(100, (i) => `unknown${i}`)} }` });
    expect(errors).toHaveLength(11);
    expect(errors.at(-1)?.message).toContain('Validation aborted');
  });
});

describe('the standard introspection query', () => {
  const flags = [
    ...(['descriptions', 'specifiedByUrl', 'directiveIsRepeatable', 'schemaDescription', 'oneOf'] as const),
    ...(['inputValueDeprecation', 'experimentalDirectiveDeprecation'] as const),
  ];

  test('is within the budget for any combination of options at the default type depth', () => {
    for (let bits = 0; bits < 2 ** flags.length; bits++) {
      const options = Object.fromEntries(flags.map((flag, bit) => [flag, (bits & (1 << bit)) !== 0]));
      expect(check({ query: getIntrospectionQuery(options) })).toEqual([]);
    }
  });
});

const closed = await testGateway({ PUBLIC_CONTRACT: false });

describe('with introspection off', () => {
  test.each<[string, Params]>([
    ['the introspection query', { query: getIntrospectionQuery() }],
    ['__schema', { query: '{ __schema { queryType { name } } }' }],
    ['__type', { query: '{ t: __type(name: "Query") { name } }' }],
    ['__schema in a fragment', { query: '{ ...F } fragment F on Query { ... { __schema { queryType { name } } } }' }],
    [
      '__type in an operation that is not run',
      { query: 'query A { version } query B { __type(name: "Query") { name } }', operationName: 'A' },
    ],
  ])('refuses %s', (_name, params) => {
    expect(codes(checkClosed(params))).toEqual(['INTROSPECTION_DISABLED']);
    expect(validations).toBe(0);
  });

  test('accepts __typename, and a fragment that is merely named __schema', () => {
    const query = '{ __typename ...__schema } fragment __schema on Query { version }';
    expect(checkClosed({ query })).toEqual([]);
  });

  const selection = '{ totalCount }';
  const variables = { order: 'ASK', filter: { umaAddres: 'x' }, of: { types: ['TES'] } };
  test.each([
    ['a field', '{ viewr { kind } }'],
    ['an argument', `{ customers(frst: 1) ${selection} }`],
    ['a type', '{ node(id: "1") { ... on Custome { id } } }'],
    ['an enum value', `{ customers(sortOrder: ASK) ${selection} }`],
    ['an enum value in a variable', `query ($order: SortOrder) { customers(sortOrder: $order) ${selection} }`],
    ['an input field in a variable', `query ($filter: CustomerFilter) { customers(filter: $filter) ${selection} }`],
    ['an enum value of a subscription', 'subscription ($of: EventFilter) { events(filter: $of) { id } }'],
  ])('does not suggest the correct name for %s with a typo', async (_name, query) => {
    const { errors } = query.startsWith('subscription')
      ? await nextOf(closed.platform.watch(query, variables))
      : await closed.platform.send(query, variables);
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.message).not.toContain('Did you mean');
  });
});

test('errors contain suggestions when introspection is on', () => {
  expect(messages(check({ query: '{ versio }' }))).toEqual([
    'Cannot query field "versio" on type "Query". Did you mean "version"?',
  ]);
});

function repeat(times: number, write: (index: number) => string): string {
  return Array.from({ length: times }, (_, index) => write(index)).join(' ');
}

function nest(opening: string, times: number, innermost: string, closing = '}'): string {
  return `${repeat(times, () => opening)} ${innermost} ${repeat(times, () => closing)}`;
}

function fragments(times: number, write: (index: number) => string, type: string, innermost = 'id'): string {
  return `${repeat(times, write)} fragment F${times} on ${type} { ${innermost} }`;
}
