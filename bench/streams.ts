import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { servingUrl } from '../src/database/embedded/serving-login.ts';
import { feedCursor } from '../src/events/cursor.ts';
import type { ReplayJob } from './load/replays.ts';
import type { RequestJob } from './load/requests.ts';
import type { Arrivals, SubscriberJob } from './load/subscribers.ts';
import { cpuOf, measure, memoryOf, requests, type Server, startServer, watchCores } from './measure.ts';
import type { Fact } from './report.ts';

/** The idle subscriptions whose memory is measured, and how many of them share a socket. */
const idle = [
  { subscriptions: 10_000, perSocket: 20 },
  { subscriptions: 2_000, perSocket: 1 },
] as const;

/** From this long a measurement on, all idle subscriptions are opened; in a shorter one, fewer. */
const fullMs = 10_000;

export interface Streams {
  /** The instance that is asked for the changes, and makes them. */
  readonly gateway: Server;
  /** The same database, for an instance of the subscribers' own: so its time and memory are theirs alone. */
  readonly databaseUrl: string;
  readonly authorization: string;
  readonly platformId: string;
  readonly customerIds: readonly string[];
  readonly transfers: Omit<RequestJob, 'connections'>;
  readonly measureMs: number;
}

/**
 * As many subscribers as customers, each to the payments of one, on an instance beside the one where those customers'
 * accounts are paid from: every transfer is two changes, its beginning and its end. Then idle subscriptions by the
 * thousand.
 */
export async function measureStreams(streams: Streams): Promise<Fact[]> {
  const live = await withInstance(streams, async (instance) => [
    ...(await measureFanOut(instance, streams)),
    ...(await measureBesideReplays(instance, streams)),
  ]);
  const facts: Fact[] = [];
  for (const size of idle) facts.push(await withInstance(streams, (instance) => measureIdle(instance, streams, size)));
  return [...live, ...facts];
}

async function withInstance<T>({ databaseUrl }: Streams, work: (instance: Server) => Promise<T>): Promise<T> {
  const instance = await startServer('src/main.ts', {
    DATABASE_URL: servingUrl(databaseUrl),
    PORT: '0',
    LOG_LEVEL: 'error',
    ROLE: 'serve',
  });
  try {
    return await work(instance);
  } finally {
    await instance.stop();
  }
}

/**
 * From a change's own moment, which its transaction takes from the database's clock just before it commits, to its
 * subscriber: the commit itself is in it, the request is not.
 */
async function measureFanOut(instance: Server, streams: Streams): Promise<Fact[]> {
  const { gateway, customerIds, transfers, measureMs } = streams;
  const subscribers = await subscribe(instance, streams, customerIds, 20);
  try {
    const send = (rate: number, ms: number) =>
      measure(requests({ ...transfers, rate, connections: 64 }, gateway), { warmUpMs: 0, measureMs: ms });
    // Compilers take a while to know what a server is asked.
    await send(100, 1_000);
    await settled(instance.pid);
    subscribers.send('reset');
    const before = cpuOf(instance.pid);
    const cores = watchCores({
      'the instance that makes them': gateway.pid,
      "the subscribers' instance": instance.pid,
    });
    const changes = await send(250, measureMs);
    const coresMeanwhile = cores();
    const expected = 2 * (changes.requests - changes.wrong);
    const arrivals = await arrived(subscribers, expected);
    const after = cpuOf(instance.pid);
    const perSecond = Math.round((arrivals.messages * 1000) / measureMs);
    const cpu = before === undefined || after === undefined ? undefined : (after - before) / arrivals.messages;
    return [
      {
        what: `commit → subscriber, ${customerIds.length} subscribers, ${perSecond} changes/s, made by another instance`,
        value: `p50 ${arrivals.p50} ms, p99 ${arrivals.p99} ms, most ${arrivals.max} ms; ${arrivals.messages} of ${expected} changes arrived`,
      },
      { what: 'main threads meanwhile', value: coresMeanwhile },
      {
        what: 'CPU per message delivered (the reading of the feed in it)',
        value: cpu === undefined ? 'not known without /proc' : `${Math.round(cpu)} µs`,
      },
    ];
  } finally {
    await drop(subscribers, instance);
  }
}

