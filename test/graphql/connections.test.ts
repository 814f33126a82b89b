import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { usdToEur } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { countedGateway } from '../setup/statements.ts';
import { quiet } from '../setup/streams.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';

// Nothing settles or expires during the tests, and no test adds a row, so a list is the same every time it is read.
const t = await testGateway({ SANDBOX_PACE_MS: 600_000, SANDBOX_QUOTE_SECONDS: 86_400 });
const endpointId = (await createEndpoint(t.platform, { url: 'http://127.0.0.1:9/' })).id;
await createEndpoint(t.platform, { url: 'http://127.0.0.1:9/second', eventTypes: ['KYC_STATUS'] });
await createEndpoint(t.platform, { url: 'http://127.0.0.1:9/third', eventTypes: ['KYC_STATUS'] });
for (let made = 0; made < 3; made++) await t.platform.serverOf('VIEW');
await t.platform.makeScene(0n);
const scene = await t.platform.makeScene(1_000_000n);
for (let made = 0; made < 3; made += 1) {
  const { tokenId } = await t.platform.mint({ customerId: scene.customerId, expiresInSeconds: 3_600 });
  if (made === 1) await t.platform.act('revokeClientToken', { tokenId }, 'revokedId');
}
for (let made = 0; made < 5; made++) {
  await t.platform.fund(scene.usd, 1n);
  await t.platform.pay(scene, 10);
  await t.platform.transfer('transferIn', scene, 10);
  await t.platform.quote(usdToEur(scene, { immediatelyExecute: made % 2 === 0 }));
}
await quiet(t);

/** A connection anywhere in the schema. */
interface List {
  readonly name: string;
  /** The field that contains the list, its id argument and, if the field's type is abstract, the concrete type. */
  readonly around?: readonly [field: string, id: () => string, type?: string];
  /** The filters with which to read the list. Some match none of its rows. */
  readonly filters?: readonly string[];
  readonly sorted?: boolean;
}

const filters = {
  transactions: ['{ type: OUTGOING }', '{ type: [INCOMING] }', '{ status: [PENDING] }', '{ reference: "none" }'],
  quotes: ['{ status: [PENDING] }', '{ status: [PROCESSING] }'],
  customers: ['{ customerType: INDIVIDUAL }', '{ customerType: BUSINESS }'],
  accounts: ['{ kind: INTERNAL }', '{ kind: EXTERNAL }', '{ currency: "USD" }'],
  apiTokens: ['{ permission: VIEW }', '{ name: "nobody" }'],
  clientTokens: ['{ active: true }', '{ active: false }'],
  deliveries: ['{ status: [DELIVERED] }', '{ status: [PENDING, FAILED] }'],
  events: ['{ types: [QUOTE_STATUS] }', '{ types: [ACCOUNT_STATUS, OUTGOING_PAYMENT] }'],
};

const ofCustomer = ['customer', () => scene.customerId] as const;
const ofEndpoint = ['node', () => endpointId, 'WebhookEndpoint'] as const;
const ofAccount = ['account', () => scene.usd, 'InternalAccount'] as const;
const lists: readonly List[] = [
  { name: 'transactions', filters: filters.transactions, sorted: true },
  { name: 'quotes', filters: filters.quotes, sorted: true },
  { name: 'customers', filters: filters.customers, sorted: true },
  { name: 'accounts', filters: filters.accounts, sorted: true },
  { name: 'transactions', around: ofCustomer, filters: filters.transactions, sorted: true },
  { name: 'quotes', around: ofCustomer, filters: filters.quotes, sorted: true },
  { name: 'accounts', around: ofCustomer, filters: filters.accounts, sorted: true },
  { name: 'events', filters: filters.events },
  { name: 'apiTokens', filters: filters.apiTokens, sorted: true },
  { name: 'clientTokens', filters: filters.clientTokens, sorted: true },
  { name: 'webhookEndpoints' },
  { name: 'deliveries', around: ofEndpoint, filters: filters.deliveries, sorted: true },
  { name: 'transactions', around: ofAccount, filters: filters.transactions, sorted: true },
  { name: 'ledgerEntries', around: ofAccount, sorted: true },
];

interface Asked {
  readonly first?: number | undefined;
  readonly last?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly filter?: string | undefined;
  readonly sortOrder?: 'ASC' | 'DESC' | undefined;
}

const page =
  '{ edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount }';

function documentOf({ name, around }: List, asked: Asked, selection = page): string {
  const args = Object.entries(asked)
    .filter(([, value]) => value !== undefined)
    .map(([arg, value]) => `${arg}: ${arg === 'after' || arg === 'before' ? JSON.stringify(value) : value}`);
  const field = `${name}${args.length > 0 ? `(${args.join(', ')})` : ''} ${selection}`;
  if (!around) return `{ ${field} }`;
  const [outer, id, type] = around;
  const inner = type ? `... on ${type} { ${field} }` : field;
  return `{ ${outer}(id: "${id()}") { ${inner} } }`;
}

async function read(list: List, asked: Asked): Promise<Data> {
  const data = await t.platform.ask(documentOf(list, asked, page.replace('{ edges', '{ nodes { id } edges')));
  const { nodes, ...shown } = (list.around ? data[list.around[0]] : data)[list.name];
  expect(nodes).toEqual(shown.edges.map(({ node }: Data) => node));
  return shown;
}

