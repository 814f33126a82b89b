import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ownGateway, type TestGateway } from '../setup/gateway.ts';

// Measures the cost of the fan-out in Postgres, and how long it takes, when subscribers on all instances follow the
// whole feed of one platform at a steady rate of changes. The figures are in docs/streams.md.

const perSecond = Number(process.env.FAN_OUT_PER_SECOND ?? 500);
const seconds = Number(process.env.FAN_OUT_SECONDS ?? 30);
const instances = Number(process.env.FAN_OUT_INSTANCES ?? 3);

/** The contents of a change, as large as the row of a payment. */
const snapshot = JSON.stringify({ text: Array.from({ length: 28 }, () => crypto.randomUUID()).join(' ') });
/** The time between two transactions that write changes, in milliseconds. */
const tickMs = 10;
/** The length of a tick of the kernel's clock for processes, in milliseconds (`getconf CLK_TCK` is 100 on Linux). */
const clockTickMs = 10;

const writeWhole = `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
  select $1, id, 'TEST', now(), 1, $3::jsonb from unnest($2::uuid[]) id`;

test(`${instances} instances fan out ${perSecond} changes per second, each once and in order`, async () => {
  const first = await ownGateway();
  const gateways = [first];
  while (gateways.length < instances) gateways.push(await ownGateway({}, first.databaseUrl));
  const [writer, listener] = [await session(first.databaseUrl), await session(first.databaseUrl)];
  console.log(JSON.stringify(await measure(gateways, first.platform.platformId, writer, listener)));
});

/** Opens a session of the database for as long as the test runs. */
async function session(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Returns the processor time, in milliseconds per second, by the purpose of Postgres' sessions, and the duration. */
async function measure(gateways: readonly TestGateway[], platformId: string, writer: pg.Client, listener: pg.Client) {
  const write = writerOf(platformId, writer);
  const announcedAt: (readonly [sequence: bigint, time: number])[] = [];
  listener.on('notification', ({ payload = '' }) => {
    for (const head of payload.split(',')) {
      const [platform, sequence = '0'] = head.split(':');
      if (platform === platformId) announcedAt.push([BigInt(sequence), performance.now()]);
    }
  });
  await listener.query('listen feed');
  const seen = gateways.map(() => [] as { id: string; sequence: bigint; time: number }[]);
  const head = await headOf(writer, platformId);
  const channels = await Promise.all(
    gateways.map(({ gateway }) => gateway.feed.subscribe(platformId, head, { wants: () => true })),
  );
  const readers = channels.map(async (channel, number) => {
    for await (const { id, sequence } of channel) seen[number]?.push({ id, sequence, time: performance.now() });
  });
  for (let second = 0; second < 3; second += 1) await writeSteadily(write, 1);
  await settled(seen, writer, platformId);
  for (const events of seen) events.length = 0;
  const start = await headOf(writer, platformId);
  const [cpuBefore, readBefore] = [await cpuByUse(writer), readBy(gateways)];
  const committedAt = await writeSteadily(write, seconds);
  await vi.waitFor(() => expect(seen.map(({ length }) => length)).toEqual(seen.map(() => committedAt.size)), {
    timeout: 60_000,
  });
  const [cpuAfter, read] = [await cpuByUse(writer), readBy(gateways)];
  for (const channel of channels) channel.end();
  await Promise.all(readers);
  for (const events of seen) {
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => start + BigInt(index) + 1n));
    expect(new Set(events.map(({ id }) => id))).toEqual(new Set(committedAt.keys()));
  }
  const cpu = Object.entries(cpuAfter).map(([use, ms]) => [use, Math.round((ms - (cpuBefore[use] ?? 0)) / seconds)]);
  return {
    changes: committedAt.size,
    ...timesOf(seen, committedAt, announcedAt),
    cpuMsPerSecond: Object.fromEntries(cpu),
    notifications: announcedAt.length,
    /** The number of events that all instances together have read for live subscribers. */
    read: read - readBefore,
  };
}

