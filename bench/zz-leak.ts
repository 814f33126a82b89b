import pg from 'pg';
import { startEmbeddedPostgres } from '../src/database/embedded/embedded.ts';
const server = await startEmbeddedPostgres({ dataDir: '/tmp/wallspike/data' });
const url = new URL(server.url); url.pathname = '/bench_50000';
const c = new pg.Client({ connectionString: url.href, options: '-c timezone=UTC -c jit=off' }); await c.connect();
console.log((await c.query(`select proname || ':' || proleakproof as f from pg_proc where proname in ('enum_eq','uuid_eq','uuid_lt','uuid_gt','uuid_ge','texteq','text_eq','timestamptz_ge','timestamptz_lt','timestamptz_cmp','int8eq','int8gt','booleq','enum_ne','int4eq','numeric_eq','lower','uuid_le')`)).rows.map(r=>r.f).join(' '));
const p = (await c.query('select platform_id from bench.filled')).rows[0].platform_id;
const q = [`select id from transaction where platform_id = '${p}' and status = 'REJECTED' order by id desc limit 21`,
 `select id from transaction where platform_id = '${p}' and status in ('REJECTED', 'EXPIRED') order by id desc limit 21`,
 `select count(*) from transaction where platform_id = '${p}' and status = 'REJECTED'`,
 `select id from account a where platform_id = '${p}' and customer_id is null and kind = 'INTERNAL' and currency = 'USD'`,
 `select id from webhook_delivery where platform_id='${p}' and endpoint_id = '${p}' and status = 'PENDING' order by next_attempt_at limit 10`,
 `select id from transaction where platform_id = '${p}' and reference = 'abc'`];
for (const role of ['owner', 'gateway_serving', 'gateway_work']) {
  if (role !== 'owner') await c.query(`set role ${role}`);
  await c.query(`set search_path = ${role === 'gateway_serving' ? 'serving,' : ''}public`);
  await c.query(`select set_config('gateway.platform', '${p}', false)`);
  for (const s of q) { const { rows } = await c.query('explain (analyze, costs off, timing off) ' + s); console.log('---', role, s.slice(0, 130)); console.log(rows.map((r) => r['QUERY PLAN']).join('\n')); }
}
await c.end(); await server.stop();