interface Edge {
  readonly cursor: string;
  readonly node: { readonly id: string };
}

/** Reads the whole list in the given order. */
async function whole(list: List, asked: Pick<Asked, 'filter' | 'sortOrder'>): Promise<Edge[]> {
  const { edges, totalCount } = await read(list, { ...asked, first: 100 });
  expect(edges).toHaveLength(totalCount);
  return edges;
}

/**
 * Applies the specification's pagination algorithm to the entire list. A cursor marks a position in the unfiltered
 * list, so it is valid even if its row does not match the filter. `after` removes the cursor's own row and all earlier
 * ones, and `before` removes the cursor's own row and all later ones.
 */
function bySpecification(unfiltered: readonly Edge[], matching: readonly Edge[], asked: Asked): Data {
  const placeOf = (cursor: string) => unfiltered.findIndex((edge) => edge.cursor === cursor);
  const { first, last, after, before } = asked;
  const priorToAfter = matching.filter(({ cursor }) => after !== undefined && placeOf(cursor) <= placeOf(after));
  const followingBefore = matching.filter(({ cursor }) => before !== undefined && placeOf(cursor) >= placeOf(before));
  const removed = new Set([...priorToAfter, ...followingBefore]);
  const edges = matching.filter((edge) => !removed.has(edge));
  // If no size is given, the default page size applies. If `before` is the only cursor, the page is taken from the end
  // of the list.
  const isFromEnd = last !== undefined || (first === undefined && after === undefined && before !== undefined);
  const size = first ?? last ?? 20;
  const shown = isFromEnd ? edges.slice(Math.max(0, edges.length - size)) : edges.slice(0, size);
  return {
    edges: shown,
    pageInfo: {
      hasPreviousPage: isFromEnd ? edges.length > size : priorToAfter.length > 0,
      hasNextPage: isFromEnd ? followingBefore.length > 0 : edges.length > size,
      startCursor: shown[0]?.cursor ?? null,
      endCursor: shown.at(-1)?.cursor ?? null,
    },
    totalCount: matching.length,
  };
}

const titled = lists.map((list): [string, List] => [`${list.around ? `${list.around[0]}.` : ''}${list.name}`, list]);

describe.each(titled)('%s', (_title, list) => {
  const orders = list.sorted ? (['ASC', 'DESC', undefined] as const) : ([undefined] as const);
  const size = fc.oneof(fc.nat({ max: 3 }), fc.integer({ min: 0, max: 100 }));
  const asking = fc.record({
    size: fc.oneof(
      fc.record({ first: size }),
      fc.record({ last: size }),
      fc.constant<{ first?: number; last?: number }>({}),
    ),
    after: fc.option(fc.nat(), { nil: undefined }),
    before: fc.option(fc.nat(), { nil: undefined }),
    filter: fc.constantFrom(undefined, ...(list.filters ?? [])),
    sortOrder: fc.constantFrom(...orders),
  });

  test("every page equals what the specification's algorithm selects from the entire list", async () => {
    const known = new Map<string, Promise<Edge[]>>();
    const wholeOnce = (asked: Pick<Asked, 'filter' | 'sortOrder'>) => {
      const key = JSON.stringify(asked);
      const edges = known.get(key) ?? whole(list, asked);
      known.set(key, edges);
      return edges;
    };
    await fc.assert(
      fc.asyncProperty(asking, async ({ size, after, before, filter, sortOrder }) => {
        const unfiltered = await wholeOnce({ sortOrder });
        expect(unfiltered.length).toBeGreaterThan(1);
        const cursorAt = (at: number | undefined) =>
          at === undefined ? undefined : unfiltered[at % unfiltered.length]?.cursor;
        const asked = { ...size, after: cursorAt(after), before: cursorAt(before), filter, sortOrder };
        const expected = bySpecification(unfiltered, await wholeOnce({ filter, sortOrder }), asked);
        expect(await read(list, asked)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });
});

const { platform, statements } = await countedGateway(t);

test('pages between cursors are found by key, not by offset, and rows are counted only if requested', async () => {
  const list: List = { name: 'transactions' };
  const all = await whole(list, {});
  const asked = { first: 3, after: all[1]?.cursor, before: all[8]?.cursor };
  const statementsFor = async (selection: string) =>
    (await statements.during(() => platform.ask(documentOf(list, asked, selection)))).statements;
  const [rows, ...others] = await statementsFor('{ edges { node { id } } pageInfo { hasNextPage endCursor } }');
  expect([rows, others]).toEqual([
    expect.stringMatching(/\.id > \$\d+ and \w+\.id < \$\d+\)?\)? order by \w+\.id desc limit 4\)/),
    [],
  ]);
  expect(rows).not.toMatch(/exists|count\(\*\)::text/);
  const [existence, ...more] = await statementsFor('{ edges { node { id } } pageInfo { hasPreviousPage } }');
  expect([existence, more]).toEqual([expect.stringMatching(/exists/), []]);
  // `offset 0` skips nothing; it serves only as an optimization fence for the planner.
  expect((await statementsFor(page)).join('\n')).not.toMatch(/offset (?!0\b)/i);
});
