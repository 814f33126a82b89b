import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyMetadata, type Call, entriesOf, madeOnBoth } from '../setup/both-api-calls.ts';
import { results } from '../setup/both-apis.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient, restQuote, restScene } from '../setup/rest.ts';

const quotes: string[] = [];

// Nothing settles during the test, so that both APIs show the same state.
const t = await testGateway({ SANDBOX_PACE_MS: 3_600_000 });
const rest = await restClient(t.url, t.platform.authorization);
const scene = await restScene(rest, 100_000);
const mine = (await rest.ask('GET', '/platform/internal-accounts?currency=USD')).data[0];

const unknown = 'InternalAccount:01a1fc11-db75-7eac-9cd6-93f3db60e56b';
const amounts = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 20, max: 5_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 9_000_000_000_000_001, 500_000) },
);
const memo = fc.option(fc.constantFrom('rent', 'Überweisung €', 'a "quoted" memo'), { nil: undefined });

/** Returns whether all metadata keys are valid. */
const isSound = (metadata: object | undefined) => !Object.keys(metadata ?? {}).some((key) => key.startsWith('_'));

const quoteCall = fc
  .record({
    // Each call has at most one fault, because it is not specified which of several faults is reported first.
    ends: fc.constantFrom('good', 'platform', 'funded', 'unknown', 'outside', 'self'),
    side: fc.constantFrom('SENDING', 'RECEIVING'),
    amount: amounts,
    immediatelyExecute: fc.boolean(),
    description: memo,
    metadata: anyMetadata,
  })
  .filter(({ ends, amount, metadata }) => {
    const wrong = [!isSound(metadata), ['unknown', 'outside', 'self'].includes(ends), amount <= 0 || amount >= 500_000];
    return wrong.filter(Boolean).length <= 1 && (isSound(metadata) || ends === 'good');
  })
  .map(({ ends, side, amount, immediatelyExecute, description, metadata }): (() => Call) => () => {
    const { id: usd } = scene.usd;
    const from = { good: usd, platform: mine.id, unknown, outside: scene.outsideUsd.id, self: usd, funded: '' }[ends];
    const to = ends === 'self' ? scene.usd.id : scene.outsideEur.id;
    const funded = ends === 'funded';
    const rest = {
      lockedCurrencySide: side,
      lockedCurrencyAmount: amount,
      immediatelyExecute: immediatelyExecute && !funded,
      description,
    };
    const funding = { customerId: scene.customer.id, currency: 'USD' };
    return {
      rest: {
        path: '/quotes',
        body: {
          ...rest,
          metadata,
          source: funded ? { sourceType: 'REALTIME_FUNDING', ...funding } : { sourceType: 'ACCOUNT', accountId: from },
          destination: { destinationType: 'ACCOUNT', accountId: to },
        },
      },
      mutation: 'createQuote',
      input: {
        ...rest,
        metadata: entriesOf(metadata),
        source: funded ? { realtimeFunding: funding } : { account: { accountId: from } },
        destination: { account: { accountId: to } },
      },
      result: results.quote,
    };
  });

const onQuoteCall = fc
  .record({ position: fc.nat({ max: 20 }), act: fc.constantFrom('execute' as const, 'cancel' as const) })
  .map(({ position, act }): (() => Call) => () => {
    const quoteId = quotes[position] ?? 'Quote:x';
    return {
      rest: { path: `/quotes/${quoteId}/${act}` },
      mutation: `${act}Quote`,
      input: { quoteId },
      result: results.quote,
    };
  });

const transferCall = fc
  .record({
    way: fc.constantFrom('out', 'in', 'inside', 'itself', 'unknown', 'mixed'),
    amount: amounts,
    description: memo,
    metadata: anyMetadata.filter(isSound),
  })
  .filter(({ way, amount }) => ['out', 'in', 'inside'].includes(way) || (amount > 0 && amount < 500_000))
  .map(({ way, amount, description, metadata }): (() => Call) => () => {
    const into = way === 'in';
    const sourceAccountId = way === 'unknown' ? unknown : into ? scene.outsideUsd.id : scene.usd.id;
    const inside = way === 'inside' || way === 'itself';
    const destinations = { in: scene.usd.id, mixed: scene.outsideEur.id, inside: mine.id, itself: scene.usd.id };
    const destinationAccountId = { ...destinations, out: scene.outsideUsd.id, unknown: scene.outsideUsd.id }[way];
    return {
      rest: {
        path: into ? '/transfer-in' : inside ? '/transfer-internal' : '/transfer-out',
        body: {
          source: { accountId: sourceAccountId },
          destination: { accountId: destinationAccountId },
          amount,
          description,
          metadata,
        },
      },
      mutation: into ? 'transferIn' : inside ? 'transferInternal' : 'transferOut',
      input: {
        sourceAccountId,
        destinationAccountId,
        amount: String(amount),
        description,
        metadata: entriesOf(metadata),
      },
      result: results.transaction,
    };
  });

