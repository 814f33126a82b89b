import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { refusal } from '../setup/acts.ts';
import { mutationDocument } from '../setup/documents.ts';
import { type Answer, testGateway } from '../setup/gateway.ts';
import { nextOf, openEventStream } from '../setup/streams.ts';

const t = await testGateway();
const scene = await t.platform.makeScene(0n);

const lists = ['quotes', 'transactions', 'customers', 'accounts'];
const page = '{ edges { node { id } } pageInfo { hasNextPage } }';

const uuid = '00000000-0000-7000-8000-000000000000';

/** Expects a GraphQL error with the code INVALID_INPUT, the given argument as its field, and the given path. */
function expectInvalid({ data, errors }: Answer, field: string, path: (string | number)[]): void {
  expect(errors).toEqual([
    {
      message: expect.stringMatching(/\w+ \w+/),
      path,
      locations: expect.anything(),
      extensions: { code: 'INVALID_INPUT', field },
    },
  ]);
  const [root = ''] = path;
  expect(data?.[root] ?? null).toBeNull();
}

describe.each(lists)('the list %s', (list) => {
  test.each([
    ['first: -1', 'first'],
    ['first: 101', 'first'],
    ['last: -5', 'last'],
    ['last: 101', 'last'],
    ['first: 0, last: 0', 'last'],
    ['first: 2, last: 2', 'last'],
    ['after: "nonsense"', 'after'],
  ])("refuses %s, on the query and on a customer's field", async (args, field) => {
    const read = `${list}(${args}) ${page}`;
    expectInvalid(await t.platform.send(`{ ${read} }`), field, [list]);
    if (list === 'customers') return;
    const query = `query ($id: ID!) { customer(id: $id) { ${read} } }`;
    const answer = await t.platform.send(query, { id: scene.customerId });
    expect(answer.data).toEqual({ customer: null });
    expectInvalid({ ...answer, data: null }, field, ['customer', list]);
  });
});

test.each([page, '{ __typename }'])(
  'ledger entries for a period that ends before it begins are refused, whatever is selected: %s',
  async (read) => {
    const query = `query ($id: ID!) { account(id: $id) { ... on InternalAccount {
    ledgerEntries(from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z") ${read} } } }`;
    const answer = await t.platform.send(query, { id: scene.usd });
    expectInvalid(answer, 'to', ['account', 'ledgerEntries']);
  },
);

test.each([
  ['quotes', 'customerId'],
  ['quotes', 'sendingAccountId'],
  ['quotes', 'receivingAccountId'],
  ['quotes', 'sendingUmaAddress'],
  ['quotes', 'receivingUmaAddress'],
  ['transactions', 'customerId'],
  ['transactions', 'platformCustomerId'],
  ['transactions', 'senderAccountIdentifier'],
  ['transactions', 'receiverAccountIdentifier'],
  ['transactions', 'reference'],
  ['customers', 'platformCustomerId'],
  ['customers', 'umaAddress'],
  ['accounts', 'customerId'],
  ['accounts', 'currency'],
])('filtering %s by an impossible %s finds nothing and is not an error', async (list, field) => {
  for (const value of ['\0', '$\0', '\ud800', '', 'Customer:', `Customer:${uuid}`, `InternalAccount:${uuid}`]) {
    const isId = field.endsWith('Id') && field !== 'platformCustomerId';
    const type = field === 'currency' ? 'CurrencyCode' : isId ? 'ID' : 'String';
    const query = `query ($value: ${type}) { ${list}(filter: { ${field}: $value }) { totalCount edges { node { id } } } }`;
    expect(await t.platform.ask(query, { value })).toEqual({ [list]: { totalCount: 0, edges: [] } });
  }
});

describe('an amount', () => {
  const transfer = (amount: string) =>
    `transferOut(input: { sourceAccountId: "${scene.usd}", destinationAccountId: "${scene.outsideUsd}", amount: { units: ${amount} }, idempotencyKey: "${randomUUID()}" })
      { __typename ... on UserError { code path } }`;

  test.each([
    ...['1.5', '"1.5"', '"1e3"', '"01"', '"-0"', '""', '" 1"', '"abc"', 'true', '[1]'],
    ...['"9223372036854775808"', '"123456789012345678901234567890"'],
  ])('of %s is refused with a mutation error, both in a variable and in the document', async (amount) => {
    const query = `mutation ($amount: BigInt!) { ${transfer('$amount')} }`;
    const asVariable = await t.platform.send(query, { amount: JSON.parse(amount) });
    const inDocument = await t.platform.send(`mutation { ${transfer(amount)} }`);
    const code = amount.length > 20 ? 'AMOUNT_OUT_OF_RANGE' : 'INVALID_AMOUNT';
    const refused = { __typename: 'InvalidInputError', code, path: ['input', 'amount', 'units'] };
    expect(asVariable).toEqual({ status: 200, data: { transferOut: refused } });
    expect(inDocument).toEqual({ status: 200, data: { transferOut: refused } });
  });
});

