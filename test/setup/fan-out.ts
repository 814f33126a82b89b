import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, vi } from 'vitest';
import { startTestGateway, type TestGateway } from './gateway.ts';

/** Instances whose subscribers follow the whole feed of one platform, at a steady rate of changes. */
interface FanOut {
  readonly instances: number;
  readonly perSecond: number;
  readonly seconds: number;
}

/** What a whole change carries: as large as the row of a payment. */
const snapshot = JSON.stringify({ text: Array.from({ length: 28 }, () => crypto.randomUUID()).join(' ') });
/** How many milliseconds lie between two transactions that write changes. */
const tickMs = 10;
/** How many milliseconds a tick of the kernel's clock for processes has (`getconf CLK_TCK` is 100 on Linux). */
const clockTickMs = 10;

const writeWhole = `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
  select $1, id, 'TEST', now(), 1, $3::jsonb from unnest($2::uuid[]) id`;
/**
 * Runs it on a database of its own, and expects that each instance gets each change once and in order. Returns what it has cost, in
 * milliseconds of processor time a second of Postgres, by what its sessions are for, and of this process; and how long it has taken.
 */
export async function measureFanOut(options: FanOut) {
  const first = await startTestGateway();
  const gateways = [first];
  while (gateways.length < options.instances) {
    gateways.push(await startTestGateway({}, first.databaseUrl));
  }
  const writer = new pg.Client(first.databaseUrl);
  const listener = new pg.Client(first.databaseUrl);
  try {
    await writer.connect();
    await listener.connect();
    return await measure(options, gateways, writer, listener);
  } finally {
    await writer.end();
    await listener.end();
    for (const gateway of gateways.reverse()) await gateway.stop();
  }
}

async function measure(options: FanOut, gateways: readonly TestGateway[], writer: pg.Client, listener: pg.Client) {
  const [first] = gateways;
  const { platformId } = first?.platform ?? expect.fail();
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
  for (let second = 0; second < 3; second += 1) await writeSteadily({ ...options, seconds: 1 }, write);
  await settled(seen, writer, platformId);
  for (const events of seen) events.length = 0;
  const start = await headOf(writer, platformId);
  const [cpuBefore, readBefore] = [await cpuByUse(writer), readBy(gateways)];
  const committedAt = await writeSteadily(options, write);
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
  const cpu = Object.entries(cpuAfter).map(([use, ms]) => [
    use,
    Math.round((ms - (cpuBefore[use] ?? 0)) / options.seconds),
  ]);
  return {
    changes: committedAt.size,
    ...timesOf(seen, committedAt, announcedAt),
    cpuMsPerSecond: Object.fromEntries(cpu),
    notifications: announcedAt.length,
    /** How many events the instances have read for live subscribers, all together. */
    read: read - readBefore,
  };
}

/** Returns what writes changes, and answers their ids. */
function writerOf(platformId: string, writer: pg.Client) {
  return async (count: number): Promise<string[]> => {
    const ids = Array.from({ length: count }, () => crypto.randomUUID());
    if (count > 0) await writer.query(writeWhole, [platformId, ids, snapshot]);
    return ids;
  };
}

/** Writes changes at the rate. Returns the time when each was committed, by its id. */
async function writeSteadily(
  { perSecond, seconds }: Pick<FanOut, 'perSecond' | 'seconds'>,
  write: (count: number) => Promise<string[]>,
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

/** Waits until everything that was written has been seen. */
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

/** Returns the milliseconds of CPU that were taken: by the server's connections, and by this process. */
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

/** Returns milliseconds at shares of times, to a tenth. */
function percentiles(times: readonly number[]) {
  const sorted = [...times].sort((one, other) => one - other);
  const at = (share: number) => Math.round((sorted[Math.floor(sorted.length * share)] ?? Number.NaN) * 10) / 10;
  return { p50: at(0.5), p99: at(0.99) };
}