/** Returns a function that writes changes and returns their ids. */
function writerOf(platformId: string, writer: pg.Client) {
  return async (count: number): Promise<string[]> => {
    const ids = Array.from({ length: count }, () => crypto.randomUUID());
    if (count > 0) await writer.query(writeWhole, [platformId, ids, snapshot]);
    return ids;
  };
}

/** Writes changes at a fixed rate. Returns the time when each was committed, by its id. */
async function writeSteadily(
  write: (count: number) => Promise<string[]>,
  seconds: number,
): Promise<Map<string, number>> {
  const committedAt = new Map<string, number>();
  const began = performance.now();
  while (committedAt.size < perSecond * seconds) {
    const due = Math.min(perSecond * seconds, Math.ceil(((performance.now() - began) * perSecond) / 1_000));
    for (const id of await write(due - committedAt.size)) committedAt.set(id, performance.now());
    await delay(tickMs);
  }
  return committedAt;
}

async function headOf(writer: pg.Client, platformId: string): Promise<bigint> {
  const { rows } = await writer.query('select sequence from feed_head where platform_id = $1', [platformId]);
  return BigInt(rows[0]?.sequence ?? 0);
}

/** Waits until everything written has been received. */
async function settled(seen: readonly { sequence: bigint }[][], writer: pg.Client, platformId: string): Promise<void> {
  await vi.waitFor(
    async () => {
      expect((await writer.query('select from outbox limit 1')).rowCount).toBe(0);
      const head = await headOf(writer, platformId);
      expect(seen.map((events) => events.at(-1)?.sequence)).toEqual(seen.map(() => head));
    },
    { timeout: 60_000 },
  );
}

/** Returns the CPU time in milliseconds: of the server's connections, and of this process. */
async function cpuByUse(writer: pg.Client): Promise<Record<string, number>> {
  const { rows } = await writer.query<{ pid: number; name: string }>(
    `select pid, application_name as name from pg_stat_activity where datname = current_database()`,
  );
  const byUse: Record<string, number> = {};
  const add = (use: string, pid: number) => {
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const [user, system] = fields.split(' ').slice(11, 13).map(Number);
    byUse[use] = (byUse[use] ?? 0) + ((user ?? 0) + (system ?? 0)) * clockTickMs;
  };
  for (const { pid, name } of rows) add(/feed-live|feed-replay|feed|sequencer/.exec(name)?.[0] ?? 'other', pid);
  add('instances and subscribers', process.pid);
  return byUse;
}

function readBy(gateways: readonly TestGateway[]): number {
  return gateways.reduce((sum, { gateway }) => sum + gateway.feed.eventsRead.live, 0);
}

function timesOf(
  seen: readonly (readonly { id: string; sequence: bigint; time: number }[])[],
  committedAt: ReadonlyMap<string, number>,
  announcedAt: readonly (readonly [sequence: bigint, time: number])[],
) {
  const toAnnouncement: number[] = [];
  let announcement = 0;
  for (const { id, sequence } of seen[0] ?? []) {
    while ((announcedAt[announcement]?.[0] ?? sequence) < sequence) announcement += 1;
    toAnnouncement.push((announcedAt[announcement]?.[1] ?? Number.NaN) - (committedAt.get(id) ?? Number.NaN));
  }
  const toSubscriber = seen.flat().map(({ id, time }) => time - (committedAt.get(id) ?? Number.NaN));
  return {
    commitToAnnouncementMs: percentiles(toAnnouncement),
    commitToSubscriberMs: percentiles(toSubscriber),
  };
}

/** Returns percentiles of times in milliseconds, to a tenth. */
function percentiles(times: readonly number[]) {
  const sorted = [...times].sort((one, other) => one - other);
  const at = (share: number) => Math.round((sorted[Math.floor(sorted.length * share)] ?? Number.NaN) * 10) / 10;
  return { p50: at(0.5), p99: at(0.99) };
}
