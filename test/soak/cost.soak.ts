import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentBudget } from '../../src/api/graphql/limits/budget.ts';
import { measureDocument } from '../../src/api/graphql/limits/document-size.ts';
import { requestsForCost } from '../../src/api/graphql/server/operations.ts';
import { schema } from '../../src/api/graphql/server/schema.ts';
import { type OracleWorld, openWorld } from '../oracle/world.ts';
import { connect, type Data, type TestGateway, type TestPlatform, withoutTriggers } from '../setup/gateway.ts';
import { emptyTables, fillerId, fillTables, type Parents, type Size } from '../setup/plans.ts';
import { type Asked, askedFields } from './cost/documents.ts';

/** Fills a platform with the given number of rows of each kind, and returns their parents. */
async function fillPlatform(t: TestGateway, platform: TestPlatform, rows: number): Promise<Parents> {
  const [payment, customer, account, endpoint, internal, quote] = await Promise.all(
    [
      'transactions(first: 100, filter: { status: [COMPLETED], type: [OUTGOING] }) { edges { node { id quote { id } } } }',
      'customers(first: 1) { edges { node { id } } }',
      'accounts(first: 1, filter: { status: [ACTIVE], accountType: [US_ACCOUNT] }) { edges { node { id } } }',
      'webhookEndpoints(first: 1) { edges { node { id deliveries(first: 1) { edges { node { id } } } } } }',
      'accounts(first: 1, filter: { kind: INTERNAL }) { edges { node { id } } }',
      'quotes(first: 1) { edges { node { id } } }',
    ].map(async (list) => (await platform.ask(`{ page: ${list} }`)).page.edges.map(({ node }: Data) => node)),
  );
  // All rows belong to a single parent.
  const parents: Parents = {
    Customer: customer[0].id,
    InternalAccount: internal[0].id,
    ExternalAccount: account[0].id,
    WebhookEndpoint: endpoint[0].id,
  };
  const templates = {
    transactionId: payment.find(({ quote }: Data) => quote === null).id,
    quoteId: quote[0].id,
    deliveryId: endpoint[0].deliveries.edges[0].node.id,
    parents: { many: parents, few: parents, none: parents, most: parents } satisfies Record<Size, Parents>,
  };
  await fillTables(t, templates, rows, undefined, columnsOf(rows));
  await fillFeed(t, platform, rows);
  // Every table is analyzed, because without statistics Postgres would scan small tables sequentially.
  await t.owner.query('vacuum analyze');
  // Turns parallel workers off, because their time would not be counted.
  await t.owner.query(`do $$ begin
    execute format('alter database %I set max_parallel_workers_per_gather = 0', current_database());
  end $$`);
  return parents;
}

/** Returns the columns in which the older and the newer half of the rows differ (cost/documents.ts). */
function columnsOf(rows: number) {
  const half = (older: string, newer: string) => `case when i <= ${rows / 2} then ${older} else ${newer} end`;
  return {
    transaction: {
      status: half(`'COMPLETED'`, `'EXPIRED'`),
      type: half(`'INCOMING'`, `'OUTGOING'`),
      failure_reason: half(`'OFFRAMP_FAILED'`, `'QUOTE_EXPIRED'`),
      sent_currency: half(`'USD'`, `'EUR'`),
      received_currency: half(`'USD'`, `'EUR'`),
      quote_id: half('null', 'gen_random_uuid()'),
    },
    quote: { status: half(`'FAILED'`, `'EXPIRED'`) },
    customer: {
      kyc_status: half(`'REJECTED'`, `'APPROVED'`),
      customer_type: half(`'BUSINESS'`, `'INDIVIDUAL'`),
      name: half(`'Old ' || i`, `'New ' || i`),
    },
    account: {
      currency: half(`'EUR'`, `'USD'`),
      status: half(`'UNDER_REVIEW'`, `'ACTIVE'`),
      account_type: half(`'PIX'`, `'US_ACCOUNT'`),
      beneficiary_verification_status: half(`'NOT_MATCHED'`, `'MATCHED'`),
    },
  };
}

/** Inserts copies of a customer change before the feed's first event. */
async function fillFeed(t: TestGateway, { platformId }: TestPlatform, rows: number): Promise<void> {
  await withoutTriggers(t.databaseUrl, (client) =>
    client.query(
      `insert into stored_event select r.* from stored_event e, generate_series(1, ${rows}) i, lateral jsonb_populate_record(e, jsonb_build_object(
         'id', ${fillerId}, 'sequence', i - ${rows + 1},
         'type', case when i <= ${rows / 2} then 'KYC_STATUS' else 'CUSTOMER_CHANGE' end)) r
       where e.platform_id = $1 and e.sequence = (select min(sequence) from stored_event where platform_id = $1 and type = 'KYC_STATUS')`,
      [platformId],
    ),
  );
}

/** Deletes the rows that `fillPlatform` has written, so that the auditor finds the ledger as it was before. */
async function emptyPlatform(t: TestGateway): Promise<void> {
  await emptyTables(t);
  await withoutTriggers(t.databaseUrl, (client) => client.query('delete from stored_event where sequence < 0'));
}

