import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { usdToEur } from '../setup/acts.ts';
import { type Data, testGateway, uuidIn } from '../setup/gateway.ts';
import { type Scene, usAccount } from '../setup/scene.ts';

const scenes: Scene[] = [];
let made = 0;
// Nothing settles or expires during the tests, so the model and the next query read the same rows.
const t = await testGateway({ SANDBOX_PACE_MS: 600_000, SANDBOX_QUOTE_SECONDS: 86_400 });
const foreign = await t.newPlatform('foreign');
await foreign.makeScene();
for (let made = 0; made < 4; made++) {
  const scene = await t.platform.makeScene(10_000_000n);
  scenes.push(scene);
  for (let index = 0; index < 4; index++) {
    await t.platform.transfer('transferOut', scene, 10);
    await t.platform.transfer('transferIn', scene, 10);
    await quote(scene, index % 2 === 0);
  }
}
await customer('BUSINESS');
await t.owner.query('update customer set is_deleted = true where id = $1', [uuidIn(await customer('INDIVIDUAL'))]);

async function quote(scene: Scene, immediatelyExecute: boolean): Promise<void> {
  await t.platform.succeed('createQuote', usdToEur(scene, { immediatelyExecute }));
}

async function customer(type: 'INDIVIDUAL' | 'BUSINESS'): Promise<string> {
  made += 1;
  const details = type === 'BUSINESS' ? { business: { legalName: 'Analytical Engines' } } : { individual: {} };
  const input = { platformCustomerId: `paged-${made % 3}`, umaAddress: `$Paged.${made}@Test.UMA.money`, details };
  return (await t.platform.succeed('createCustomer', input, 'customer { id }')).customer.id;
}

type Row = Data;
interface List {
  readonly name: string;
  /** Orders other than the order of creation. */
  readonly orders?: readonly ['UPDATED'];
  /** Selects all rows of the platform, in any order, with the columns that filters compare. */
  readonly rows: string;
  readonly idType: (row: Row) => string;
  /** For each filter: a function that returns a row's value, and one that says whether a value matches a row. */
  readonly filters: Readonly<Record<string, readonly [(row: Row) => Data, (row: Row, value: Data) => boolean]>>;
  readonly insert: (scene: Scene) => Promise<unknown>;
}

const same = (column: string, turn: (value: Data) => Data = (value) => value) =>
  [(row: Row) => turn(row[column]), (row: Row, value: Data) => turn(row[column]) === value] as const;
const id = (type: string, column: string) => same(column, (uuid) => `${type}:${uuid}`);
/** A filter with a list of values: the row's own value, if it has one, and another value. */
const anyOf = (column: string, other = 'COMPLETED') =>
  [
    (row: Row) => (row[column] === null ? [other] : [row[column], other]),
    (row: Row, value: Data) => value.includes(row[column]),
  ] as const;
const iso = (date: Date) => date.toISOString();
/** Bounds are inclusive, so a row is found by its exact time. */
const since = (column: string) =>
  [(row: Row) => iso(row[column]), (row: Row, value: Data) => iso(row[column]) >= value] as const;
const until = (column: string) =>
  [(row: Row) => iso(row[column]), (row: Row, value: Data) => iso(row[column]) <= value] as const;
/** UMA addresses are found regardless of case. */
const uma = [
  (row: Row) => row.uma_address.toUpperCase(),
  (row: Row, value: Data) => row.uma_address === value.toLowerCase(),
] as const;
/** An account's id or, for some of the payments of the given type, the customer's UMA address. */
const party = (column: string, kind: string, type: string) =>
  [
    (row: Row) => (row.type === type && row.odd ? row.uma_address : `${row[kind]}Account:${row[column]}`),
    (row: Row, value: Data) =>
      value.startsWith('$')
        ? row.type === type && row.uma_address === value
        : `${row[kind]}Account:${row[column]}` === value,
  ] as const;

/** A quote's payment is PENDING until the quote is executed. */
const isExecuted = (row: Row) => row.quote_id === null || !['PENDING', 'EXPIRED'].includes(row.status);

const payment = `initcap(s.kind::text) as source_kind_name, initcap(d.kind::text) as destination_kind_name, c.uma_address, c.platform_customer_id`;
const joins = `left join customer c on c.id = r.customer_id left join account s on s.id = r.source_account_id
  left join account d on d.id = r.destination_account_id`;