const fundCall = fc
  .record({ account: fc.constantFrom('usd', 'eur', 'outside', 'unknown'), amount: fc.integer({ min: 1, max: 500 }) })
  .map(({ account, amount }): (() => Call) => () => {
    const accountId = { usd: scene.usd.id, eur: scene.eur.id, outside: scene.outsideUsd.id, unknown }[account];
    return {
      rest: { path: `/sandbox/internal-accounts/${accountId}/fund`, body: { amount } },
      mutation: 'sandboxFundAccount',
      input: { accountId, amount },
      result: results.internalAccount,
    };
  });

const customerCall = fc
  .record({
    business: fc.boolean(),
    name: fc.constantFrom('Ada Lovelace', 'Ada Lovelace 002', ' '),
    nationality: fc.constantFrom('GB', undefined),
    metadata: anyMetadata,
  })
  .filter(({ name, metadata }) => isSound(metadata) || name !== ' ')
  .map(({ business, name, nationality, metadata }): (() => Call) => () => {
    const platformCustomerId = `both-apis-${randomUUID()}`;
    const address = { line1: '1 High Street', city: 'London', postalCode: 'N1', country: 'GB' };
    const owner = { fullName: 'Ada Lovelace', individualType: 'DIRECTOR', address };
    const beneficialOwners = [{ ...owner, percentageOwnership: 12.5 }];
    const person = { fullName: name, birthDate: '1985-12-10', nationality, address };
    const company = { legalName: name, taxId: 'GB123' };
    return {
      rest: {
        path: '/customers',
        body: business
          ? { customerType: 'BUSINESS', platformCustomerId, businessInfo: company, address, beneficialOwners, metadata }
          : { customerType: 'INDIVIDUAL', platformCustomerId, ...person, metadata },
      },
      mutation: 'createCustomer',
      input: {
        platformCustomerId,
        metadata: entriesOf(metadata),
        details: business
          ? { business: { ...company, address, beneficialOwners: [{ ...owner, percentageOwnership: '12.5' }] } }
          : { individual: person },
      },
      result: results.customer,
    };
  });

const anyCall = fc.oneof(quoteCall, onQuoteCall, onQuoteCall, transferCall, fundCall, customerCall);

test('a call has the same effect and the same outcome in both APIs, field by field', async () => {
  await fc.assert(
    fc.asyncProperty(anyCall, fc.boolean(), async (make, restFirst) => {
      const call = make();
      const outcome = await madeOnBoth({ platform: t.platform, rest }, call, restFirst);
      if ('record' in outcome && call.mutation === 'createQuote') quotes.push(outcome.record.quoteId);
    }),
    { numRuns: 120 },
  );
});

interface ListOfBoth {
  readonly path: string;
  readonly list: string;
  readonly filterType: string;
  readonly fields: string;
  /** The type of node to compare, if the list contains nodes of several types. */
  readonly type?: string;
  readonly asRest: (record: Data) => Data;
  /** Whether the list can be sorted by the time of the last change. */
  readonly isOrdered?: true;
  /** The filters, each in its REST and GraphQL forms. */
  readonly filters: readonly (() => readonly [rest: Record<string, unknown>, graphql: object])[];
}

const ofCustomers = { platformOwned: false };
const same = (filter: Record<string, unknown>) => [filter, filter] as const;

const lists: readonly ListOfBoth[] = [
  {
    path: '/transactions',
    list: 'transactions',
    filterType: 'TransactionFilter',
    ...results.transaction,
    isOrdered: true,
    filters: [
      () => same({}),
      () => same({ customerId: scene.customer.id }),
      () => [{ type: 'OUTGOING' }, { type: ['OUTGOING'] }],
      () => [{ status: 'PENDING' }, { status: ['PENDING'] }],
      () => same({ senderAccountIdentifier: scene.usd.id }),
      () => same({ senderAccountIdentifier: scene.customer.umaAddress }),
      () => same({ receiverAccountIdentifier: scene.outsideUsd.id }),
      () => same({ platformCustomerId: scene.customer.platformCustomerId }),
      () => [
        { startDate: scene.customer.createdAt, endDate: '2999-01-01T00:00:00Z' },
        { createdAfter: scene.customer.createdAt, createdBefore: '2999-01-01T00:00:00Z' },
      ],
      () => same({ updatedAfter: scene.customer.createdAt, updatedBefore: '2999-01-01T00:00:00Z' }),
      () => same({ accountId: scene.outsideUsd.id }),
      () => same({ currency: 'EUR' }),
      () => [
        { currency: 'USD', minAmount: '11', maxAmount: '14' },
        { amount: { currency: 'USD', min: '11', max: 14 } },
      ],
      () => [{ executed: 'true' }, { executed: true }],
      () => [{ executed: 'false' }, { executed: false }],
      () => [{ failureReason: 'QUOTE_EXPIRED' }, { failureReason: ['QUOTE_EXPIRED'] }],
      () => same({ reference: 'nothing' }),
    ],
  },
  {
    path: '/quotes',
    list: 'quotes',
    filterType: 'QuoteFilter',
    ...results.quote,
    filters: [
      () => same({}),
      () => same({ sendingAccountId: scene.usd.id }),
      () => [{ status: 'PROCESSING' }, { status: ['PROCESSING'] }],
      () => same({ sendingUmaAddress: scene.customer.umaAddress }),
    ],
  },
  {
    path: '/customers',
    list: 'customers',
    filterType: 'CustomerFilter',
    ...results.customer,
    isOrdered: true,
    filters: [
      () => same({}),
      () => same({ customerType: 'BUSINESS' }),
      () => same({ name: 'aC' }),
      () => [{ kycStatus: 'APPROVED' }, { kycStatus: ['APPROVED', 'MANUALLY_APPROVED'] }],
      () => same({ umaAddress: String(scene.customer.umaAddress).toUpperCase() }),
      () => same({ isIncludingDeleted: true, updatedAfter: scene.customer.updatedAt }),
    ],
  },
  {
    path: '/customers/internal-accounts',
    list: 'accounts',
    filterType: 'AccountFilter',
    ...results.internalAccount,
    type: 'InternalAccount',
    filters: [() => [{ currency: 'USD' }, { currency: 'USD', kind: 'INTERNAL', platformOwned: false }]],
  },
  {
    path: '/customers/external-accounts',
    list: 'accounts',
    filterType: 'AccountFilter',
    ...results.externalAccount,
    type: 'ExternalAccount',
    filters: [
      () => [{ customerId: scene.customer.id }, { customerId: scene.customer.id, kind: 'EXTERNAL' }],
      () => [{ status: 'ACTIVE' }, { status: ['ACTIVE'], ...ofCustomers }],
      () => [{ accountType: 'US_ACCOUNT' }, { accountType: ['US_ACCOUNT'], ...ofCustomers }],
      () => [
        { beneficiaryVerificationStatus: 'MATCHED' },
        { beneficiaryVerificationStatus: ['MATCHED'], ...ofCustomers },
      ],
    ],
  },
];