/** The same with replays beside: each reads the feed from its beginning, again and again, on the subscribers' instance. */
async function measureBesideReplays(instance: Server, streams: Streams): Promise<Fact[]> {
  const { gateway, platformId, authorization, customerIds, transfers, measureMs } = streams;
  const facts: Fact[] = [];
  for (const replays of [8, 50, 200]) {
    const subscribers = await subscribe(instance, streams, customerIds, 20);
    const child = fork(path.join(import.meta.dirname, 'load/replays.ts'), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    try {
      const after = feedCursor(platformId, 0n);
      child.send({ url: instance.url, authorization, after, replays, messages: 10_000 } satisfies ReplayJob);
      await once(child, 'message');
      subscribers.send('reset');
      const rate = { ...transfers, rate: 50, connections: 16 };
      const { requests: sent, wrong } = await measure(requests(rate, gateway), { warmUpMs: 0, measureMs });
      const { messages, p50, p99 } = await arrived(subscribers, 2 * (sent - wrong));
      child.send('read');
      const [{ received }] = (await once(child, 'message')) as [{ received: number }];
      facts.push({
        what: `commit → subscriber, ${customerIds.length} subscribers, beside ${replays} replays of ${received} messages`,
        value: `p50 ${p50} ms, p99 ${p99} ms; ${messages} of ${2 * (sent - wrong)} changes arrived`,
      });
    } finally {
      child.kill();
      await drop(subscribers, instance);
    }
  }
  return facts;
}

/** What has arrived when all has, or when nothing more came for ten seconds: a transfer ends when its rail gets to it. */
async function arrived(subscribers: ChildProcess, expected: number): Promise<Arrivals> {
  let last = -1;
  for (let unchanged = 0; ; ) {
    subscribers.send('read');
    const [{ arrivals }] = (await once(subscribers, 'message')) as [{ arrivals: Arrivals }];
    unchanged = arrivals.messages === last ? unchanged + 1 : 0;
    if (arrivals.messages >= expected || unchanged >= 40) return arrivals;
    last = arrivals.messages;
    await delay(250);
  }
}

/**
 * What the process grows by: resident, so with all that its heap keeps free. It has served a few subscribers before, so that
 * what the program needs once is not counted; and nothing else, since memory that others have left would be used again.
 */
async function measureIdle(
  instance: Server,
  streams: Streams,
  { subscriptions: most, perSocket }: (typeof idle)[number],
): Promise<Fact> {
  const subscriptions = Math.min(most, Math.ceil((most * streams.measureMs) / fullMs));
  const customerIds = Array.from(
    { length: subscriptions },
    (_, at) => streams.customerIds[at % streams.customerIds.length] ?? '',
  );
  await drop(await subscribe(instance, streams, customerIds.slice(0, 100), perSocket), instance);
  const before = memoryOf(instance.pid);
  const subscribers = await subscribe(instance, streams, customerIds, perSocket);
  const after = memoryOf(instance.pid);
  await drop(subscribers, instance);
  const each = before === undefined || after === undefined ? undefined : ((after - before) * 1024) / subscriptions;
  return {
    what: `resident memory per idle subscription, ${subscriptions} with ${perSocket} on a socket`,
    value: each === undefined ? 'not known without /proc' : `${each.toFixed(1)} KiB`,
  };
}

/** Subscribers in a process of their own, each to one customer's payments, and the server done with opening them. */
async function subscribe(
  instance: Server,
  { authorization }: Streams,
  customerIds: readonly string[],
  perSocket: number,
): Promise<ChildProcess> {
  const child = fork(path.join(import.meta.dirname, 'load/subscribers.ts'), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const job: SubscriberJob = { url: instance.url, authorization, customerIds, perSocket };
  child.send(job);
  await once(child, 'message');
  // The last operations are under way to the server when the last socket says that it has sent them.
  await settled(instance.pid);
  return child;
}

async function drop(subscribers: ChildProcess, instance: Server): Promise<void> {
  const ended = once(subscribers, 'exit');
  subscribers.kill();
  await ended;
  await settled(instance.pid);
}

/** Waits until a process has next to nothing to do: less than 50 ms of processor time in half a second, twice. */
async function settled(pid: number): Promise<void> {
  for (let quiet = 0; quiet < 2; ) {
    const before = cpuOf(pid) ?? 0;
    await delay(500);
    quiet = (cpuOf(pid) ?? 0) - before < 50_000 ? quiet + 1 : 0;
  }
}
