import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { feedCursor, feedStart } from '../src/domain/events/cursor.ts';
import { drained } from './drained.ts';
import { cursors, startGateway } from './gateway.ts';
import type { ReplayJob } from './load/replays.ts';
import type { RequestJob } from './load/requests.ts';
import type { Returned, ReturningJob } from './load/returning.ts';
import type { Arrivals, SubscriberJob } from './load/subscribers.ts';
import { cpuOf, measure, memoryOf, requests, type Server, watchCores } from './measure.ts';
import type { Fact } from './report.ts';
import { feedEnd } from './webhooks.ts';

/** The numbers of idle subscriptions for which memory is measured, and how many of them share a socket. */
const idle = [
  { subscriptions: 10_000, perSocket: 20 },
  { subscriptions: 10_000, perSocket: 1 },
] as const;

/**
 * How many clients reconnect after their instance crashes, how many processes run these clients, and how many customers
 * they follow. Each client has missed one payment.
 */
const returning = { clients: 10_000, processes: 2, customers: 300 } as const;

/** Measurements of at least this duration use the numbers above; shorter ones use proportionally smaller numbers. */
const fullMs = 10_000;

export interface Streams {
  /** The instance that makes the changes. */
  readonly gateway: Server;
  /** The gateway's database. The subscribers use a second instance on it, whose CPU time and memory are measured. */
  readonly databaseUrl: string;
  readonly authorization: string;
  readonly platformId: string;
  readonly customerIds: readonly string[];
  readonly transfers: Omit<RequestJob, 'connections'>;
  readonly measureMs: number;
}

/**
 * Measures subscribers on a separate instance, each following one customer's payments. Every transfer causes two
 * changes: when it begins and when it ends. Then measures subscribers that follow the whole platform, clients that
 * reconnect after a crash, and thousands of idle subscriptions.
 */
export async function measureStreams(streams: Streams): Promise<Fact[]> {
  const live = await withInstance(streams, async (instance) => [
    ...(await measureFanOut(instance, streams)),
    ...(await measureBesideReplays(instance, streams)),
  ]);
  const facts: Fact[] = [];
  facts.push(...(await withInstance(streams, (instance) => measureFollowersOfAll(instance, streams))));
  facts.push(await measureReturn(streams));
  for (const size of idle) facts.push(await withInstance(streams, (instance) => measureIdle(instance, streams, size)));
  return [...live, ...facts];
}

/** Starts an instance with ROLE=serve. */
const startInstance = ({ databaseUrl }: Streams, port = '0') => startGateway(databaseUrl, 'serve', { PORT: port });

async function withInstance<T>(streams: Streams, work: (instance: Server) => Promise<T>): Promise<T> {
  const instance = await startInstance(streams);
  try {
    return await work(instance);
  } finally {
    await instance.stop();
  }
}

/**
 * Measures how long a change takes to reach its subscriber. The transaction that makes the change reads the start time
 * from the database's clock just before it commits, so the result includes the commit, but not the request.
 */
async function measureFanOut(instance: Server, streams: Streams): Promise<Fact[]> {
  const { gateway, customerIds, transfers, measureMs } = streams;
  const subscribers = await subscribe(instance, streams, customerIds, 20);
  try {
    const send = (rate: number, ms: number) =>
      measure(requests({ ...transfers, rate, connections: 64 }, gateway), { warmUpMs: 0, measureMs: ms });
    // Just-in-time compilers need a warm-up.
    await send(100, 1_000);
    await settled(instance.pid);
    subscribers.send('reset');
    const before = cpuOf(instance.pid);
    const cores = watchCores({
      'the instance that makes the changes': gateway.pid,
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
        value: `p50 ${arrivals.p50} ms, p99 ${arrivals.p99} ms, max ${arrivals.max} ms; ${arrivals.messages} of ${expected} changes arrived`,
      },
      { what: 'main threads during that time', value: coresMeanwhile },
      {
        what: 'CPU per message delivered (including reading the feed)',
        value: cpu === undefined ? 'not known without /proc' : `${Math.round(cpu)} µs`,
      },
    ];
  } finally {
    await drop(subscribers, instance);
  }
}