const lists: List[] = [
  {
    name: 'transactions',
    rows: `select r.*, ${payment}, get_byte(uuid_send(r.id), 15) % 2 = 1 as odd from transaction r ${joins} where r.platform_id = $1`,
    idType: () => 'Transaction',
    orders: ['UPDATED'],
    filters: {
      customerId: id('Customer', 'customer_id'),
      platformCustomerId: same('platform_customer_id'),
      senderAccountIdentifier: party('source_account_id', 'source_kind_name', 'OUTGOING'),
      receiverAccountIdentifier: party('destination_account_id', 'destination_kind_name', 'INCOMING'),
      status: anyOf('status'),
      type: anyOf('type', 'OUTGOING'),
      failureReason: anyOf('failure_reason', 'QUOTE_EXPIRED'),
      reference: same('reference'),
      accountId: [
        (row) =>
          row.odd
            ? `${row.source_kind_name}Account:${row.source_account_id}`
            : `${row.destination_kind_name}Account:${row.destination_account_id}`,
        (row, value) =>
          `${row.source_kind_name}Account:${row.source_account_id}` === value ||
          `${row.destination_kind_name}Account:${row.destination_account_id}` === value,
      ],
      currency: [
        (row) => (row.odd ? row.sent_currency : row.received_currency),
        (row, value) => row.sent_currency === value || row.received_currency === value,
      ],
      amount: [
        (row) =>
          row.odd
            ? { currency: row.sent_currency, min: String(row.sent_amount), max: String(row.sent_amount) }
            : { currency: row.received_currency, min: String(row.received_amount) },
        (row, { currency, min, max = `${2 ** 53}` }) =>
          [
            [row.sent_currency, row.sent_amount],
            [row.received_currency, row.received_amount],
          ].some(
            ([code, amount]) => code === currency && BigInt(amount) >= BigInt(min) && BigInt(amount) <= BigInt(max),
          ),
      ],
      executed: [isExecuted, (row, value) => isExecuted(row) === value],
      createdAfter: since('created_at'),
      createdBefore: until('created_at'),
      updatedAfter: since('updated_at'),
      updatedBefore: until('updated_at'),
    },
    insert: (scene) => t.platform.pay(scene, 10),
  },
  {
    name: 'quotes',
    rows: `select r.*, ${payment} from quote r ${joins} where r.platform_id = $1`,
    idType: () => 'Quote',
    filters: {
      customerId: id('Customer', 'customer_id'),
      sendingAccountId: id('InternalAccount', 'source_account_id'),
      receivingAccountId: id('ExternalAccount', 'destination_account_id'),
      sendingUmaAddress: uma,
      status: anyOf('status'),
      createdAfter: since('created_at'),
      createdBefore: until('created_at'),
    },
    insert: (scene) => quote(scene, false),
  },
  {
    name: 'customers',
    rows: 'select * from customer where platform_id = $1',
    idType: () => 'Customer',
    orders: ['UPDATED'],
    filters: {
      platformCustomerId: same('platform_customer_id'),
      customerType: same('customer_type'),
      kycStatus: anyOf('kyc_status', 'REJECTED'),
      name: [
        (row) => (row.name ?? 'nobody').slice(0, 4).toUpperCase(),
        (row, value) => row.name?.toLowerCase().startsWith(value.toLowerCase()) ?? false,
      ],
      umaAddress: uma,
      createdAfter: since('created_at'),
      createdBefore: until('created_at'),
      updatedAfter: since('updated_at'),
      updatedBefore: until('updated_at'),
      isIncludingDeleted: [() => true, () => true],
    },
    insert: () => customer('INDIVIDUAL'),
  },
  {
    name: 'accounts',
    rows: 'select * from account where platform_id = $1',
    idType: (row) => (row.kind === 'INTERNAL' ? 'InternalAccount' : 'ExternalAccount'),
    filters: {
      kind: same('kind'),
      currency: same('currency'),
      customerId: [
        (row) => `Customer:${row.customer_id ?? uuidIn(scenes[0]?.customerId ?? '')}`,
        (row, value) => `Customer:${row.customer_id}` === value,
      ],
      platformOwned: same('customer_id', (owner) => owner === null),
      status: anyOf('status', 'ACTIVE'),
      accountType: anyOf('account_type', 'CLABE'),
      beneficiaryVerificationStatus: anyOf('beneficiary_verification_status', 'NOT_MATCHED'),
    },
    insert: async (scene) => {
      made += 1;
      await t.platform.externalAccount(scene.customerId, 'USD', usAccount(`88${made}00`));
    },
  },
];