test('a list has the same rows, cursors and totals in both APIs', async () => {
  const company = { customerType: 'BUSINESS', platformCustomerId: 'company', businessInfo: { legalName: 'Acme' } };
  await rest.make('/customers', company);
  await rest.ask('POST', `/sandbox/internal-accounts/${scene.usd.id}/fund`, { amount: 1_000_000 });
  for (let made = 0; made < 8; made += 1) {
    const quote = restQuote(scene.usd.id, scene.outsideEur.id, 1_000 + made, {
      lockedCurrencySide: made % 2 ? 'SENDING' : 'RECEIVING',
      immediatelyExecute: made % 3 === 0,
    });
    await rest.make('/quotes', quote);
    const [out, into] = [{ accountId: scene.usd.id }, { accountId: scene.outsideUsd.id }];
    await rest.make('/transfer-out', { source: out, destination: into, amount: 10 + made });
    await rest.make('/transfer-in', { source: into, destination: out, amount: 10 + made });
  }
  const asked = fc.constantFrom(...lists).chain((list) =>
    fc.record({
      list: fc.constant(list),
      filter: fc.constantFrom(...list.filters),
      limit: fc.integer({ min: 1, max: 12 }),
      orderBy: fc.constantFrom(undefined, 'created', 'updated'),
      sortOrder: fc.constantFrom(undefined, 'asc', 'desc'),
    }),
  );
  await fc.assert(
    fc.asyncProperty(asked, async ({ list, filter, limit, ...drawn }) => {
      const { orderBy, sortOrder } = list.isOrdered ? drawn : {};
      const [inRest, inGraphql] = filter();
      let cursor: string | undefined;
      for (let page = 0; page < 3; page += 1) {
        const query = new URLSearchParams({
          ...(inRest as Record<string, string>),
          limit: String(limit),
          ...(orderBy && { orderBy }),
          ...(sortOrder && { sortOrder }),
          ...(cursor && { cursor }),
        });
        const overRest = await rest.ask('GET', `${list.path}?${query}`);
        const order = list.isOrdered ? ['$orderBy: ListOrder, ', 'orderBy: $orderBy, '] : ['', ''];
        const fields = list.type ? `... on ${list.type} { ${list.fields} }` : list.fields;
        const data = await t.platform.ask(
          `query (${order[0]}$sortOrder: SortOrder, $first: Int, $after: String, $filter: ${list.filterType}) { ${list.list}(${order[1]}sortOrder: $sortOrder, first: $first, after: $after, filter: $filter) {
            totalCount pageInfo { hasNextPage endCursor } edges { node { ${fields} } } } }`,
          {
            first: limit,
            after: cursor,
            filter: inGraphql,
            orderBy: orderBy?.toUpperCase(),
            sortOrder: sortOrder?.toUpperCase(),
          },
        );
        const { edges, pageInfo, totalCount } = data[list.list];
        expect(overRest).toEqual({
          data: edges.map(({ node }: Data) => list.asRest(node)),
          hasMore: pageInfo.hasNextPage,
          ...(pageInfo.hasNextPage && { nextCursor: pageInfo.endCursor }),
          totalCount,
        });
        cursor = overRest.nextCursor;
        if (cursor === undefined) break;
      }
    }),
    { numRuns: 60 },
  );
});
