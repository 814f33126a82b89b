import { cpuUsage } from 'node:process';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { pino } from 'pino';
import { readConfig } from '../src/config.ts';
import { openDatabase } from '../src/database/database.ts';
import { servingUrl } from '../src/database/embedded/serving-login.ts';
import { startEmbeddedPostgres } from '../src/database/embedded/embedded.ts';
import { asPlatform } from '../src/database/platform-scope.ts';
import { startGateway } from '../src/gateway.ts';
import { basicAuthorization } from '../src/graphql/server/graphiql.ts';
import { credentials, prepare } from './prepare.ts';
import { readCases } from './reads.ts';

const server = await startEmbeddedPostgres({ dataDir: '/tmp/wallspike/data' });
const prepared = await prepare(server.url, 50_000, console.log);
const cases = await readCases(prepared);
const config = { ...readConfig({ NODE_ENV: 'test', PORT: '0' }), ROLE: 'serve' as const };
const gateway = await startGateway({ databaseUrl: servingUrl(prepared.url), config, log: pino({ level: 'fatal' }) });
const captured: { text: string; values: unknown[] }[] = [];
const proto = pg.Client.prototype as any;
const original = proto.query;
let capture = false;
proto.query = function (q: any, ...rest: any[]) {
  if (capture && q && (q.constructor?.name === 'TextQuery')) captured.push({ text: q.text, values: q.sentValues ?? [] });
  return original.call(this, q, ...rest);
};
const { TextQuery } = await import('../src/database/text-query.ts');
// values are private: wrap submit
const submit = TextQuery.prototype.submit;
TextQuery.prototype.submit = function (connection: any) {
  if (capture) {
    const bind = connection.bind;
    connection.bind = function (config: any, ...more: any[]) { if (config.statement !== 'set_platform') captured.push({ text: (this as any).__t, values: [...config.values] }); return bind.call(connection, config, ...more); };
    (connection as any).__t = (this as any).text;
    const result = submit.call(this, connection);
    connection.bind = bind;
    return result;
  }
  return submit.call(this, connection);
};
capture = true;
const statements: { name: string; text: string; values: unknown[] }[] = [];
for (const one of cases) {
  captured.length = 0;
  for (const variables of one.gateway.variables.slice(0, 3)) {
    const r = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers: { authorization: basicAuthorization(credentials), 'content-type': 'application/json', accept: 'application/graphql-response+json' }, body: JSON.stringify({ query: one.gateway.query, variables }) });
    const j = await r.json() as any; if (j.errors) console.log(one.name, JSON.stringify(j.errors).slice(0, 300));
  }
  const last = captured.filter((c) => c.values.length > 0).at(-1);
  if (last) statements.push({ name: one.name, ...last });
}
capture = false;
await gateway.stop();
console.log(statements.map((s) => s.name));
if (process.env.EXPLAIN) {
  for (const role of ['owner', 'gateway_work', 'gateway_serving']) {
    const c = new pg.Client({ connectionString: prepared.url, options: '-c timezone=UTC -c jit=off' }); await c.connect();
    if (role !== 'owner') await c.query(`set role ${role}`);
    await c.query(`set search_path = ${role === 'gateway_serving' ? 'serving,' : ''}public`);
    await c.query(`select set_config('gateway.platform', '${prepared.platformId}', false)`);
    for (const s of statements) {
      const { rows } = await c.query(`explain (analyze, costs off, buffers off, timing off) ${s.text}`, s.values as any);
      const lines = rows.map((r) => r['QUERY PLAN'] as string);
      console.log(`--- ${role} / ${s.name}: ${lines.filter((l) => /Seq Scan/.test(l)).length} seq scans; ${lines.slice(-2).join(' ')}`);
      if (process.env.EXPLAIN === '2') console.log(lines.join('\n'));
    }
    await c.end();
  }
}
const rounds = Number(process.env.ROUNDS ?? 6);
const modes: Record<string, () => Promise<any>> = {};
const other = '0190aaaa-0000-7000-8000-000000000001';
const make = (role: any) => openDatabase({ url: servingUrl(prepared.url), role, poolSize: 1 });
const [owner, work, serving] = [openDatabase({ url: prepared.url, role: 'none' as any, poolSize: 1 }), make('gateway_work'), make('gateway_serving')];
for (const s of statements.slice(0, Number(process.env.CASES ?? 2))) {
  const n = Number(process.env.N ?? 4000);
  const table: Record<string, number[]> = { owner: [], work: [], serving: [], 'serving, changes': [] };
  const pgCpu = () => { let t = 0; for (const pid of pids) { try { const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' '); t += Number(f[11]) + Number(f[12]); } catch {} } return t * 10_000; };
  const pids = (await Promise.all([owner, work, serving].map((d) => d.pool.query('select pg_backend_pid() as p')))).map((r) => r.rows[0].p);
  const pgTable: Record<string, number[]> = { owner: [], work: [], serving: [], 'serving, changes': [] };
  const wall: Record<string, number[]> = { owner: [], work: [], serving: [], 'serving, changes': [] };
  const p = prepared.platformId;
  for (let round = 0; round < rounds; round += 1) {
    for (const mode of Object.keys(table).sort(() => Math.random() - 0.5)) {
      const database = mode === 'owner' ? owner : mode === 'work' ? work : serving;
      const c0 = cpuUsage(), p0 = pgCpu(), w0 = performance.now();
      for (let i = 0; i < n; i += 1) {
        if (mode === 'serving, changes' && i % 2) await asPlatform(other, () => database.readText(s.text, s.values));
        else await asPlatform(p, () => database.readText(s.text, s.values));
      }
      const c = cpuUsage(c0);
      table[mode]!.push((c.user + c.system) / n); pgTable[mode]!.push((pgCpu() - p0) / n); wall[mode]!.push((performance.now() - w0) * 1000 / n);
    }
  }
  const med = (v: number[]) => v.toSorted((a, b) => a - b)[Math.floor(v.length / 2)]!.toFixed(1);
  console.log(s.name);
  for (const mode of Object.keys(table)) console.log(`  ${mode.padEnd(18)} node ${med(table[mode]!)} µs  postgres ${med(pgTable[mode]!)} µs  wall ${med(wall[mode]!)} µs (min ${Math.min(...wall[mode]!).toFixed(1)})`);
}
await Promise.all([owner.close(), work.close(), serving.close()]);
await server.stop();
