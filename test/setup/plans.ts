import pg from 'pg';
import { expect } from 'vitest';
import { asPlatform } from '../../src/infra/database/connections/platform-scope.ts';
import { prepareValue } from '../../src/infra/database/connections/platform-statement.ts';
import { createEndpoint, readEndpoint } from '../webhooks/endpoint.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { between, moving } from './acts.ts';
import { type Data, type TestGateway, uuidIn, withoutTriggers } from './gateway.ts';
import { base } from './rest.ts';
import { Statements } from './statements.ts';

export type FilledTable = (typeof filledTables)[number];
const filledTables = ['transaction', 'quote', 'customer', 'account', 'webhook_delivery', 'posting'] as const;

/** A query for a list, and the indexes that its plan must use. */
export interface PlanCase {
  readonly name: string;
  readonly table: FilledTable;
  /** The document, with `$id` if it names an object. */
  readonly query: string;
  readonly id?: 'account' | 'endpoint';
  /** The plan must use all of these indexes. */
  readonly indexes: readonly string[];
  /** Whether some values are so frequent or so rare that the statement must be planned for the actual value. */
  readonly isPlannedAnew: boolean;
}

const list = (field: string, args: string) => `{ ${field}(${args}) { edges { node { id } } } }`;

const amountIndexes = ['sent', 'received'].map((side) => `transaction_platform_id_${side}_currency_${side}_amount_idx`);
const changed = 'updatedAfter: "2001-01-01T00:00:00Z", updatedBefore: "2001-01-01T00:00:00.010Z"';

/** Filters that must be planned for the actual value, each with a rare value and the indexes that the plan must use. */
const filterCases: readonly (readonly [table: FilledTable, filter: string, ...indexes: readonly string[]])[] = [
  ['transaction', 'status: [REFUNDED]', 'transaction_platform_id_status_id_idx'],
  ['transaction', 'type: [INCOMING]', 'transaction_platform_id_type_id_idx'],
  ['transaction', 'failureReason: [OFFRAMP_FAILED]', 'transaction_failure_reason'],
  ['transaction', 'executed: true', 'transaction_begun'],
  ['transaction', 'currency: "JPY"', ...amountIndexes],
  ['transaction', 'amount: { currency: "USD", min: 500, max: 503 }', ...amountIndexes],
  ['transaction', changed, 'transaction_platform_id_updated_at_id_idx'],
  ['customer', 'kycStatus: [MANUALLY_REJECTED]', 'customer_platform_id_kyc_status_id_idx'],
  ['customer', 'name: "ZoË"', 'customer_platform_id_search_name_idx'],
  ['customer', changed, 'customer_platform_id_updated_at_id_idx'],
  ['account', 'status: [UNDER_REVIEW]', 'account_status'],
  ['account', 'accountType: [PIX]', 'account_account_type'],
  ['account', 'beneficiaryVerificationStatus: [NOT_MATCHED]', 'account_verification'],
];

const ofAccount = list('transactions', 'first: 20, filter: { accountId: $id }');
const failed = list('deliveries', 'first: 20, filter: { status: [FAILED] }');

export const planCases: readonly PlanCase[] = [
  ...filterCases.map(([table, filter, ...indexes]) => ({
    ...{ name: `${table}s of ${filter}`, table, indexes, isPlannedAnew: true },
    query: list(`${table}s`, `first: 20, filter: { ${filter} }`),
  })),
  {
    ...{ name: 'transactions of an account on either side', table: 'transaction', id: 'account', isPlannedAnew: false },
    query: `query ($id: ID!) ${ofAccount}`,
    indexes: ['source', 'destination'].map((side) => `transaction_platform_id_${side}_account_id_id_idx`),
  },
  {
    ...{ name: 'transactions by their last change', table: 'transaction', isPlannedAnew: false },
    query: list('transactions', 'first: 20, orderBy: UPDATED'),
    indexes: ['transaction_platform_id_updated_at_id_idx'],
  },
  {
    ...{ name: 'customers by their last change', table: 'customer', isPlannedAnew: false },
    query: list('customers', 'first: 20, orderBy: UPDATED, sortOrder: ASC'),
    indexes: ['customer_platform_id_updated_at_id_idx'],
  },
  {
    ...{ name: 'deliveries that have failed', table: 'webhook_delivery', id: 'endpoint', isPlannedAnew: false },
    query: `query ($id: ID!) { node(id: $id) { ... on WebhookEndpoint ${failed} } }`,
    indexes: ['webhook_delivery_undelivered'],
  },
];

