import { type GraphQLError, getIntrospectionQuery, parse } from 'graphql';
import { beforeEach, describe, expect, test } from 'vitest';
import { checkBudget, documentBudget, maxTokensParsed } from '../../src/api/graphql/limits/budget.ts';
import { measureDocument } from '../../src/api/graphql/limits/document-size.ts';
import { asking, type Params, ran, relayQuery, schema } from './budget-operations.ts';

const ask = asking({ introspection: true });
const askClosed = asking({ introspection: false });

beforeEach(() => {
  ran.rules = 0;
  ran.resolvers = 0;
});

const malicious: Record<string, string | Params> = {
  'depth 50 through fields': `{ customer ${nest('{ parent', 50, '{ id }')} }`,
  'depth 50 through fields in inline fragments': `{ customer ${nest('{ ... on Customer { parent', 50, '{ id }', '} }')} }`,
  'depth 50 through inline fragments alone': nest('{ ... on Query', 50, '{ version }'),
  'depth 50 through fields in named fragments': `{ customer { ...F0 } } ${fragments(50, (i) => `fragment F${i} on Customer { parent { ...F${i + 1} } }`, 'Customer')}`,
  'depth 50 through named fragments alone': `{ customer { ...F0 } } ${fragments(50, (i) => `fragment F${i} on Customer { ...F${i + 1} }`, 'Customer')}`,
  'depth hidden in a fragment called __schema': `{ customer { ...__schema } } fragment __schema on Customer ${nest('{ parent', 20, '{ id }')}`,
  'a fragment met at a harmless depth first': `{ customer { ...F ${nest('parent {', 10, '...F')} } } fragment F on Customer ${nest('{ parent', 10, '{ id }')}`,
  'a fragment that doubles forty times': `{ ...F0 } ${fragments(40, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`, 'Query', 'version')}`,
  'a thousand aliases of one field': `{ ${repeat(1000, (i) => `a${i}: version`)} }`,
  'aliases through fragments': `{ customer { a: parent { ...F } b: parent { ...F } c: parent { ...F } } } fragment F on Customer { ${repeat(7, (i) => `f${i}: id`)} }`,
  'a hundred aliased mutations': `mutation { ${repeat(100, (i) => `m${i}: pay`)} }`,
  'mutations through fragments': 'mutation { ...F ...F } fragment F on Mutation { pay refund cancel }',
  'the same field five thousand times': `{ ${repeat(5000, () => 'version')} }`,
  'overlapping fields within the limit of tokens': `{ ${repeat(1900, () => 'version')} }`,
  'overlapping fields in a fragment that nothing uses': `{ version } fragment F on Query { ${repeat(1900, () => 'version')} }`,
  'ten thousand directives on one field': `{ version ${repeat(10_000, () => '@skip(if: false)')} }`,
  'a flood of unknown directives': `{ version ${repeat(900, (i) => `@d${i}`)} }`,
  'directives on operation, variables and fragments': `query ($v: Int ${repeat(7, () => '@a')}) ${repeat(7, () => '@b')} { ...F } fragment F on Query ${repeat(7, () => '@c')} { version }`,
  'directives on what no request may define': `{ version } extend type Query ${repeat(30, () => '@a')}`,
  'a document of five thousand tokens': `{ echo(values: [${repeat(5000, () => '1')}]) }`,
  'a document of a megabyte': `{ echo(values: [${repeat(60_000, () => '1234567890123456')}]) }`,
  'a `first` with a thousand digits': `{ customers(first: ${'9'.repeat(1000)}) { edges { node { id } } } }`,
  'nested connections, 100 x 100 x 100':
    '{ customers(first: 100) { edges { node { friends(first: 100) { edges { node { accounts(first: 100) { edges { node { id } } } } } } } } } }',
  'a page size under a prototype key': {
    query: 'query ($__proto__: Int) { customers(first: $__proto__) { edges { node { id } } } }',
    variables: JSON.parse('{ "__proto__": 50000 }'),
  },
  'connections left to their default size':
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
  'a standard introspection with another field': getIntrospectionQuery({ typeDepth: 60 }).replace(
    '__schema {',
    'customers { edges { node { id } } } __schema {',
  ),
};

describe('the gateway', () => {
  test.each(Object.entries(malicious))('refuses %s before any rule or resolver runs', async (_name, sent) => {
    const { errors, data } = await ask(typeof sent === 'string' ? { query: sent } : sent);
    expect(errors?.length).toBeGreaterThan(0);
    for (const error of errors ?? []) {
      expect(error.extensions?.code).toBe('COST_LIMIT_EXCEEDED');
      expect(error.message).toMatch(/^The document exceeds the \w+ limit of \d+/);
    }
    expect(data).toBeUndefined();
    expect(ran).toEqual({ rules: 0, resolvers: 0 });
  });

  test.each([
    ['a fragment cycle', '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A version }'],
    ['a fragment that spreads itself', '{ customer { ...F } } fragment F on Customer { parent { ...F } }'],
    ['an unknown fragment', '{ ...Nowhere }'],
    ['two fragments with one name', '{ ...F } fragment F on Query { version } fragment F on Query { version }'],
    ['@defer', '{ ... @defer { version } }'],
    ['a fragment on an unknown type', '{ ... on constructor { __proto__ { toString } } }'],
  ])('leaves refusing %s to validation', async (_name, query) => {
    const { errors } = await ask({ query });
    expect(errors?.[0]?.extensions?.code).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(ran.resolvers).toBe(0);
  });

  test.each([
    ['the ordinary deep Relay query', relayQuery],
    ['a subscription', 'subscription { ticks }'],
    ['the introspection query', getIntrospectionQuery()],
    ['__typename', '{ __typename customer { __typename } }'],
  ])('answers %s', async (_name, query) => {
    const { errors, data } = await ask({ query });
    expect(errors).toBeUndefined();
    expect(data).toBeTruthy();
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

  test.each(Object.entries(documentBudget))(
    'allows the full %s budget of %i, and nothing above it',
    async (limit, size) => {
      const documentOf = atTheLimit[limit as keyof typeof documentBudget];
      expect((await ask({ query: documentOf(size) })).errors).toBeUndefined();
      const { errors } = await ask({ query: documentOf(size + 1) });
      expect(errors?.map(({ message }) => message)).toEqual([
        limit === 'cost'
          ? `The document exceeds the cost limit of ${size}: it costs ${size + 1}, ${size - (size % 3) + 1} of that for customers.`
          : `The document exceeds the ${limit} limit of ${size}: it has ${size + 1}.`,
      ]);
      expect(errors?.map(({ extensions }) => extensions)).toMatchObject([
        { budget: limit, limit: size, actual: size + 1 },
      ]);
    },
  );

  test('names the most expensive list, by its path and with its cost', async () => {
    const inner = (size: number) => `friends(first: ${size}) { edges { node { id name } } }`;
    const query = `query ($n: Int) { version few: customers(first: 5) { edges { node { ${inner(5)} } } }
      all: customers(first: 100) { edges { node { id ...F accounts(first: 2) { edges { node { id } } } } } } }
      fragment F on Customer { parent { close: ${inner(7).replace('7', '$n')} } }`;
    const { errors } = await ask({ query, variables: { n: 90 } });
    const close = 100 * (1 + 90 * 4);
    const costliest = { path: ['all', 'edges', 'node', 'parent', 'close'], cost: close };
    const cost = 1 + (1 + 5 * (2 + 1 + 5 * 4)) + (1 + 100 * (2 + 1 + 1 + (1 + 2 * 3))) + close;
    expect(errors).toEqual([
      {
        message: `The document exceeds the cost limit of 27500: it costs ${cost}, ${close} of that for all.edges.node.parent.close.`,
        extensions: expect.objectContaining({
          code: 'COST_LIMIT_EXCEEDED',
          budget: 'cost',
          limit: 27_500,
          actual: cost,
          costliest,
        }),
      },
    ]);
  });

  test('names the outer list if its rows cost the most, and not one of the many lists below it', async () => {
    const query = `{ customers(first: 1000) { edges { node { ${repeat(10, (i) => `a${i}: friends(first: 1) { edges { node { id } } }`)} } } } }`;
    const { errors } = await ask({ query });
    expect(errors?.[0]?.message).toBe(
      'The document exceeds the cost limit of 27500: it costs 42001, 42001 of that for customers.',
    );
  });

  test('names every limit that a document exceeds', async () => {
    const { errors } = await ask({ query: `mutation { ${repeat(21, (i) => `a${i}: pay @skip(if: false)`)} }` });
    expect(errors?.map(({ message }) => message)).toEqual([
      'The document exceeds the aliases limit of 20: it has 21.',
      'The document exceeds the directives limit of 20: it has 21.',
      'The document exceeds the mutationFields limit of 5: it has 21.',
    ]);
  });

  test('checks a cached document again when its variables change, and does not cache refusals', async () => {
    const query = `query ($n: Int) { customers(first: $n) { edges { node { id name } } } } # ${crypto.randomUUID()}`;
    const outcomes = [];
    for (const n of [20_000, 10, 20_000, 30_000, 10]) {
      const { errors, data } = await ask({ query, variables: { n } });
      outcomes.push(errors?.[0]?.message ?? Object.keys(data ?? {}));
    }
    expect(outcomes).toEqual([
      'The document exceeds the cost limit of 27500: it costs 80001, 80001 of that for customers.',
      ['customers'],
      'The document exceeds the cost limit of 27500: it costs 80001, 80001 of that for customers.',
      'The document exceeds the cost limit of 27500: it costs 120001, 120001 of that for customers.',
      ['customers'],
    ]);
  });

  test('validates a document whose first request was refused before validation', async () => {
    const query = `query ($n: Int) { customers(first: $n) { nonsense } } # ${crypto.randomUUID()}`;
    expect(await codes({ query, variables: { n: 90_000 } })).toEqual(['COST_LIMIT_EXCEEDED']);
    expect(await codes({ query, variables: { n: 1 } })).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(ran.resolvers).toBe(0);
  });

  test('stops validation after ten errors', async () => {
    const { errors } = await ask({ query: `{ ${repeat(100, (i) => `unknown${i}`)} }` });
    expect(errors).toHaveLength(11);
    expect(errors?.at(-1)?.message).toContain('Validation aborted');
  });
});

