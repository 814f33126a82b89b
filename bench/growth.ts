import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { basicAuthorization } from '../src/domain/access/tokens/credentials.ts';
import { startEmbeddedPostgres } from '../src/infra/database/embedded/embedded.ts';
import { startGateway } from './gateway.ts';
import { measureInTurns, postgres, requests, type Server, type Timing } from './measure.ts';
import { credentials, type Prepared, prepare } from './prepare.ts';
import { readCases } from './reads.ts';
import { machine } from './report.ts';
import { writesOf } from './writes.ts';

/**
 * `npm run bench:growth`: measures how long reads and payments take, and how much disk space a payment uses, as the
 * number of payments grows.
 */
const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '50000,200000,800000' },
    seconds: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
    'data-dir': { type: 'string', default: path.join(import.meta.dirname, '.data') },
  },
});
const sizes = options.sizes.split(',').map(Number);
const timing: Timing = { warmUpMs: 1_200, measureMs: Number(options.seconds) * 1_000, turns: 4 };

/** Returns the size of each payment table with its indexes, in bytes per payment. */
async function bytesEach({ url, transactions }: Prepared): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string; bytes: string }>(
    `select relname as name, pg_total_relation_size(oid) as bytes from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and relname in ('transaction', 'journal', 'posting') order by 1`,
  );
  await client.end();
  return rows.map(({ name, bytes }) => `${name} ${Math.round(Number(bytes) / transactions)}`).join(', ');
}

interface Sent {
  readonly bodies: readonly string[];
  readonly connections: number;
}

/** Returns each case's requests and concurrency, by case name. */
async function casesOf(prepared: Prepared): Promise<Map<string, Sent>> {
  const reads = await readCases(prepared);
  const cases = new Map<string, Sent>(
    reads.map(({ name, gateway: { query, variables } }) => [
      // Names must be the same for all sizes, but some of the original names contain a depth that depends on the size.
      name.replace(/ at depth \d+/, ' at a depth of 80 %'),
      { bodies: variables.map((each) => JSON.stringify({ query, variables: each })), connections: 16 },
    ]),
  );
  const ledger = `query ($id: ID!) { node(id: $id) { ... on Transaction { id ledgerEntries { system amount { amount } } } } }`;
  const bodies = (reads[0]?.gateway.variables ?? []).map((each) => JSON.stringify({ query: ledger, variables: each }));
  cases.set('the ledger entries of one', { bodies, connections: 16 });
  cases.set('transferOut, many accounts', { bodies: (await writesOf(prepared)).transferMany, connections: 32 });
  return cases;
}

const server = await startEmbeddedPostgres({ dataDir: path.resolve(options['data-dir']) });
postgres.pid = server.pid;
const gateways: Server[] = [];
try {
  const prepared: Prepared[] = [];
  for (const size of sizes) prepared.push(await prepare(server.url, size, (line) => console.log(`preparing: ${line}`)));
  console.log(`${machine()}. Sizes: ${sizes.join(', ')} payments. ${options.seconds} s per measurement, in turns.`);
  for (const one of prepared) console.log(`bytes per payment, with ${one.transactions}: ${await bytesEach(one)}`);
  for (const { url } of prepared) gateways.push(await startGateway(url));
  const cases = await Promise.all(prepared.map(casesOf));
  const headers = { authorization: basicAuthorization(credentials), 'content-type': 'application/json' };
  for (const name of [...(cases[0]?.keys() ?? [])].filter((one) => new RegExp(options.only).test(one))) {
    const contestants = gateways.flatMap((gateway, at) => {
      const sent = cases[at]?.get(name);
      return sent ? [requests({ url: gateway.url, headers, ...sent }, gateway)] : [];
    });
    const results = await measureInTurns(contestants, timing);
    const figures = results.map(
      ({ perSecond, p50, p99, postgresMicros }) =>
        `${Math.round(perSecond)}/s ${p50.toFixed(1)} ${p99.toFixed(1)}, ${Math.round(postgresMicros)} µs of Postgres`,
    );
    console.log(`| ${name} | ${figures.join(' | ')} |`);
  }
} finally {
  for (const gateway of gateways) await gateway.stop();
  await server.stop();
}
