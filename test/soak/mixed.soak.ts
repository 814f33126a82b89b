import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { usdToEur } from '../setup/acts.ts';
import { startChildGateway } from '../setup/child-gateway.ts';
import { connect, openClient, startTestGateway, type TestPlatform } from '../setup/gateway.ts';
import type { Scene } from '../setup/scene.ts';
import { openEventStream } from '../setup/streams.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { startReceiver } from '../webhooks/receiver.ts';

const minute = 60_000;
/** How long the soak runs: SOAK_SECONDS, by default half an hour. */
const seconds = Number(process.env.SOAK_SECONDS ?? 1_800);
const clients = 8;
/** How long a client pauses after each act. This soak looks for leaks and does not measure throughput. */
const restMs = 40;

/** What a process uses: memory in MiB, open files and sockets, and connections to the database. */
interface Held {
  readonly memory: number;
  readonly files: number;
  readonly connections: number;
}

test(`a process that reads, pays, streams and sends webhooks for ${seconds} s retains nothing`, {
  timeout: seconds * 1_000 + 10 * minute,
}, async () => {
  const t = await startTestGateway({ ROLE: 'serve' });
  const receiver = await startReceiver();
  // Production settings, except that receivers may use loopback. GraphiQL, introspection and all test features are off.
  const child = await startChildGateway({
    DATABASE_URL: t.databaseUrl,
    NODE_ENV: 'production',
    SANDBOX_PACE_MS: '20',
    ALLOW_UNSAFE: 'loopback-webhooks',
    SECRET_KEY: randomBytes(32).toString('base64'),
    CLIENT_TOKEN_KEY: 'a key that only this soak uses, for nothing else',
  });
  const platform = connect(child.url, t.platform.platformId, t.platform.authorization);
  const scenes: Scene[] = [];
  while (scenes.length < clients) scenes.push(await platform.makeScene(1_000_000_000n));
  await createEndpoint(platform, { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT'] });

  const end = Date.now() + seconds * 1_000;
  const done: Record<string, number> = {};
  const work = scenes.map((scene) => keepBusy(platform, child.url, scene, () => Date.now() < end, done));
  const held: Held[] = [];
  const look = await openClient(t.databaseUrl);
  while (Date.now() < end) {
    await delay(Math.min(5_000, (seconds * 1_000) / 40));
    held.push(await heldBy(child.process.pid ?? 0, look));
  }
  await Promise.all(work);
  await look.end();
  console.log({ done, ...summary(held) });
  expect(await child.end('SIGTERM')).toBe(0);
  await receiver.stop();
  await t.stop();

  for (const count of Object.values(done)) expect(count).toBeGreaterThan(seconds / 10);
  const { early, late } = summary(held);
  expect(late.memory).toBeLessThan(early.memory * 1.1 + 16);
  expect(late.files).toBeLessThan(early.files + 10);
  expect(late.connections).toBeLessThanOrEqual(early.connections + 2);
});

async function keepBusy(
  platform: TestPlatform,
  url: string,
  scene: Scene,
  goesOn: () => boolean,
  done: Record<string, number>,
): Promise<void> {
  const headers = { authorization: platform.authorization, 'content-type': 'application/json' };
  const follow = 'subscription ($id: ID!) { accountUpdates(of: { accountId: $id }) { cursor } }';
  const variables = { id: scene.usd };
  const acts: Record<string, (turn: number) => Promise<unknown>> = {
    list: () =>
      platform.ask('{ transactions(first: 20) { edges { node { id status customer { name } } } totalCount } }'),
    nested: () =>
      platform.ask(
        '{ customers(first: 5) { edges { node { id accounts(first: 3) { edges { node { id } } } transactions(first: 3) { edges { node { id } } } } } } }',
      ),
    // Every document is unique, so memory would grow without bound if any part of each were retained.
    unique: (turn) => platform.ask(`{ a${turn}: viewer { kind } b${turn}: currencies { code } }`),
    refused: () => platform.send('{ nonsense }'),
    rest: async () => (await fetch(`${url}/2025-10-13/transactions?limit=5`, { headers })).json(),
    transfer: () => platform.transfer('transferOut', scene, 1),
    pay: async () => platform.execute((await platform.quote(usdToEur(scene))).id),
    socket: () => platform.followed(follow, variables, () => true),
    events: async () => {
      const stream = await openEventStream(`${url}/graphql`, platform.authorization, { query: follow, variables });
      await stream.events.next();
      stream.cut();
    },
  };
  const names = Object.keys(acts);
  for (let turn = 0; goesOn(); turn += 1) {
    const name = names[turn % names.length] ?? '';
    await acts[name]?.(turn);
    done[name] = (done[name] ?? 0) + 1;
    await delay(restMs);
  }
}

async function heldBy(pid: number, database: pg.Client): Promise<Held> {
  const memory = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
  const { rows } = await database.query<{ connections: number }>(
    'select count(*)::int as connections from pg_stat_activity where datname = current_database()',
  );
  return { memory, files: readdirSync(`/proc/${pid}/fd`).length, connections: rows[0]?.connections ?? 0 };
}

/** Returns the medians of the second and the last quarter. The first quarter is warm-up. */
function summary(held: readonly Held[]): { readonly early: Held; readonly late: Held } {
  const quarter = Math.floor(held.length / 4);
  const medians = (part: readonly Held[]): Held => {
    const median = (of: keyof Held) =>
      part.map((one) => one[of]).toSorted((a, b) => a - b)[Math.floor(part.length / 2)] ?? 0;
    return { memory: Math.round(median('memory')), files: median('files'), connections: median('connections') };
  };
  return { early: medians(held.slice(quarter, 2 * quarter)), late: medians(held.slice(-quarter)) };
}
