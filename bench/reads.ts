import pg from 'pg';
import { cursors } from './gateway.ts';
import type { Prepared } from './prepare.ts';

/** A read as each contestant performs it: the same rows, fields, page and order. */
export interface ReadCase {
  readonly name: string;
  /** A document, and the variables that successive requests cycle through. */
  readonly gateway: { readonly query: string; readonly variables: readonly object[] };
  readonly postgraphile: { readonly query: string; readonly variables: readonly object[] };
  /** A statement that returns exactly the gateway's JSON in a column named `json`. */
  readonly sql: string;
  readonly values: readonly (readonly unknown[])[];
}

const fields = `id status type version sentAmount { amount currency { code } } receivedAmount { amount }
  reconciliationReference description createdAt customer { id platformCustomerId umaAddress }`;
const peerFields = `rowId status type version sentAmount sentCurrency receivedAmount reference description createdAt
  customerByPlatformIdAndCustomerId { rowId platformCustomerId umaAddress }`;

const moment = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const transactionJson = (
  t: string,
  customer: string,
) => `json_build_object('id', 'Transaction:' || ${t}.id, 'status', ${t}.status,
  'type', ${t}.type, 'version', ${t}.version,
  'sentAmount', json_build_object('amount', ${t}.sent_amount::text, 'currency', json_build_object('code', ${t}.sent_currency)),
  'receivedAmount', json_build_object('amount', ${t}.received_amount::text), 'reconciliationReference', ${t}.reference,
  'description', ${t}.description, 'createdAt', ${moment(`${t}.created_at`)},
  'customer', json_build_object('id', 'Customer:' || ${customer}.id, 'platformCustomerId', ${customer}.platform_customer_id,
    'umaAddress', ${customer}.uma_address))`;

/** Returns the SQL for a page of transactions as the gateway's JSON. $1 is the platform; `where` can use $2 and up. */
const pageSql = (where: string, order: 'desc' | 'asc' = 'desc') => `
  with page as materialized (
    select * from transaction t where t.platform_id = $1 ${where} order by t.id ${order} limit 21
  ), shown as (select * from page order by id ${order} limit 20)
  select json_build_object('data', json_build_object('transactions', json_build_object(
    'edges', coalesce((select json_agg(json_build_object('node', ${transactionJson('s', 'c')}) order by s.id desc)
      from shown s join customer c on c.platform_id = s.platform_id and c.id = s.customer_id), '[]'::json),
    'pageInfo', json_build_object('endCursor', (select translate(encode(convert_to('Transaction:' || right($1::uuid::text, 12) || ':' || id, 'utf8'), 'base64'), E'+/=\\n', '-_') from shown order by id limit 1)
      ${order === 'desc' ? `, 'hasNextPage', (select count(*) > 20 from page)` : `, 'hasPreviousPage', (select count(*) > 20 from page)`}))))::text as json`;

/**
 * Returns the digest by which PostGraphile's cursors identify their order: the first part of each cursor.
 * @param url the peer's URL
 */
export async function peerOrderOf(url: string, platformId: string): Promise<string> {
  const query = `{ allTransactions(first: 1, condition: { platformId: "${platformId}" }, orderBy: [PRIMARY_KEY_DESC]) { edges { cursor } } }`;
  const headers = { 'content-type': 'application/json' };
  const { data } = await (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) })).json();
  const [order] = JSON.parse(Buffer.from(data.allTransactions.edges[0].cursor, 'base64').toString());
  return order;
}

