import fc from 'fast-check';
import { expect, test } from 'vitest';
import { results } from '../setup/both-api-calls.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient, restQuote, restScene } from '../setup/rest.ts';

interface ListOfBoth {
  readonly path: string;
  readonly list: string;
  readonly filterType: string;
  readonly fields: string;
  /** The type of the nodes to compare, if the list's nodes have several types. */
  readonly type?: string;
  readonly asRest: (record: Data) => Data;
  /** Whether the list can be ordered by last change. */
  readonly isOrdered?: true;
  /** The same filter, once for REST and once for GraphQL. */
  readonly filters: readonly (() => readonly [rest: Record<string, unknown>, graphql: object])[];
}

const ofCustomers = { platformOwned: false };
const same = (filter: Record<string, unknown>) => [filter, filter] as const;

// Nothing settles during the test, so that both APIs show the same state.
const t = await testGateway({ SANDBOX_PACE_MS: 3_600_000 });
const rest = await restClient(t.url, t.platform.authorization);
const scene = await restScene(rest, 1_000_000);
const company = { customerType: 'BUSINESS', platformCustomerId: 'company', businessInfo: { legalName: 'Acme' } };
await rest.make('/customers', company);
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

test('a list has the same rows, cursors and totals on both APIs', async () => {
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
