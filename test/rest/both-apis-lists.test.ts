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
    filters: [
      () => same({}),
      () => same({ customerId: scene.customer.id }),
      () => same({ type: 'OUTGOING' }),
      () => [{ status: 'PENDING' }, { status: ['PENDING'] }],
      () => same({ senderAccountIdentifier: scene.usd.id }),
      () => same({ senderAccountIdentifier: scene.customer.umaAddress }),
      () => same({ receiverAccountIdentifier: scene.outsideUsd.id }),
      () => same({ platformCustomerId: scene.customer.platformCustomerId }),
      () => same({ startDate: scene.customer.createdAt, endDate: '2999-01-01T00:00:00Z' }),
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
    filters: [
      () => same({}),
      () => same({ customerType: 'BUSINESS' }),
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
    filters: [() => [{ customerId: scene.customer.id }, { customerId: scene.customer.id, kind: 'EXTERNAL' }]],
  },
];

test('a list has the same rows, cursors and totals on both APIs', async () => {
  const asked = fc.constantFrom(...lists).chain((list) =>
    fc.record({
      list: fc.constant(list),
      filter: fc.constantFrom(...list.filters),
      limit: fc.integer({ min: 1, max: 12 }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(asked, async ({ list, filter, limit }) => {
      const [inRest, inGraphql] = filter();
      let cursor: string | undefined;
      for (let page = 0; page < 3; page += 1) {
        const query = new URLSearchParams({
          ...(inRest as Record<string, string>),
          limit: String(limit),
          ...(cursor && { cursor }),
        });
        const overRestDoor = await rest.ask('GET', `${list.path}?${query}`);
        const data = await t.platform.ask(
          `query ($first: Int, $after: String, $filter: ${list.filterType}) { ${list.list}(first: $first, after: $after, filter: $filter) {
            totalCount pageInfo { hasNextPage endCursor } edges { node { ${list.fields} } } } }`,
          { first: limit, after: cursor, filter: inGraphql },
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
