import { readFileSync } from 'node:fs';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/infra/database/embedded/embedded.ts';
import { prepare } from './prepare.ts';
const server = await startEmbeddedPostgres({ dataDir: '/work/main/bench/.data' });
try {
  const prepared = await prepare(server.url, 100000, () => {});
  const c = new pg.Client({ connectionString: prepared.url });
  await c.connect();
  const { rows: [{ pid }] } = await c.query('select pg_backend_pid() as pid');
  const cpu = () => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  const texts = process.argv.slice(2).map((f) => readFileSync(f, 'utf8').split('\n-- ')[0]!);
  const p = prepared.platformId;
  const res: number[][] = texts.map(() => []); const answers: string[] = [];
  for (let round = 0; round < 24; round++) for (const [i, text] of texts.entries()) {
    const a = cpu();
    for (let k = 0; k < 100; k++) answers[i] = (await c.query({ name: `s${i}`, text, values: [8388608, p, p] })).rows[0].json;
    res[i]!.push((cpu() - a) / 100);
  }
  const med = (x: number[]) => x.toSorted((a, b) => a - b)[x.length >> 1]!;
  console.log(res.map((r) => `med ${med(r).toFixed(1)} min ${Math.min(...r).toFixed(1)}`), answers.map((a) => a === answers[0]));
  const plan: number[][] = texts.map(() => []);
  for (let round = 0; round < 12; round++) for (const [i, text] of texts.entries()) {
    const a = cpu();
    for (let k = 0; k < 30; k++) await c.query({ text: text + ` /* ${round} ${k} */`, values: [8388608, p, p] });
    plan[i]!.push((cpu() - a) / 30);
  }
  console.log('unprepared', plan.map((r) => `med ${med(r).toFixed(0)} min ${Math.min(...r).toFixed(0)}`));
  await c.end();
} finally { await server.stop(); }
