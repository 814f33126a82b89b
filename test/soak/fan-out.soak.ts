import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';

// What the fan-out costs in Postgres, and how long it takes: instances whose subscribers follow the whole feed of one
// platform, at a steady rate of changes. The figures are on the page about streams.

const perSecond = Number(process.env.FAN_OUT_PER_SECOND ?? 500);
const seconds = Number(process.env.FAN_OUT_SECONDS ?? 30);
const instances = Number(process.env.FAN_OUT_INSTANCES ?? 3);
/** What a change carries: as large as the row of a payment. */
const snapshot = JSON.stringify({ text: Array.from({ length: 28 }, () => crypto.randomUUID()).join(' ') });
/** How many milliseconds lie between two transactions that write changes. */
const tickMs = 10;
/** How many milliseconds a tick of the kernel's clock for processes has (`getconf CLK_TCK` is 100 on Linux). */
const clockTickMs = 10;

let gateways: TestGateway[];
let writer: pg.Client;
let listener: pg.Client;
beforeAll(async () => {
  const first = await startTestGateway();
  gateways = [first];
  while (gateways.length < instances) gateways.push(await startTestGateway({}, first.databaseUrl));
  [writer, listener] = [new pg.Client(first.databaseUrl), new pg.Client(first.databaseUrl)];
  await writer.connect();
  await listener.connect();
});
afterAll(async () => {
  await writer?.end();
  await listener?.end();
  for (const gateway of (gateways ?? []).reverse()) await gateway.stop();
});

/** Returns the milliseconds of CPU that the server's connections have taken, by what they are for. */
async function cpuByUse(): Promise<Record<string, number>> {
  const { rows } = await writer.query<{ pid: number; name: string }>(
    `select pid, application_name as name from pg_stat_activity where datname = current_database()`,
  );
  const byUse: Record<string, number> = {};
  for (const { pid, name } of rows) {
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const [user, system] = fields.split(' ').slice(11, 13).map(Number);
    const use = /feed-live|feed-replay|feed|sequencer/.exec(name)?.[0] ?? 'other';
    byUse[use] = (byUse[use] ?? 0) + ((user ?? 0) + (system ?? 0)) * clockTickMs;
  }
  return byUse;
}

const writeChanges = `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
  select $1, id, 'TEST', now(), 1, $3::jsonb from unnest($2::uuid[]) id`;

/** Writes changes at the rate. Returns the time when each was committed, by its id. */
async function writeSteadily(platformId: string): Promise<Map<string, number>> {
  const committedAt = new Map<string, number>();
  const began = performance.now();
  for (let written = 0; written < perSecond * seconds; ) {
    const due = Math.min(perSecond * seconds, Math.ceil(((performance.now() - began) * perSecond) / 1_000));
    const ids = Array.from({ length: due - written }, () => crypto.randomUUID());
    if (ids.length > 0) await writer.query(writeChanges, [platformId, ids, snapshot]);
    for (const id of ids) committedAt.set(id, performance.now());
    written = due;
    await delay(tickMs);
  }
  return committedAt;
}

/** Returns milliseconds at a share of sorted times, to a tenth. */
const at = (sorted: readonly number[], share: number) =>
  Math.round((sorted[Math.floor(sorted.length * share)] ?? Number.NaN) * 10) / 10;
const percentiles = (times: readonly number[]) => {
  const sorted = [...times].sort((one, other) => one - other);
  return { p50: at(sorted, 0.5), p99: at(sorted, 0.99) };
};

test(`${instances} instances fan ${perSecond} changes a second out, each once and in order`, async () => {
  const { platformId } = gateways[0]?.platform ?? expect.fail();
  const announcedAt: (readonly [sequence: bigint, time: number])[] = [];
  listener.on('notification', ({ payload = '' }) => {
    for (const head of payload.split(',')) {
      const [platform, sequence = '0'] = head.split(':');
      if (platform === platformId) announcedAt.push([BigInt(sequence), performance.now()]);
    }
  });
  await listener.query('listen feed');
  const { rows } = await writer.query('select sequence from feed_head where platform_id = $1', [platformId]);
  const start = BigInt(rows[0]?.sequence ?? 0);
  const seen = gateways.map(() => [] as { id: string; sequence: bigint; time: number }[]);
  const channels = await Promise.all(
    gateways.map(({ gateway }) => gateway.feed.subscribe(platformId, start, { wants: () => true })),
  );
  const readers = channels.map(async (channel, number) => {
    for await (const { id, sequence } of channel) seen[number]?.push({ id, sequence, time: performance.now() });
  });
  const before = await cpuByUse();
  const committedAt = await writeSteadily(platformId);
  await vi.waitFor(() => expect(seen.map(({ length }) => length)).toEqual(seen.map(() => committedAt.size)), {
    timeout: 60_000,
  });
  const after = await cpuByUse();
  for (const channel of channels) channel.end();
  await Promise.all(readers);

  for (const events of seen) {
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => start + BigInt(index) + 1n));
    expect(new Set(events.map(({ id }) => id)).size).toBe(committedAt.size);
  }
  const toAnnouncement: number[] = [];
  let announcement = 0;
  for (const { id, sequence } of seen[0] ?? []) {
    while ((announcedAt[announcement]?.[0] ?? sequence) < sequence) announcement += 1;
    toAnnouncement.push((announcedAt[announcement]?.[1] ?? Number.NaN) - (committedAt.get(id) ?? Number.NaN));
  }
  const toSubscriber = seen.flat().map(({ id, time }) => time - (committedAt.get(id) ?? Number.NaN));
  const cpu = Object.entries(after).map(([use, ms]) => [use, Math.round((ms - (before[use] ?? 0)) / seconds)]);
  console.log(
    JSON.stringify({
      changes: committedAt.size,
      commitToAnnouncementMs: percentiles(toAnnouncement),
      commitToSubscriberMs: percentiles(toSubscriber),
      postgresCpuMsPerSecond: Object.fromEntries(cpu),
      notifications: announcedAt.length,
    }),
  );
});