/** How many rows of each table belong to a parent. `most` means nearly all of them. */
export type Size = 'many' | 'few' | 'none' | 'most';

/** The public ids of the parents of one size, by type. */
export type Parents = Readonly<Record<'Customer' | 'InternalAccount' | 'ExternalAccount' | 'WebhookEndpoint', string>>;

/** The rows that are copied to fill the tables. */
export interface Templates {
  readonly transactionId: string;
  readonly quoteId: string;
  readonly deliveryId: string;
  readonly parents: Readonly<Record<Size, Parents>>;
}

/** Creates the rows that `fillTables` copies, and parents of every size. */
export async function makePlanScene({ platform }: TestGateway) {
  const receiver = await startReceiver();
  const made = async (size: Size): Promise<Parents> => {
    const { customerId, usd, outsideUsd } = await platform.makeScene(size === 'none' ? 0n : 1_000_000n);
    const { id } = await createEndpoint(platform, { url: receiver.url, eventTypes: ['TEST'] });
    return { Customer: customerId, InternalAccount: usd, ExternalAccount: outsideUsd, WebhookEndpoint: id };
  };
  const parents = {
    many: await made('many'),
    few: await made('few'),
    none: await made('none'),
    most: await made('most'),
  };
  const { InternalAccount: usd, ExternalAccount: outsideUsd, WebhookEndpoint: endpoint } = parents.most;
  const { transaction } = await platform.succeed('transferOut', moving(usd, outsideUsd, 100), 'transaction { id }');
  const quoted = await platform.quote(between(usd, outsideUsd, 1_000));
  await platform.succeed('sendTestWebhook', { endpointId: endpoint });
  const [delivery] = (await readEndpoint(platform, endpoint)).deliveries;
  return {
    ids: { account: usd, endpoint },
    templates: { transactionId: transaction.id, quoteId: quoted.id, deliveryId: delivery.id, parents },
    close: () => receiver.stop(),
  };
}

/**
 * How to fill a table: the row to copy, and SQL expressions for the columns that differ, in which `i` is the copy's
 * number. Each rare value occurs once in every `:rare` rows.
 */
interface Filling {
  readonly table: FilledTable;
  readonly copied: string;
  readonly columns: Readonly<Record<string, string>>;
}

/** The column that identifies a table's filler rows. */
const keyOf = (table: FilledTable) => (table === 'posting' ? 'journal_id' : 'id');

const rareOr = (at: number, rare: string, other: string) =>
  `case when i % :rare = ${at} then ${rare} else ${other} end`;
const changedAt = `now() - (i::bigint * 7919 % 1000003) * interval '1 second'`;