test.each(['', '-', 'xx-nonsense-locale', 'tlh', 'en_US', 'x'.repeat(500), '\0', 'de-DE\n'])(
  'the locale %j is refused',
  async (locale) => {
    const answer = await t.platform.send(
      'query ($id: ID!, $locale: String!) { account(id: $id) { ... on InternalAccount { balance { formatted(locale: $locale) } } } }',
      { id: scene.usd, locale },
    );
    expect(answer.data).toEqual({ account: null });
    expectInvalid({ ...answer, data: null }, 'locale', ['account', 'balance', 'formatted']);
  },
);

test.each(['0000-01-01', '2026-02-30', '2026-13-01', '26-01-01', '10000-01-01', '2026-01-01T00:00:00Z'])(
  'the day %s is refused as a birth date',
  async (birthDate) => {
    const input = { platformCustomerId: 'born-then', details: { individual: { fullName: 'Grace', birthDate } } };
    const { createCustomer } = await t.platform.ask(mutationDocument('createCustomer'), { input });
    const refused = refusal('INVALID_INPUT', 'details', 'individual', 'birthDate');
    expect(createCustomer).toMatchObject({ __typename: 'InvalidInputError', ...refused });
  },
);

test.each([
  ...['yesterday', '2026-01-01', '2026-01-01T00:00:00', '0000-06-01T00:00:00Z', '0001-01-01T00:00:00+01:00'],
  ...['9999-12-31T23:59:59-01:00', '2025-01-01T24:00:00Z', '2025-01-01T24:00Z', '2025-01-01T23:60:00Z'],
  ...['2025-01-01T23:59:60Z', '2025-01-01T00:00:00+24:00', '2025-01-01T00:00:00-00:60'],
])('the moment %s is refused', async (moment) => {
  for (const field of ['createdAfter', 'updatedBefore']) {
    const query = `query ($moment: DateTime) { customers(filter: { ${field}: $moment }) { edges { cursor } } }`;
    expectInvalid(await t.platform.send(query, { moment }), `filter.${field}`, ['customers']);
  }
});

test.each([
  ['transactionUpdates', 'of', 'FollowedTransactionsInput'],
  ['accountUpdates', 'of', 'FollowedAccountsInput'],
  ['customerUpdates', 'customerId', 'ID'],
])('%s is refused if its %s is null, and follows everything if the argument is omitted', async (field, name, type) => {
  const query = `subscription ($subject: ${type}) { ${field}(${name}: $subject) { cursor } }`;
  const refused = { errors: [{ extensions: { code: 'INVALID_INPUT', field: name } }] };
  const literal = `subscription { ${field}(${name}: null) { cursor } }`;
  expect(await nextOf(t.platform.watch(literal))).toMatchObject(refused);
  expect(await nextOf(t.platform.watch(query, { subject: null }))).toMatchObject(refused);
  const stream = await openEventStream(`${t.url}/graphql`, t.platform.authorization, { query, variables: {} });
  expect(t.gateway.feed.subscriptions).toBe(1);
  stream.cut();
});

test.each([
  ['transactionUpdates', '{ transactionIds: [] }', { code: 'INVALID_INPUT', field: 'of.transactionIds' }],
  ['transactionUpdates', '{ transactionId: "" }', { code: 'NOT_FOUND', field: 'of.transactionId' }],
  ['transactionUpdates', '{ customerId: "" }', { code: 'NOT_FOUND', field: 'of.customerId' }],
  ['accountUpdates', '{ accountId: "" }', { code: 'NOT_FOUND', field: 'of.accountId' }],
  ['accountUpdates', '{ customerId: "" }', { code: 'NOT_FOUND', field: 'of.customerId' }],
  ['events', '{ types: [] }', { code: 'INVALID_INPUT', field: 'filter.types' }],
  ['transactionUpdates', '{}', { code: 'GRAPHQL_VALIDATION_FAILED' }],
  ['transactionUpdates', '{ transactionId: null }', { code: 'GRAPHQL_VALIDATION_FAILED' }],
  ['transactionUpdates', '{ transactionId: "x", customerId: "x" }', { code: 'GRAPHQL_VALIDATION_FAILED' }],
])('%s of %s is refused', async (field, of, extensions) => {
  const stream = t.platform.watch(
    `subscription { ${field}(${field === 'events' ? 'filter' : 'of'}: ${of}) { cursor } }`,
  );
  const refusal = await nextOf(stream).catch((errors: unknown) => ({ errors }));
  expect(refusal).toMatchObject({ errors: [{ extensions }] });
});