/** The measured reads. Each cycles through 200 different rows, so that the responses differ. */
export async function readCases(prepared: Prepared, peerOrder = ''): Promise<readonly ReadCase[]> {
  const { platformId, customers, transactions } = prepared;
  const client = new pg.Client({ connectionString: prepared.url, options: '-c timezone=UTC' });
  await client.connect();
  const depth = Math.floor(transactions * 0.8);
  const { rows } = await client.query<{ id: string; deep: string; customer: string; from: string; to: string }>(
    `select bench.transfer((n * 7919) % $1) as id, bench.transfer($1 - $2 - n) as deep, bench.owned(1, (n * 31) % $3) as customer,
       bench.time(bench.at($1 / 4)) as from, bench.time(bench.at($1 * 3 / 4)) as to from generate_series(1::bigint, 200) n`,
    [transactions, depth, customers],
  );
  await client.end();
  const each = <T>(make: (row: (typeof rows)[number]) => T) => rows.map(make);
  const dates = { from: new Date(rows[0]?.from ?? 0), to: new Date(rows[0]?.to ?? 0) };
  const idAt = (date: Date, fill: string) =>
    date
      .getTime()
      .toString(16)
      .padStart(12, '0')
      .padEnd(32, fill)
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

  const page = `pageInfo { endCursor hasNextPage }`;
  const list = `query ($after: String) { transactions(first: 20, after: $after) { edges { node { ${fields} } } ${page} } }`;
  const peerList = (args: string, info = page) =>
    `allTransactions(${args}, condition: { platformId: "${platformId}" }, orderBy: [PRIMARY_KEY_DESC]) { edges { node { ${peerFields} } } ${info} }`;
  // PostGraphile's cursor for a position in the order given by the primary key, which has two columns.
  const peerCursor = (id: string) => Buffer.from(JSON.stringify([peerOrder, platformId, id])).toString('base64');

  return [
    {
      name: 'one node by id',
      gateway: {
        query: `query ($id: ID!) { node(id: $id) { ... on Transaction { ${fields} } } }`,
        variables: each(({ id }) => ({ id: `Transaction:${id}` })),
      },
      postgraphile: {
        query: `query ($id: UUID!) { transactionByPlatformIdAndRowId(platformId: "${platformId}", rowId: $id) { ${peerFields} } }`,
        variables: each(({ id }) => ({ id })),
      },
      sql: `select json_build_object('data', json_build_object('node', ${transactionJson('t', 'c')}))::text as json
        from transaction t join customer c on c.platform_id = t.platform_id and c.id = t.customer_id where t.platform_id = $1 and t.id = $2`,
      values: each(({ id }) => [platformId, id]),
    },
    {
      name: '20 transactions with customer',
      gateway: { query: list, variables: [{}] },
      postgraphile: { query: `{ ${peerList('first: 20')} }`, variables: [{}] },
      sql: pageSql(''),
      values: [[platformId]],
    },
    {
      name: '20 filtered by status, customer, dates',
      gateway: {
        query: `query ($filter: TransactionFilter!) { transactions(first: 20, filter: $filter) { edges { node { ${fields} } } ${page} } }`,
        variables: each(({ customer }) => ({
          filter: {
            customerId: `Customer:${customer}`,
            status: ['COMPLETED'],
            createdAfter: dates.from.toISOString(),
            createdBefore: dates.to.toISOString(),
          },
        })),
      },
      postgraphile: {
        query: `query ($customer: UUID!) { benchTransactionsOf(customer: $customer, ofStatus: COMPLETED, fromId: "${idAt(dates.from, '0')}", toId: "${idAt(dates.to, 'f')}", first: 20) { edges { node { ${peerFields} } } ${page} } }`,
        variables: each(({ customer }) => ({ customer })),
      },
      sql: pageSql(`and t.customer_id = $2 and t.status = 'COMPLETED' and t.id >= $3 and t.id <= $4`),
      values: each(({ customer }) => [platformId, customer, idAt(dates.from, '0'), idAt(dates.to, 'f')]),
    },
    {
      name: '10 customers × 5 accounts × 5 transactions',
      gateway: {
        query: `{ customers(first: 10) { edges { node { id platformCustomerId umaAddress
          accounts(first: 5) { edges { node { id currency { code } } } }
          transactions(first: 5) { edges { node { id status sentAmount { amount } createdAt } } } } } } }`,
        variables: [{}],
      },
      postgraphile: {
        query: `{ allCustomers(first: 10, condition: { platformId: "${platformId}" }, orderBy: [PRIMARY_KEY_DESC]) { edges { node { rowId platformCustomerId umaAddress
          accountsByPlatformIdAndCustomerId(first: 5, orderBy: [PRIMARY_KEY_DESC]) { edges { node { rowId kind currency } } }
          transactionsByPlatformIdAndCustomerId(first: 5, orderBy: [PRIMARY_KEY_DESC]) { edges { node { rowId status sentAmount createdAt } } } } } } }`,
        variables: [{}],
      },
      sql: `select json_build_object('data', json_build_object('customers', json_build_object('edges', json_agg(json_build_object('node',
          json_build_object('id', 'Customer:' || c.id, 'platformCustomerId', c.platform_customer_id, 'umaAddress', c.uma_address,
            'accounts', json_build_object('edges', (select json_agg(json_build_object('node', json_build_object(
                'id', case a.kind when 'INTERNAL' then 'InternalAccount:' else 'ExternalAccount:' end || a.id, 'currency', json_build_object('code', a.currency))) order by a.id desc)
              from (select * from account a where a.platform_id = c.platform_id and a.customer_id = c.id order by a.id desc limit 5) a)),
            'transactions', json_build_object('edges', (select json_agg(json_build_object('node', json_build_object(
                'id', 'Transaction:' || t.id, 'status', t.status, 'sentAmount', json_build_object('amount', t.sent_amount::text), 'createdAt', ${moment('t.created_at')})) order by t.id desc)
              from (select * from transaction t where t.platform_id = c.platform_id and t.customer_id = c.id order by t.id desc limit 5) t)))) order by c.id desc))))::text as json
        from (select * from customer where platform_id = $1 and not is_deleted order by id desc limit 10) c`,
      values: [[platformId]],
    },
    {
      name: `page at depth ${depth}, forwards`,
      gateway: {
        query: list,
        variables: each(({ deep }) => ({ after: cursors.write('Transaction', platformId, deep) })),
      },
      postgraphile: {
        query: `query ($after: Cursor) { ${peerList('first: 20, after: $after')} }`,
        variables: each(({ deep }) => ({ after: peerCursor(deep) })),
      },
      sql: pageSql('and t.id < $2'),
      values: each(({ deep }) => [platformId, deep]),
    },
    {
      name: `page at depth ${depth}, backwards`,
      gateway: {
        query: `query ($before: String) { transactions(last: 20, before: $before) { edges { node { ${fields} } } pageInfo { endCursor hasPreviousPage } } }`,
        variables: each(({ deep }) => ({ before: cursors.write('Transaction', platformId, deep) })),
      },
      postgraphile: {
        query: `query ($before: Cursor) { ${peerList('last: 20, before: $before', 'pageInfo { endCursor hasPreviousPage }')} }`,
        variables: each(({ deep }) => ({ before: peerCursor(deep) })),
      },
      sql: pageSql('and t.id > $2', 'asc'),
      values: each(({ deep }) => [platformId, deep]),
    },
    {
      name: "totalCount of a customer's transactions",
      gateway: {
        query: `query ($filter: TransactionFilter!) { transactions(first: 1, filter: $filter) { totalCount } }`,
        variables: each(({ customer }) => ({ filter: { customerId: `Customer:${customer}` } })),
      },
      postgraphile: {
        query: `query ($customer: UUID!) { allTransactions(first: 1, condition: { platformId: "${platformId}", customerId: $customer }) { totalCount } }`,
        variables: each(({ customer }) => ({ customer })),
      },
      sql: `select json_build_object('data', json_build_object('transactions', json_build_object('totalCount', count(*))))::text as json
        from transaction where platform_id = $1 and customer_id = $2`,
      values: each(({ customer }) => [platformId, customer]),
    },
  ];
}

/** Turns a read into documents that have never been sent before: each has a different alias for its root field. */
export function neverAsked({ query, variables }: ReadCase['gateway']): readonly string[] {
  const [whole, name] = /\b(transactions|allTransactions)\(/.exec(query) ?? [];
  if (whole === undefined) throw new Error(`no list in ${query}`);
  const document = query.replace(whole, `${name}_%KEY%: ${whole}`);
  return variables.map((each) => JSON.stringify({ query: document, variables: each }));
}