describe('the standard introspection query', () => {
  const flags = [
    ...(['descriptions', 'specifiedByUrl', 'directiveIsRepeatable', 'schemaDescription', 'oneOf'] as const),
    ...(['inputValueDeprecation', 'experimentalDirectiveDeprecation'] as const),
  ];

  test('is exempt under any combination of its options', () => {
    for (let bits = 0; bits < 2 ** flags.length; bits++) {
      const options = Object.fromEntries(flags.map((flag, bit) => [flag, (bits & (1 << bit)) !== 0]));
      for (const typeDepth of [0, 9, 30, 100]) {
        expect(refusals(getIntrospectionQuery({ ...options, typeDepth }))).toEqual([]);
      }
    }
  });

  test('is exempt whatever its name, aliases and white space are', () => {
    const query = getIntrospectionQuery({ typeDepth: 40 })
      .replace('query IntrospectionQuery', 'query Mine # hello\n')
      .replace('__schema', 's: __schema');
    expect(refusals(query)).toEqual([]);
  });

  test.each([
    ['an added field', (query: string) => query.replace('kind', 'kind possibleTypes { name }')],
    ['an added operation', (query: string) => `${query} query Other { version }`],
    ['an added directive', (query: string) => query.replace('queryType', 'queryType @skip(if: false)')],
    [
      'a deeper type than it can have',
      (query: string) =>
        query.replace(/ofType \{\s+name\s+kind\s+\}/, `ofType ${nest('{ ofType', 100, '{ name kind }')}`),
    ],
  ])('is not exempt with %s', (_name, change) => {
    const query = getIntrospectionQuery({ typeDepth: 40 });
    expect(change(query)).not.toBe(query);
    expect(refusals(change(query))).not.toEqual([]);
  });
});

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
  ])('refuses %s', async (_name, params) => {
    expect(await codes(params, askClosed)).toEqual(['INTROSPECTION_DISABLED']);
    expect(ran).toEqual({ rules: 0, resolvers: 0 });
  });

  test('accepts __typename, and a fragment that is merely named __schema', async () => {
    const { errors, data } = await askClosed({
      query: '{ __typename ...__schema } fragment __schema on Query { version }',
    });
    expect(errors).toBeUndefined();
    expect(data).toEqual({ __typename: 'Query', version: 'x' });
  });

  const page = '{ pageInfo { hasNextPage } }';
  const variables = { s: 'ACTIV', f: { nam: 'x' } };
  test.each([
    ['a field', '{ versio }'],
    ['an argument', `{ customers(frst: 1) ${page} }`],
    ['a type', '{ node(id: "1") { ... on Custome { id } } }'],
    ['an enum value', `{ customers(status: ACTIV) ${page} }`],
    ['an enum value in a variable', `query ($s: Status) { customers(status: $s) ${page} }`],
    ['an input field in a variable', `query ($f: CustomerFilter) { customers(filter: $f) ${page} }`],
    ['an enum value of a subscription', 'subscription ($s: Status) { ticks(status: $s) }'],
  ])('does not suggest a name for %s with a near miss', async (_name, query) => {
    const { errors } = await askClosed({ query, variables });
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.message).not.toContain('Did you mean');
  });
});

test('errors contain suggestions when introspection is on', async () => {
  const { errors } = await ask({ query: '{ versio }' });
  expect(errors?.[0]?.message).toBe('Cannot query field "versio" on type "Query". Did you mean "version"?');
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

function refusals(query: string): GraphQLError[] {
  const document = parse(query);
  return checkBudget(document, measureDocument({ schema, document }), true);
}

async function codes(params: Params, asked = ask): Promise<unknown[] | undefined> {
  const { errors } = await asked(params);
  return errors?.map(({ extensions }) => extensions?.code);
}
