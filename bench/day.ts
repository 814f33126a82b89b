import { readdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { basicAuthorization } from '../src/domain/access/tokens/credentials.ts';
import { audit } from '../src/domain/ledger/audit.ts';
import { startEmbeddedPostgres } from '../src/infra/database/embedded/embedded.ts';
import { drained } from './drained.ts';
import { startGateway } from './gateway.ts';
import type { RequestJob } from './load/requests.ts';
import { measure, memoryOf, postgres, type Result, requests, type Server } from './measure.ts';
import { credentials, type Prepared, prepare } from './prepare.ts';
import { readCases } from './reads.ts';
import { machine } from './report.ts';
import { writesOf } from './writes.ts';

/**
 * `npm run bench:day`: runs a large installation under a day's mixed load, with each hour compressed into a minute. The
 * load peaks at noon, at a set share of the installation's capacity. Autovacuum looks for work every second instead of
 * every minute. Prints how memory, handles and latencies change, how the database grows, what autovacuum does, the most
 * expensive statements with their plans, and the indexes that no statement used.
 */
const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '2000000' },
    hours: { type: 'string', default: '24' },
    share: { type: 'string', default: '0.6' },
    'data-dir': { type: 'string', default: path.join(import.meta.dirname, '.data') },
  },
});
const dataDir = path.resolve(options['data-dir']);
const headers = { authorization: basicAuthorization(credentials), 'content-type': 'application/json' };
/** The length of a simulated hour, and of the capacity measurement. */
const hourMs = 60_000;
const capacityMs = 30_000;

/** Returns an hour's load as a share of the peak load: a fifth at midnight, all of it at noon. */
const busyAt = (hour: number) => 0.6 - 0.4 * Math.cos((hour / 12) * Math.PI);

/** The parts of the load, each with its own connections. */
type Loads = Readonly<Record<string, RequestJob>>;

const tablesText = `
  select relname as name, pg_table_size(relid) / 1000000 as rows, pg_indexes_size(relid) / 1000000 as indexes, n_live_tup as live,
    n_dead_tup as dead, n_tup_upd as updated, n_tup_hot_upd as hot, autovacuum_count as vacuums, autoanalyze_count as analyzes,
    round(total_autovacuum_time) as "vacuum ms"
  from pg_stat_user_tables where n_tup_ins + n_tup_upd + n_tup_del > 0 order by 2 desc`;

const statementsText = (order: 'total_exec_time' | 'calls') => `
  select calls, round(mean_exec_time::numeric, 3) as ms,
    round((100 * total_exec_time / sum(total_exec_time) filter (where toplevel) over ())::numeric, 1) as percent,
    round((shared_blks_hit + shared_blks_read)::numeric / calls, 1) as buffers, round(shared_blks_read::numeric / calls, 3) as read,
    round(wal_bytes / calls) as wal, toplevel as top, query
  from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())
  order by ${order} desc limit 10`;

const unusedText = `
  select relname as table, indexrelname as index, pg_relation_size(indexrelid) / 1000000 as size
  from pg_stat_user_indexes where idx_scan = 0 and pg_relation_size(indexrelid) > 1000000 order by 3 desc`;

const server = await startWithStatistics();
postgres.pid = server.pid;
try {
  const prepared = await prepare(server.url, Number(options.rows), (line) => console.log(`preparing: ${line}`));
  const client = new pg.Client({ connectionString: prepared.url });
  await client.connect();
  await client.query('create extension if not exists pg_stat_statements');
  const gateway = await startGateway(prepared.url);
  const loads = await loadsOf(prepared, gateway);
  console.log(`${machine()}. ${prepared.transactions} payments, ${prepared.customers} customers.`);
  const most = await measureAll(loads, gateway, capacityMs);
  console.log(`The capacity: ${figures(most)}`);
  await drained(prepared.url);
  await client.query('select pg_stat_statements_reset(), pg_stat_reset()');
  const before = await sizeOf(client);
  let payments = 0;
  for (let hour = 1; hour <= Number(options.hours); hour += 1) {
    const share = Number(options.share) * busyAt(hour);
    const rated = Object.entries(loads).map(([part, load]) => [
      part,
      { ...load, rate: (most[part]?.perSecond ?? 0) * share },
    ]);
    const results = await measureAll(Object.fromEntries(rated), gateway, hourMs);
    payments += results.payments?.requests ?? 0;
    console.log(`hour ${hour}: ${figures(results)}; ${await held(gateway, client)}`);
  }
  await drained(prepared.url);
  const grown = ((await sizeOf(client)) - before) / 1_000 / payments;
  console.log(`${payments} payments; the database grew by ${grown.toFixed(2)} kB per payment, including dead rows.`);
  console.log('The tables, in MB, and what autovacuum did:');
  console.table((await client.query(tablesText)).rows);
  for (const [what, order] of [
    ['most time', 'total_exec_time'],
    ['most calls', 'calls'],
  ] as const) {
    console.log(`The statements with the ${what}:`);
    for (const { query, ...row } of (await client.query(statementsText(order))).rows) {
      console.log(JSON.stringify(row), query.replace(/\s+/g, ' ').slice(0, 160));
      console.log(`    ${await planOf(client, query)}`);
    }
  }
  console.log('The indexes that no statement used, in MB:');
  console.table((await client.query(unusedText)).rows);
  await client.end();
  await gateway.stop();
  const began = performance.now();
  const breaches = await audit(prepared);
  console.log(`audit: ${breaches.length} broken rules, ${Math.round((performance.now() - began) / 1_000)} s`);
} finally {
  await configure(server.url, 'alter system reset all');
  await server.stop();
}