/** Measures the processor time of a gateway's database sessions during the work, in microseconds. */
async function processorTime(t: TestGateway, work: () => Promise<unknown>): Promise<number> {
  for (;;) {
    const before = await sessions(t);
    await work();
    const after = await sessions(t);
    // The time of a session that has ended is unknown, so the work is measured again.
    if ([...before.keys()].every((pid) => after.has(pid))) {
      const nanoseconds = [...after].reduce((sum, [pid, taken]) => sum + taken - (before.get(pid) ?? 0), 0);
      if (nanoseconds > 0) return nanoseconds / 1_000;
    }
  }
}

async function sessions({ owner }: TestGateway): Promise<Map<number, number>> {
  const { rows } = await owner.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where datname = current_database() and usename <> current_user and backend_type = 'client backend'`,
  );
  const taken = new Map<number, number>();
  for (const { pid } of rows) {
    const path = `/proc/${pid}/schedstat`;
    if (existsSync(path)) taken.set(pid, Number(readFileSync(path, 'utf8').split(' ', 1)[0]));
  }
  return taken;
}

// What is compared, and why:
//
// - The time is the processor time of Postgres' processes. Waiting for a processor does not count.
// - The price is what the limits count: whole requests (docs/limits.md).
// - A document's time is the median of five runs, which follow seven others so that Postgres has already planned the
//   statement and keeps the plan. If the result is over the limit, the document is measured again, and the median of
//   fifteen runs counts, whether it is lower or higher.
// - The median is taken over the fields without filters, each counted once. Combinations of filters are far more
//   numerous, and are priced for the worst rows. Including them would make the median lower and less meaningful.
// - Examining all rows takes some twenty milliseconds, a hundred times as long as reading a page. Each row has the
//   values of one half (cost/documents.ts), so a filter on one value matches half of the rows, and one that combines
//   values from both halves matches none.

/** How many rows of each kind the platform has. */
const rows = Number(process.env.COST_ROWS ?? 30_000);
/** The highest allowed ratio of a document's time per unit of price to the median. */
const limit = 5;

let world: OracleWorld;
let platform: TestPlatform;
let parents: Parents;
beforeAll(async () => {
  world = await openWorld();
  const [caller] = world.callers;
  if (!caller) throw new Error('nobody asks');
  platform = connect(world.gateway.url, caller.platformId, caller.authorization);
  parents = await fillPlatform(world.gateway, platform, rows);
}, 1_800_000);
afterAll(async () => {
  await emptyPlatform(world.gateway);
  await world.close();
}, 1_800_000);

interface Measured {
  readonly name: string;
  readonly query: string;
  readonly cost: number;
  readonly time: number;
}

const costOf = (query: string) => measureDocument({ schema, document: parse(query) }).size.cost;

/** Writes a document that selects the field as often as the limits allow, on twenty rows if possible. */
function largest({ document }: Asked): string {
  for (const of of [20, 2, 1])
    for (let times: number = documentBudget.aliases; times > 0; times -= 1)
      if (costOf(document(times, of)) <= documentBudget.cost) return document(times, of);
  return document(1, 1);
}

async function measure(query: string, times: number): Promise<number> {
  for (let planned = 0; planned < 7; planned += 1) await platform.ask(query);
  const taken: number[] = [];
  while (taken.length < times) taken.push(await processorTime(world.gateway, () => platform.ask(query)));
  return middle(taken);
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const forPrice = ({ time, cost }: Measured) => time / requestsForCost(cost);

test('no field or filter takes Postgres more than five times the median time for its price', async () => {
  const measured: Measured[] = [];
  const refused: string[] = [];
  for (const asked of askedFields(schema, world.material[0], parents)) {
    const query = largest(asked);
    try {
      measured.push({ name: asked.name, query, cost: costOf(query), time: await measure(query, 5) });
    } catch (error) {
      refused.push(`${query}: ${error}`);
    }
  }
  const median = middle(measured.filter(({ name }) => !name.includes('(')).map(forPrice));
  for (const [at, one] of measured.entries())
    if (forPrice(one) > limit * median) measured[at] = { ...one, time: await measure(one.query, 15) };
  const dearest = measured.toSorted((a, b) => forPrice(b) - forPrice(a));
  const line = (one: Measured) =>
    `${(forPrice(one) / median).toFixed(2)} times the median: ${one.name} (cost ${one.cost}, ${(one.time / 1_000).toFixed(1)} ms)`;
  console.log(
    `${measured.length} documents; the median field without a filter takes ${median.toFixed(0)} µs for each request that it counts as`,
  );
  for (const one of dearest.slice(0, 10)) console.log(line(one));
  if (process.env.COST_FIGURES) writeFileSync(process.env.COST_FIGURES, dearest.map(line).join('\n'));
  expect(refused).toEqual([]);
  expect(dearest.filter((one) => forPrice(one) > limit * median).map(line)).toEqual([]);
});
