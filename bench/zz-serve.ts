import { startEmbeddedPostgres } from '../src/database/embedded/embedded.ts';
import { prepare } from './prepare.ts';
import { readCases } from './reads.ts';
const server = await startEmbeddedPostgres({ dataDir: process.argv[2] });
const prepared = await prepare(server.url, 50_000, () => {});
const cases = await readCases(prepared);
process.stdout.write(JSON.stringify({ url: prepared.url, cases: cases.map((c) => ({ name: c.name, bodies: c.gateway.variables.map((v) => JSON.stringify({ query: c.gateway.query, variables: v })) })) }) + '\n');
process.stdin.once('data', async () => { await server.stop(); process.exit(0); });