/** Computes the expected list by brute force, applying the filter and the order here. */
async function model(list: List, filter: Data, sortOrder: string, owner?: string, orderBy?: string): Promise<string[]> {
  const { rows } = await t.gateway.payments.database.pool.query(list.rows, [t.platform.platformId]);
  return rows
    .filter((row: Row) => owner === undefined || `Customer:${row.customer_id}` === owner)
    .filter((row: Row) => !row.is_deleted || filter.isIncludingDeleted)
    .filter((row: Row) => Object.entries(filter).every(([name, value]) => list.filters[name]?.[1](row, value)))
    .map((row: Row) => ({ ...row, key: `${orderBy === 'UPDATED' ? iso(row.updated_at) : ''}${row.id}` }))
    .sort((a: Row, b: Row) => (a.key < b.key ? -1 : 1) * (sortOrder === 'ASC' ? 1 : -1))
    .map((row: Row) => `${list.idType(row)}:${row.id}`);
}

/** Reads one page of the platform's list or of a customer's list. */
async function pageOf(list: List, args: Data, owner?: string): Promise<Data> {
  const type = `${list.name.charAt(0).toUpperCase()}${list.name.slice(1, -1)}Filter`;
  const [order, declared] = list.orders ? [', orderBy: $orderBy', ', $orderBy: ListOrder'] : ['', ''];
  const field = `${list.name}(first: $first, after: $after, last: $last, before: $before, filter: $filter, sortOrder: $sortOrder${order}) {
    edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount }`;
  const variables = `$first: Int, $after: String, $last: Int, $before: String, $filter: ${type}, $sortOrder: SortOrder${declared}`;
  const data = await (owner === undefined
    ? t.platform.ask(`query (${variables}) { ${field} }`, args)
    : t.platform.ask(`query ($owner: ID!, ${variables}) { customer(id: $owner) { ${field} } }`, { ...args, owner }));
  return (owner === undefined ? data : data.customer)[list.name];
}

const idsOf = ({ edges }: Data): string[] => edges.map(({ node }: Data) => node.id);