/** @param step one row in every `step` belongs to the `many` parents */
function fillingsOf({ transactionId, quoteId, deliveryId, parents }: Templates, step: number): readonly Filling[] {
  /** Returns the SQL for a row's parent of the given type. The oldest three rows belong to the `few` parent. */
  const parent = (type: keyof Parents, other = `'${uuidIn(parents.most[type])}'`) =>
    `case when i <= 3 then '${uuidIn(parents.few[type])}' when i % ${step} = 0 then '${uuidIn(parents.many[type])}' else ${other} end`;
  // Every other payment is incoming.
  const isIncoming = `i / ${step} % 2 = 1 or i = 2`;
  const source = `case when ${isIncoming} then (${parent('ExternalAccount')}) else (${parent('InternalAccount')}) end`;
  const destination = `case when ${isIncoming} then (${parent('InternalAccount')}) else (${parent('ExternalAccount')}) end`;
  const account = uuidIn(parents.most.InternalAccount);
  return [
    {
      table: 'transaction',
      copied: `t.id = '${uuidIn(transactionId)}'`,
      columns: {
        customer_id: parent('Customer'),
        reference: `'filler-' || i`,
        status: rareOr(3, `'REFUNDED'`, `'EXPIRED'`),
        quote_id: `case when i % :rare <> 3 then gen_random_uuid() end`,
        failure_reason: rareOr(4, `'OFFRAMP_FAILED'`, `'QUOTE_EXPIRED'`),
        type: rareOr(5, `'INCOMING'`, `'OUTGOING'`),
        sent_currency: rareOr(6, `'JPY'`, `'USD'`),
        received_currency: rareOr(7, `'JPY'`, `'USD'`),
        sent_amount: '1000 + i',
        received_amount: '1000 + i',
        refund_reference: `'filler'`,
        refund_amount: '1',
        refund_initiated_at: 'now()',
        refund_settled_at: 'now()',
        source_account_id: rareOr(8, 'null', source),
        destination_account_id: destination,
        // The rows were last changed at different times, and not in the order in which they were created.
        updated_at: changedAt,
        description: `'filler'`,
      },
    },
    {
      table: 'quote',
      copied: `t.id = '${uuidIn(quoteId)}'`,
      columns: {
        customer_id: parent('Customer'),
        transaction_id: 'gen_random_uuid()',
        status: rareOr(3, `'FAILED'`, `'EXPIRED'`),
        source_account_id: source,
        destination_account_id: destination,
        updated_at: changedAt,
      },
    },
    {
      table: 'customer',
      copied: `t.id = '${uuidIn(parents.most.Customer)}'`,
      columns: {
        platform_customer_id: `'filler-' || i`,
        uma_address: `'$filler' || i || '@nobody.example'`,
        kyc_status: rareOr(3, `'MANUALLY_REJECTED'`, `'APPROVED'`),
        name: `case when i % :rare = 4 then 'Zoë ' else 'Name ' end || i`,
        updated_at: changedAt,
      },
    },
    {
      table: 'account',
      copied: `t.id = '${uuidIn(parents.most.ExternalAccount)}'`,
      columns: {
        customer_id: parent('Customer'),
        identifier: `'filler-' || i`,
        status: rareOr(3, `'UNDER_REVIEW'`, `'ACTIVE'`),
        account_type: rareOr(4, `'PIX'`, `'US_ACCOUNT'`),
        beneficiary_verification_status: rareOr(5, `'NOT_MATCHED'`, `'MATCHED'`),
      },
    },
    {
      table: 'webhook_delivery',
      copied: `t.id = '${uuidIn(deliveryId)}'`,
      columns: {
        endpoint_id: parent('WebhookEndpoint'),
        event_sequence: '1000000000 + i',
        status: rareOr(3, `'FAILED'`, `'DELIVERED'`),
        next_attempt_at: 'null',
        leased_until: 'null',
      },
    },
    {
      table: 'posting',
      copied: `t.account_id = '${account}' and t.account_version = (select min(account_version) from posting where account_id = '${account}')`,
      columns: { account_id: parent('InternalAccount'), account_version: '1000 + i' },
    },
  ];
}

/** Filler rows have ids with timestamps from December 1999, unlike all other rows. */
export const fillerId = `('00dc' || lpad(to_hex(i), 8, '0') || '7000' || '8000' || lpad(to_hex(i), 12, '0'))::uuid`;
const isFiller = (table: FilledTable) => `${keyOf(table)} < '00dd0000-0000-0000-0000-000000000000'`;

/** Returns the number of rows that belong to each of the `many` parents. */
export const manyOf = (rows: number) => Math.min(rows / 10, 2_000);

/**
 * Fills the tables behind the lists with copies of rows, a few of which have a rare value, and updates the planner's
 * statistics. Triggers and foreign keys are disabled while the tables are filled.
 * @param rows how many rows each table gets
 * @param as how many rows the planner should assume, if different
 * @param others columns that replace or extend the usual ones, by table
 */