/** Measures a change's latency while replays on the subscribers' instance repeatedly read the feed from the start. */
async function measureBesideReplays(instance: Server, streams: Streams): Promise<Fact[]> {
  const { gateway, platformId, authorization, customerIds, transfers, measureMs } = streams;
  const facts: Fact[] = [];
  for (const replays of [8, 50, 200]) {
    const subscribers = await subscribe(instance, streams, customerIds, 20);
    const child = fork(path.join(import.meta.dirname, 'load/replays.ts'), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    try {
      const after = feedCursor(cursors, platformId, feedStart);
      child.send({ url: instance.url, authorization, after, replays, messages: 10_000 } satisfies ReplayJob);
      await answerOf(child);
      subscribers.send('reset');
      const rate = { ...transfers, rate: 50, connections: 16 };
      const { requests: sent, wrong } = await measure(requests(rate, gateway), { warmUpMs: 0, measureMs });
      const { messages, p50, p99 } = await arrived(subscribers, 2 * (sent - wrong));
      child.send('read');
      const { received } = await answerOf<{ received: number }>(child);
      facts.push({
        what: `commit → subscriber, ${customerIds.length} subscribers, during ${replays} replays (${received} messages in total)`,
        value: `p50 ${p50} ms, p99 ${p99} ms; ${messages} of ${2 * (sent - wrong)} changes arrived`,
      });
    } finally {
      child.kill();
      await drop(subscribers, instance);
    }
  }
  return facts;
}

/**
 * Measures subscribers that all follow the whole platform with the same document, which is executed only once per
 * change. A hundred subscribers show the cost of a message; a thousand show how much subscribers affect the rate and
 * latency of payments.
 */
async function measureFollowersOfAll(instance: Server, streams: Streams): Promise<Fact[]> {
  const { gateway, transfers, measureMs } = streams;
  // A transfer causes two changes, so 25 transfers/s send 50,000 messages/s to a thousand subscribers.
  const send = (perSecond: number, ms = measureMs) =>
    measure(requests({ ...transfers, rate: perSecond, connections: 32 }, gateway), { warmUpMs: 0, measureMs: ms });
  await send(25, 1_000);
  const alone = await send(25);
  const rows: { followers: number; arrivals: Arrivals; expected: number; cpu: number; payments: typeof alone }[] = [];
  for (const followers of [100, 1_000]) {
    const all = Array.from({ length: followers }, () => null);
    const subscribers = await subscribe(instance, streams, all, 1, followers / 10);
    await send(25, 1_000);
    await settled(instance.pid);
    subscribers.send('reset');
    const before = cpuOf(instance.pid) ?? Number.NaN;
    const payments = await send(25);
    const expected = 2 * (payments.requests - payments.wrong) * followers;
    const arrivals = await arrived(subscribers, expected);
    rows.push({ followers, arrivals, expected, payments, cpu: (cpuOf(instance.pid) ?? Number.NaN) - before });
    await drop(subscribers, instance);
  }
  const written = ({ perSecond, p50, p99 }: typeof alone) =>
    `${perSecond.toFixed(1)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
  return [
    ...rows.map(({ followers, arrivals, expected, cpu }) => ({
      what: `${followers} subscribers who follow the whole platform`,
      value: `${Math.round((arrivals.messages * 1000) / measureMs)} messages/s, p50 ${arrivals.p50} ms, p99 ${arrivals.p99} ms; ${(cpu / arrivals.messages).toFixed(1)} µs of CPU per message; ${arrivals.messages} of ${expected} messages arrived`,
    })),
    {
      what: 'payments at 25/s: without subscribers, and with 1,000 who follow the whole platform',
      value: `${written(alone)}; ${written(rows[1]?.payments ?? alone)}`,
    },
  ];
}

/** Measures how quickly clients recover after their instance is killed and restarted at the same address. */
async function measureReturn(streams: Streams): Promise<Fact> {
  const { gateway, authorization, transfers, measureMs } = streams;
  const customerIds = streams.customerIds.slice(0, returning.customers);
  const missed = { ...transfers, bodies: transfers.bodies.slice(0, returning.customers), once: true, connections: 16 };
  const after = await feedEnd(gateway, { ...transfers.headers });
  // A payment causes two changes.
  await measure(requests(missed, gateway), { warmUpMs: 0, measureMs: 60_000 });
  await drained(streams.databaseUrl);
  const clients = Math.min(returning.clients, Math.ceil((returning.clients * measureMs) / fullMs));
  const first = await startInstance(streams);
  const tools = Array.from({ length: returning.processes }, () =>
    fork(path.join(import.meta.dirname, 'load/returning.ts'), { execArgv: ['--disable-warning=ExperimentalWarning'] }),
  );
  const whole = () => Promise.all(tools.map(async (tool) => (await answerOf<{ returned: Returned }>(tool)).returned));
  const opened = whole();
  for (const [at, tool] of tools.entries()) {
    const own = Array.from(
      { length: Math.ceil(clients / tools.length) },
      (_, client) => customerIds[(client * tools.length + at) % customerIds.length] ?? '',
    );
    tool.send({ url: first.url, authorization, customerIds: own, after, changes: 2 } satisfies ReturningJob);
  }
  await opened;
  await settled(first.pid);
  const back = whole();
  for (const tool of tools) tool.send('begin');
  process.kill(first.pid, 'SIGKILL');
  const second = await startInstance(streams, new URL(first.url).port);
  const returned = await back;
  for (const tool of tools) tool.kill();
  await second.stop();
  const last = Math.max(...returned.map((one) => one.last));
  const half = Math.max(...returned.map((one) => one.p50));
  const failures = returned.reduce((sum, one) => sum + one.failures, 0);
  return {
    what: `time from a kill -9 of an instance until its ${clients} clients, each with its own socket, have received what they missed`,
    value: `half of them after ${(half / 1000).toFixed(1)} s, all after ${(last / 1000).toFixed(1)} s; the instance was listening again after ${(second.startMs / 1000).toFixed(1)} s; ${failures} attempts to connect failed`,
  };
}

/** Returns the arrivals once all expected messages have arrived, or once no message has arrived for ten seconds. */
async function arrived(subscribers: ChildProcess, expected: number): Promise<Arrivals> {
  let last = -1;
  for (let unchanged = 0; ; ) {
    subscribers.send('read');
    const { arrivals } = await answerOf<{ arrivals: Arrivals }>(subscribers);
    unchanged = arrivals.messages === last ? unchanged + 1 : 0;
    if (arrivals.messages >= expected || unchanged >= 40) return arrivals;
    last = arrivals.messages;
    await delay(250);
  }
}

/**
 * Measures how much the instance's resident memory grows, including the free part of its heap. The instance has already
 * served a few subscribers, so that one-time allocations are not counted. It has served no other clients, because idle
 * subscriptions would reuse the memory that those clients had freed.
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
    what: `resident memory per idle subscription, with ${subscriptions} subscriptions, ${perSocket} per socket`,
    value: each === undefined ? 'not known without /proc' : `${each.toFixed(1)} KiB`,
  };
}

/**
 * Waits for a load tool's next message.
 * @throws Error if the tool ends instead
 */
async function answerOf<Message>(tool: ChildProcess): Promise<Message> {
  const over = new AbortController();
  const ended = once(tool, 'exit', over).then(([code]) => {
    throw new Error(`a load tool exited with code ${code}`);
  });
  try {
    const [message] = await Promise.race([once(tool, 'message', over), ended]);
    return message;
  } finally {
    ended.catch(() => undefined);
    over.abort();
  }
}

/**
 * Starts subscribers in a separate process, and waits until they have subscribed. Each follows one customer's payments,
 * or the whole platform's.
 */
async function subscribe(
  instance: Server,
  { authorization }: Streams,
  customerIds: SubscriberJob['customerIds'],
  perSocket: number,
  sampled = 1,
): Promise<ChildProcess> {
  const child = fork(path.join(import.meta.dirname, 'load/subscribers.ts'), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const job: SubscriberJob = { url: instance.url, authorization, customerIds, perSocket, sampled };
  child.send(job);
  await answerOf(child);
  // The process answers once the operations are sent, but the last ones may still be on their way to the server.
  await settled(instance.pid);
  return child;
}

async function drop(subscribers: ChildProcess, instance: Server): Promise<void> {
  const ended = once(subscribers, 'exit');
  subscribers.kill();
  await ended;
  await settled(instance.pid);
}

/** Waits until a process is nearly idle: less than 50 ms of processor time in half a second, twice in a row. */
async function settled(pid: number): Promise<void> {
  for (let quiet = 0; quiet < 2; ) {
    const before = cpuOf(pid) ?? 0;
    await delay(500);
    quiet = (cpuOf(pid) ?? 0) - before < 50_000 ? quiet + 1 : 0;
  }
}