async function configure(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** Starts Postgres with the library that counts statements, which can be loaded only at startup. */
async function startWithStatistics() {
  const first = await startEmbeddedPostgres({ dataDir });
  await configure(
    first.url,
    "alter system set shared_preload_libraries = 'pg_stat_statements'",
    "alter system set pg_stat_statements.track = 'all'",
    "alter system set autovacuum_naptime = '1s'",
  );
  await first.stop();
  return startEmbeddedPostgres({ dataDir });
}

/** Returns the load: two executed quotes for every three transfers, all of the benchmark's reads, and a REST list. */
async function loadsOf(prepared: Prepared, { url }: Server): Promise<Loads> {
  const { transferMany, createQuote } = await writesOf(prepared);
  const payments = transferMany.flatMap((transfer, at) => {
    const quote = JSON.parse(createQuote[at] ?? '{}');
    quote.variables.input.immediatelyExecute = true;
    return at % 5 < 2 ? [JSON.stringify(quote)] : [transfer];
  });
  const cases = await readCases(prepared);
  const reads = cases.flatMap(({ gateway: { query, variables } }) =>
    variables.slice(0, 100).map((each) => JSON.stringify({ query, variables: each })),
  );
  // Interleaves the kinds of reads, so that the load is always mixed.
  const mixed = reads.map((_, at) => reads[(at * 101) % reads.length] ?? '');
  const list = `${url.replace('/graphql', '/2025-10-13')}/transactions?limit=20`;
  return {
    payments: { url, headers, bodies: payments, connections: 16 },
    reads: { url, headers, bodies: mixed, connections: 8 },
    REST: { url: list, headers, bodies: [''], connections: 2 },
  };
}

async function sizeOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query('select pg_database_size(current_database()) as bytes');
  return Number(rows[0].bytes);
}

async function measureAll(loads: Loads, gateway: Server, measureMs: number): Promise<Record<string, Result>> {
  const measured = Object.entries(loads).map(
    async ([part, load]) => [part, await measure(requests(load, gateway), { warmUpMs: 500, measureMs })] as const,
  );
  return Object.fromEntries(await Promise.all(measured));
}

function figures(results: Readonly<Record<string, Result>>): string {
  const parts = Object.entries(results).map(([part, { perSecond, p50, p99, wrong, firstWrong }]) => {
    const failed = wrong > 0 ? `, ${wrong} wrong: ${firstWrong}` : '';
    return `${part} ${Math.round(perSecond)}/s, p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms${failed}`;
  });
  return parts.join('; ');
}

/** Describes the resources that the gateway holds, and the number of dead rows awaiting autovacuum. */
async function held({ pid }: Server, client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ connections: string; dead: string; size: string }>(
    `select (select count(*) from pg_stat_activity where datname = current_database()) as connections,
       (select sum(n_dead_tup) from pg_stat_user_tables) as dead, pg_database_size(current_database()) / 1000000 as size`,
  );
  const [{ connections, dead, size } = {}] = rows;
  const files = readdirSync(`/proc/${pid}/fd`).length;
  return `${Math.round(memoryOf(pid) ?? 0)} MiB, ${files} files, ${connections} connections, ${dead} dead rows, ${size} MB`;
}

/** Returns the scans in a statement's generic plan, in order. */
async function planOf(client: pg.Client, query: string): Promise<string> {
  if (!/^\s*(select|with|insert|update|delete)/i.test(query)) return 'no plan';
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (generic_plan, costs off) ${query}`);
    const scans = rows.flatMap((row) => /\b(?:\w+ )?(?:Only )?Scan.*/.exec(row['QUERY PLAN'])?.[0] ?? []);
    return scans.join('; ') || (rows[0]?.['QUERY PLAN'] ?? '');
  } catch {
    return 'no plan: the statement is inside a function and uses its variables';
  }
}