export async function fillTables(
  t: TestGateway,
  templates: Templates,
  rows: number,
  as?: number,
  others: Partial<Record<FilledTable, Readonly<Record<string, string>>>> = {},
): Promise<void> {
  const fillings = fillingsOf(templates, rows / manyOf(rows));
  await withoutTriggers(t.databaseUrl, async (client) => {
    for (const { table, copied, columns } of fillings) {
      const changed = Object.entries({ [keyOf(table)]: fillerId, ...columns, ...others[table] }).map(
        ([column, sql]) => `'${column}', ${sql}`,
      );
      const rare = String(Math.max(Math.min(rows, 3_000), Math.floor(rows / 100)));
      await client.query(`alter table ${table} set (autovacuum_enabled = off)`);
      await client.query(
        `insert into ${table} select r.* from ${table} t, generate_series(1, ${rows}) i,
           lateral jsonb_populate_record(t, jsonb_build_object(${changed.join(', ').replaceAll(':rare', rare)})) r
         where ${copied}`,
      );
    }
  });
  for (const table of filledTables) {
    await t.owner.query(`${as === undefined ? 'vacuum ' : ''}analyze ${table}`);
    if (as === undefined) continue;
    // The planner derives the row density from this count, and multiplies it by the table's number of pages.
    await t.owner.query('update pg_class set reltuples = $1 where oid = $2::regclass', [as, table]);
  }
}

/** Describes how many bytes each index takes per table row. */
export async function indexSizes({ owner }: TestGateway, rows: number): Promise<string[]> {
  const { rows: sizes } = await owner.query<{ name: string; bytes: string }>(
    `select indexrelid::regclass::text as name, pg_relation_size(indexrelid)::text as bytes from pg_index
     where indrelid = any($1::regclass[])
     order by indrelid, indexrelid`,
    [filledTables],
  );
  return sizes.map(({ name, bytes }) => `${name}: ${(Number(bytes) / rows).toFixed(1)} bytes a row`);
}

/** Deletes the rows that `fillTables` has written, so that the auditor finds the ledger as it was. */
export async function emptyTables(t: TestGateway): Promise<void> {
  await withoutTriggers(t.databaseUrl, async (client) => {
    for (const table of filledTables) await client.query(`delete from ${table} where ${isFiller(table)}`);
  });
}

/**
 * Sends a GraphQL query or a REST request twice, and describes the plan that its statement gets under the gateway's
 * role: the indexes, the number of table rows read (including those that a filter removed), and the kind of plan.
 */
export async function planOf(t: TestGateway, { query, table }: Pick<PlanCase, 'query' | 'table'>, variables: object) {
  const { serving } = t.gateway;
  const { authorization } = t.platform;
  const ask = async () =>
    query.startsWith('/')
      ? expect((await fetch(`${t.url}${base}${query}`, { headers: { authorization } })).status).toBe(200)
      : t.platform.ask(query, variables);
  // A statement is not given a name until it is sent for the second time.
  await ask();
  const { sent } = await Statements.of(serving.pool).during(ask);
  const statement = sent.find(({ text }) => text.includes(`"${table}"`));
  if (!statement) throw new Error(`no statement reads ${table}`);
  // A named statement is, or can be, planned once for all values.
  const isPlannedAnew = (statement.name ?? '') === '';
  const mode = `set local plan_cache_mode = force_${isPlannedAnew ? 'custom' : 'generic'}_plan`;
  const literals = (statement.values ?? []).map((value) =>
    value === null ? 'null' : pg.escapeLiteral(`${prepareValue(value)}`),
  );
  const values = literals.length > 0 ? `(${literals.join(', ')})` : '';
  const explain = `explain (format json, analyze, timing off) execute planned${values}`;
  const rows = await asPlatform(t.platform.platformId, async () => {
    const client = await serving.pool.connect();
    try {
      for (const text of ['begin', mode, `prepare planned as ${statement.text}`]) await client.query(text);
      return (await client.query<Data>(explain)).rows;
    } finally {
      client.release(true);
    }
  });
  const indexes: string[] = [];
  let rowsRead = 0;
  const walk = (node: Data): void => {
    if (node['Index Name']) indexes.push(node['Index Name']);
    if (node['Relation Name'] === table) {
      const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
      rowsRead += ((node['Actual Rows'] ?? 0) + removed) * (node['Actual Loops'] ?? 1);
    }
    for (const child of node.Plans ?? []) walk(child);
  };
  walk(rows[0]['QUERY PLAN'][0].Plan);
  return { indexes, rowsRead, isPlannedAnew, isPlannedOnce: statement.planning === 'once' };
}