describe('an invalid variable', () => {
  const wrong = [
    ['an unknown enum value', 'query ($v: SortOrder) { accounts(sortOrder: $v) { totalCount } }', { v: 'X' }],
    ['a fraction for an Int', 'query ($v: Int) { accounts(first: $v) { totalCount } }', { v: 1.5 }],
    ['an unknown field', 'query ($v: AccountFilter) { accounts(filter: $v) { totalCount } }', { v: { x: 1 } }],
    ['no value where one is required', 'query ($v: ID!) { account(id: $v) { id } }', {}],
    ['null where a value is required', 'subscription ($v: ID!) { quoteUpdates(quoteId: $v) { cursor } }', { v: null }],
    ['a number for a string', 'subscription ($v: String) { transactionUpdates(after: $v) { cursor } }', { v: 1 }],
  ] as const;

  test.each(wrong)(
    'causes INVALID_INPUT and is named in the error, on every transport: %s',
    async (_what, query, variables) => {
      const expected = { message: expect.stringMatching(/^Variable "\$v"/), extensions: { code: 'INVALID_INPUT' } };
      if (query.startsWith('query')) {
        const status = 'v' in variables ? 422 : 400;
        for (let asked = 0; asked < 3; asked++)
          expect(await t.platform.send(query, variables)).toMatchObject({ status, errors: [expected] });
      }
      const stream = await openEventStream(`${t.url}/graphql`, t.platform.authorization, { query, variables });
      expect((await nextOf(stream.events)).data).toMatchObject({ errors: [expected] });
      stream.cut();
      const watched = await nextOf(t.platform.watch(query, variables));
      expect(watched).toMatchObject({ errors: [expected] });
    },
  );

  test('causes INVALID_INPUT when it is null for a required argument', async () => {
    const query = 'query ($v: ID = "x") { account(id: $v) { id } }';
    const { errors } = await t.platform.send(query, { v: null });
    expect(errors).toMatchObject([{ path: ['account'], extensions: { code: 'INVALID_INPUT' } }]);
  });
});

test.each([
  ['exchangeRates(source: "USD", sendingAmount: { units: "x" }) { rate }', 'exchangeRates', 'sendingAmount.units'],
  [
    'exchangeRates(source: "USD", sendingAmount: { decimal: "1,5" }) { rate }',
    'exchangeRates',
    'sendingAmount.decimal',
  ],
  ['transactions(filter: { createdAfter: "X" }) { totalCount }', 'transactions', 'filter.createdAfter'],
])('a malformed scalar is reported as an error of its field: %s', async (query, path, field) => {
  expectInvalid(await t.platform.send(`{ ${query} }`), field, [path]);
});

test('an integer may be written with a fraction or an exponent', async () => {
  for (const number of ['1', '1.0', '1e0', '10e-1']) {
    const query = 'query ($n: Int) { accounts(first: $n) { edges { cursor } } }';
    const response = await t.platform.post(`{"query": "${query}", "variables": {"n": ${number}}}`);
    expect(await response.json()).toMatchObject({ data: { accounts: { edges: [{}] } } });
  }
});

test.each([
  [0, 'INVALID_AMOUNT'],
  [-1, 'INVALID_AMOUNT'],
  [9_000_000_000_000_001n, 'AMOUNT_OUT_OF_RANGE'],
])('exchange rates for %d, an amount that no payment can have, are refused', async (amount, code) => {
  for (const destinations of [null, ['EUR']]) {
    const { errors } = await t.platform.send(
      'query ($a: BigInt!, $d: [CurrencyCode!]) { exchangeRates(source: "USD", sendingAmount: { units: $a }, destinations: $d) { rate } }',
      { a: amount, d: destinations },
    );
    expect(errors).toMatchObject([{ path: ['exchangeRates'], extensions: { code, field: 'sendingAmount' } }]);
  }
  // If the query names no destinations, destinations whose range excludes the amount are omitted.
  const { exchangeRates } = await t.platform.ask(
    '{ exchangeRates(source: "USD", sendingAmount: { units: 9000000000000000 }) { rate } }',
  );
  expect(exchangeRates).toEqual(expect.any(Array));
});