describe.each(lists)('$name', (list) => {
  const asked = fc.record({
    sortOrder: fc.constantFrom('ASC', 'DESC'),
    orderBy: fc.constantFrom(undefined, ...(list.orders ?? [])),
    nested: list.name === 'customers' ? fc.constant(false) : fc.boolean(),
    chosen: fc.subarray(Object.keys(list.filters), { maxLength: 4 }),
    subject: fc.nat(),
    other: fc.nat(),
    strays: fc.nat({ max: 5 }),
  });

  test("filters can be combined, in every sort order and in a customer's lists", async () => {
    await fc.assert(
      fc.asyncProperty(asked, async ({ sortOrder, orderBy, nested, chosen, subject, other, strays }) => {
        const owner = nested ? scenes[subject % scenes.length]?.customerId : undefined;
        const { rows } = await t.gateway.payments.database.pool.query(list.rows, [t.platform.platformId]);
        // Uses one row's values and sometimes a value from another row, so that only some filters match the row.
        const filter = Object.fromEntries(
          chosen.map((name, index) => [
            name,
            list.filters[name]?.[0](rows[(index === strays ? other : subject) % rows.length]),
          ]),
        );
        const expected = await model(list, filter, sortOrder, owner, orderBy);
        const page = await pageOf(list, { first: 100, filter, sortOrder, orderBy }, owner);
        expect([page.totalCount, idsOf(page)]).toEqual([expected.length, expected.slice(0, 100)]);
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    ['first', 'after', 'endCursor', 'hasNextPage'],
    ['last', 'before', 'startCursor', 'hasPreviousPage'],
  ])('paging with `%s` reads each row once despite insertions', async (size, position, end, hasMore) => {
    const atStart = await model(list, {}, 'DESC');
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; ; pages++) {
      const page = await pageOf(list, { [size]: 7, [position]: cursor });
      seen.push(...idsOf(page));
      cursor = page.pageInfo[end];
      if (!page.pageInfo[hasMore]) break;
      if (pages < 3) await list.insert(scenes[0] ?? expect.fail('no scene'));
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(atStart));
  });

  test('each filter on its own finds exactly the rows that have its value', async () => {
    const { rows } = await t.gateway.payments.database.pool.query(list.rows, [t.platform.platformId]);
    for (const [name, [valueIn, matches]] of Object.entries(list.filters)) {
      // Takes one row for each of the first three distinct values, so a boolean is tested with both values.
      const byValue = new Map<string, Row>(rows.map((row: Row) => [JSON.stringify(valueIn(row)), row]));
      for (const row of [...byValue.values()].slice(0, 3)) {
        const filter = { [name]: valueIn(row) };
        const expected = await model(list, filter, 'DESC');
        const page = await pageOf(list, { first: 100, filter });
        expect({ filter, found: idsOf(page) }).toEqual({ filter, found: expected.slice(0, 100) });
        expect(page.totalCount).toBe(expected.length);
        // The platform's own account has no customer to filter by, and a filter never matches a row that has no value.
        if (!row.is_deleted && row.customer_id !== null && matches(row, valueIn(row)))
          expect(expected).toContain(`${list.idType(row)}:${row.id}`);
      }
    }
  });
});

test('a page has 20 rows by default, and two nested lists of the same field keep their own arguments', async () => {
  const accounts = lists.find(({ name }) => name === 'accounts') ?? expect.fail('no accounts');
  expect((await pageOf(accounts, {})).edges).toHaveLength(20);
  const owner = scenes[0]?.customerId;
  const { customer: found } = await t.platform.ask(
    `query ($owner: ID!) { customer(id: $owner) {
       out: transactions(first: 3, filter: { type: OUTGOING }) { edges { node { type } } totalCount }
       in: transactions(last: 2, sortOrder: ASC, filter: { type: [INCOMING] }) { edges { node { type } } totalCount } } }`,
    { owner },
  );
  expect(found.out.edges.map((edge: Data) => edge.node.type)).toEqual(['OUTGOING', 'OUTGOING', 'OUTGOING']);
  expect(found.in).toEqual({ edges: Array(2).fill({ node: { type: 'INCOMING' } }), totalCount: 4 });
});

test('when sorted by last change, ascending pages miss no rows, and descending pages repeat none', async () => {
  const customers = lists.find(({ name }) => name === 'customers') ?? expect.fail('no customers');
  const change = (id: string) => t.owner.query('update customer set tax_id = tax_id where id = $1', [uuidIn(id)]);
  for (const sortOrder of ['ASC', 'DESC']) {
    const all = await model(customers, {}, sortOrder, undefined, 'UPDATED');
    // The first rows of pages one and two change after they are read. The very last row changes after page one.
    const [last] = all.slice(-1);
    const changed: string[] = [];
    const seen: string[] = [];
    let after: string | undefined;
    for (let pages = 0; ; pages++) {
      const page: Data = await pageOf(customers, { first: 2, after, sortOrder, orderBy: 'UPDATED' });
      const ids = idsOf(page);
      seen.push(...ids);
      after = page.pageInfo.endCursor;
      if (!page.pageInfo.hasNextPage) break;
      if (pages < 2) {
        changed.push(ids[0] ?? '', ...(pages === 0 && last ? [last] : []));
        for (const id of changed.slice(-2)) await change(id);
      }
    }
    const met = (id: string) => seen.filter((one) => one === id).length;
    if (sortOrder === 'ASC') {
      expect(new Set(seen)).toEqual(new Set(all));
      // A row that changes after it was read is read again in its new state.
      for (const id of all.slice(0, 4)) expect([id, met(id)]).toEqual([id, changed.includes(id) ? 2 : 1]);
      expect(seen.slice(-changed.length).toSorted()).toEqual(changed.toSorted());
    } else {
      expect(seen.filter((id) => met(id) > 1)).toEqual([]);
      expect(all.filter((id) => !seen.includes(id))).toEqual([last]);
    }
  }
});
