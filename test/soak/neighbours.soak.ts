import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Rates } from '../../src/access/rates.ts';
import { changeRates } from '../../src/payments/platforms/platform-rates.ts';
import { type ChildGateway, startChildGateway } from '../setup/child-gateway.ts';
import { startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { makeScene } from '../setup/scene.ts';
import { tester } from '../setup/tester.ts';
import type { Storm } from './storm.ts';

/**
 * What one platform's storm costs another platform: the same requests of the same calm client, alone and beside 300
 * connections that send as fast as they are answered, in turns, so that what else the machine does falls on both.
 */

const connections = 300;
const turnMs = 2_000;
/** A turn of each, over and over: SOAK_SECONDS for each storm, a minute without. */
const turns = Math.ceil((Number(process.env.SOAK_SECONDS ?? 60) * 1_000) / (2 * turnMs));
/** What the calm client sends a second, whatever the answers do. */
const calmRate = 200;
/** The promise for a platform whose neighbour has a limit that fits the machine. */
const most = 1.2;

let t: TestGateway;
let child: ChildGateway;
let stormy: TestPlatform;
let storm: ChildProcess;
let query: string;
beforeAll(async () => {
  t = await startTestGateway({ ROLE: 'serve' });
  stormy = await t.newPlatform('stormy');
  const { usd } = await makeScene(t.platform);
  query = JSON.stringify({ query: `{ account(id: "${usd}") { id status } }` });
  child = await startChildGateway({
    DATABASE_URL: t.databaseUrl,
    NODE_ENV: 'production',
    ROLE: 'serve',
    CLIENT_TOKEN_KEY: 'a key that only this soak uses, for nothing else',
  });
  storm = fork(path.join(import.meta.dirname, 'storm.ts'), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
});
afterAll(async () => {
  storm.kill();
  expect(await child.end('SIGTERM')).toBe(0);
  await t.stop();
});

/** Sends the calm client's requests for one turn, and adds how many milliseconds each took. */
async function calm(pool: Pool, took: number[], refused = { count: 0 }): Promise<void> {
  const headers = { authorization: t.platform.authorization, 'content-type': 'application/json' };
  const began = performance.now();
  const open: Promise<void>[] = [];
  while (performance.now() - began < turnMs) {
    const due = ((performance.now() - began) * calmRate) / 1_000;
    while (open.length < due) {
      const at = performance.now();
      const request = pool.request({ path: '/graphql', method: 'POST', headers, body: query });
      open.push(
        request.then(async ({ statusCode, body }) => {
          await body.dump();
          if (statusCode === 200) took.push(performance.now() - at);
          else refused.count += 1;
        }),
      );
    }
    await delay(1);
  }
  await Promise.all(open);
}

/** The latency in milliseconds that so many of the requests did not exceed. */
function percentile(took: readonly number[], part: number): number {
  return Number(took.toSorted((a, b) => a - b)[Math.floor(took.length * part)]?.toFixed(2));
}

async function measure(limits: Partial<Rates>) {
  await changeRates(t.gateway.payments.database, 'stormy', tester, { platform: null, ...limits });
  const pool = new Pool(child.url, { connections: 64 });
  const job: Storm = { url: child.url, authorization: stormy.authorization, connections, body: query };
  const alone: number[] = [];
  const beside: number[] = [];
  const statuses: Record<string, number> = {};
  const refused = { count: 0 };
  // What is compiled with the first use is not the storm's fault; and instances remember old limits for two seconds.
  await calm(pool, []);
  await calm(pool, []);
  for (let turn = 0; turn < turns; turn += 1) {
    await calm(pool, alone, refused);
    storm.send(job);
    await delay(300);
    await calm(pool, beside, refused);
    storm.send('end');
    const [ended] = (await once(storm, 'message')) as [Record<string, number>];
    for (const [status, count] of Object.entries(ended)) statuses[status] = (statuses[status] ?? 0) + count;
  }
  await pool.close();
  const of = (took: readonly number[]) => ({ p50: percentile(took, 0.5), p99: percentile(took, 0.99) });
  return {
    alone: of(alone),
    beside: of(beside),
    refused: refused.count,
    statuses,
    ratio: percentile(beside, 0.99) / percentile(alone, 0.99),
  };
}

test('a storm without a limit delays its neighbour, and keeps it from nothing', { timeout: 300_000 }, async () => {
  const measured = await measure({});
  console.log(`300 connections without a limit: ${JSON.stringify(measured)}`);
});

test('a storm within a limit of 200 a second raises the p99 of its neighbour by at most 20 %', {
  timeout: 300_000,
}, async () => {
  const measured = await measure({ platform: { perSecond: 200, burst: 400 } });
  console.log(`300 connections within 200 a second: ${JSON.stringify(measured)}`);
  expect(measured.refused).toBe(0);
  expect(measured.ratio).toBeLessThanOrEqual(most);
});