test.each([
  'subscription ($s: Boolean!) { events @skip(if: $s) { id } }',
  'subscription ($s: Boolean!) { events @include(if: $s) { id } }',
  'subscription ($s: Boolean!) { ... @skip(if: $s) { events { id } } }',
  'subscription ($s: Boolean!) { ...F } fragment F on Subscription { ... { events @skip(if: $s) { id } } ...F }',
])("a subscription's root field must not have conditions: %s", async (query) => {
  const message = expect.stringMatching(/^A subscription's root field must not have @(skip|include)\.$/);
  const expected = { message, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } };
  for (const s of [true, false]) {
    await expect(nextOf(t.platform.watch(query, { s }))).rejects.toMatchObject([expected]);
    const stream = await openEventStream(`${t.url}/graphql`, t.platform.authorization, { query, variables: { s } });
    expect((await nextOf(stream.events)).data).toMatchObject({ errors: [expected] });
    stream.cut();
  }
});

test('a subscription may have conditional fields below its root field', async () => {
  const stream = t.platform.watch(
    'subscription ($id: ID!, $s: Boolean!) { transactionUpdates(of: { transactionId: $id }) { status @skip(if: $s) cursor } }',
    { id: `Transaction:${uuid}`, s: true },
  );
  const code = expect.not.stringMatching(/VALIDATION/);
  expect(await nextOf(stream)).toMatchObject({ errors: [{ extensions: { code } }] });
});

test('the receipt for an impossible key is NONE, and an unknown operation is refused', async () => {
  const query =
    'query ($o: MutationName!, $k: String!) { mutationReceipt(operation: $o, idempotencyKey: $k) { outcome code } }';
  const receipt = (o: string, k: string) => t.platform.send(query, { o, k });
  const none = { mutationReceipt: { outcome: 'NONE', code: null } };
  expect((await receipt('EXECUTE_QUOTE', '\0')).data).toEqual(none);
  expect((await receipt('EXECUTE_QUOTE', 'never used')).data).toEqual(none);
  const wrong = await receipt('drop', 'key');
  expect(wrong).toMatchObject({ status: 422, errors: [{ extensions: { code: 'INVALID_INPUT' } }] });
});

test("a directive's condition that is not a boolean is always refused, even after a valid one", async () => {
  const query = 'query ($if: Boolean!) { viewer @include(if: $if) { kind } }';
  const send = (condition: unknown) => t.platform.send(query, { if: condition });
  for (const bad of [JSON.parse('{"toString": null, "valueOf": 1}'), 'true', null, 1, [true], {}]) {
    expect((await send(true)).data).toEqual({ viewer: { kind: 'PLATFORM' } });
    const { data, errors } = await send(bad);
    expect({ bad, data, code: errors?.[0]?.extensions.code }).toEqual({ bad, data: undefined, code: 'INVALID_INPUT' });
    expect((await send(false)).data).toEqual({});
  }
});

test('a query field that fails is null and reports its error, and its sibling fields are resolved', async () => {
  const query = '{ viewer { kind } customers(after: "zzz") { totalCount } quotes { totalCount } }';
  const answer = await t.platform.send(query);
  expect(answer.data).toEqual({ viewer: { kind: 'PLATFORM' }, customers: null, quotes: { totalCount: 0 } });
  expectInvalid(answer, 'after', ['customers']);
});

test('if the result of a mutation cannot be read, its outcome is reported as unknown, and other mutations return their results', async () => {
  const create = (key: string, lists: string) =>
    `${key}: createCustomer(input: { platformCustomerId: "${key}", details: { individual: { fullName: "Ada" } } }) {
      ... on CreateCustomerSuccess { customer { platformCustomerId ${lists} } } }`;
  const { data, errors } = await t.platform.send(
    `mutation { ${create('before', '')} ${create('failing', 'quotes(first: -1) { totalCount }')} ${create('after', '')} }`,
  );
  const made = (platformCustomerId: string) => ({ customer: { platformCustomerId } });
  expect(data).toEqual({ before: made('before'), failing: null, after: made('after') });
  const message = expect.stringMatching(/may have taken effect.*: first must be/);
  const extensions = { code: 'OUTCOME_UNKNOWN' };
  expect(errors).toMatchObject([{ path: ['failing', 'customer', 'quotes'], message, extensions }]);
});
