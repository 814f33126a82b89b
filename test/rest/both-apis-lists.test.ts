import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  customerAsRest,
  customerFields,
  externalAccountAsRest,
  externalAccountFields,
  internalAccountAsRest,
  internalAccountFields,
  quoteAsRest,
  quoteFields,
  transactionAsRest,
  transactionFields,
} from '../setup/both-apis.ts';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { type RestClient, restClient } from '../setup/rest.ts';
import { type RestScene, restScene } from '../setup/rest-scene.ts';

let t: TestGateway;
let rest: RestClient;
let scene: RestScene;

beforeAll(async () => {
  // Nothing settles while the test looks, so that both APIs are asked about the same moment.
  t = await startTestGateway({ SANDBOX_PACE_MS: 3_600_000 });
  rest = await restClient(t.url, t.platform.authorization);
  scene = await restScene(rest, 1_000_000);
  const company = { customerType: 'BUSINESS', platformCustomerId: 'company', businessInfo: { legalName: 'Acme' } };
  await rest.ask('POST', '/customers', company, 201);
  for (let made = 0; made < 8; made += 1) {
    const quote = {
      source: { sourceType: 'ACCOUNT', accountId: scene.usd.id },
      destination: { destinationType: 'ACCOUNT', accountId: scene.outsideEur.id },
      lockedCurrencySide: made % 2 ? 'SENDING' : 'RECEIVING',
      lockedCurrencyAmount: 1_000 + made,
      immediatelyExecute: made % 3 === 0,
    };
    await rest.ask('POST', '/quotes', quote, 201);
    const [out, into] = [{ accountId: scene.usd.id }, { accountId: scene.outsideUsd.id }];
    await rest.ask('POST', '/transfer-out', { source: out, destination: into, amount: 10 + made }, 201);
    await rest.ask('POST', '/transfer-in', { source: into, destination: out, amount: 10 + made }, 201);
  }
});
afterAll(() => t.stop());

interface ListOfBoth {
  readonly path: string;
  readonly list: string;
  readonly filterType: string;
  readonly fields: string;
  readonly asRest: (record: Data) => Data;
  /** Whether it can be ordered by the last change, too. */
  readonly isOrdered?: true;
  /** The same filter in the words of REST and of GraphQL. */
  readonly filters: readonly (() => readonly [rest: Record<string, unknown>, graphql: object])[];
}

const same = (filter: Record<string, unknown>) => [filter, filter] as const;

const lists: readonly ListOfBoth[] = [
  {
    path: '/transactions',
    list: 'transactions',
    filterType: 'TransactionFilter',
    fields: transactionFields,
    asRest: transactionAsRest,
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
    fields: quoteFields,
    asRest: quoteAsRest,
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
    fields: customerFields,
    asRest: customerAsRest,
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
    fields: `... on InternalAccount { ${internalAccountFields} }`,
    asRest: internalAccountAsRest,
    filters: [() => [{ currency: 'USD' }, { currency: 'USD', kind: 'INTERNAL', platformOwned: false }]],
  },
  {
    path: '/customers/external-accounts',
    list: 'accounts',
    filterType: 'AccountFilter',
    fields: `... on ExternalAccount { ${externalAccountFields} }`,
    asRest: externalAccountAsRest,
    filters: [
      () => [{ customerId: scene.customer.id }, { customerId: scene.customer.id, kind: 'EXTERNAL' }],
      () => [{ status: 'ACTIVE' }, { status: ['ACTIVE'], platformOwned: false }],
      () => [{ accountType: 'US_ACCOUNT' }, { accountType: ['US_ACCOUNT'], platformOwned: false }],
      () => [
        { beneficiaryVerificationStatus: 'MATCHED' },
        { beneficiaryVerificationStatus: ['MATCHED'], platformOwned: false },
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
        const overRestDoor = await rest.ask('GET', `${list.path}?${query}`);
        const order = list.isOrdered ? ['$orderBy: ListOrder, ', 'orderBy: $orderBy, '] : ['', ''];
        const data = await t.platform.ask(
          `query (${order[0]}$sortOrder: SortOrder, $first: Int, $after: String, $filter: ${list.filterType}) { ${list.list}(${order[1]}sortOrder: $sortOrder, first: $first, after: $after, filter: $filter) {
            totalCount pageInfo { hasNextPage endCursor } edges { node { ${list.fields} } } } }`,
          {
            first: limit,
            after: cursor,
            filter: inGraphql,
            orderBy: orderBy?.toUpperCase(),
            sortOrder: sortOrder?.toUpperCase(),
          },
        );
        const { edges, pageInfo, totalCount } = data[list.list];
        expect(overRestDoor).toEqual({
          data: edges.map(({ node }: Data) => list.asRest(node)),
          hasMore: pageInfo.hasNextPage,
          ...(pageInfo.hasNextPage && { nextCursor: pageInfo.endCursor }),
          totalCount,
        });
        cursor = overRestDoor.nextCursor;
        if (cursor === undefined) break;
      }
    }),
    { numRuns: 60 },
  );
});
