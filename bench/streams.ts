import { fork } from 'node:child_process';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RequestJob } from './load/requests.ts';
import type { Arrivals, SubscriberJob } from './load/subscribers.ts';
import { measureRequests, memoryOf, type Server } from './measure.ts';
import type { Fact } from './report.ts';

/**
 * A thousand subscribers, each to the payments of one customer, while those customers' accounts are paid from: every
 * transfer is two changes, its beginning and its end.
 */
export async function measureFanOut(
  gateway: Server,
  authorization: string,
  customerIds: readonly string[],
  transfers: Omit<RequestJob, 'connections' | 'warmUpMs' | 'measureMs'>,
  measureMs: number,
): Promise<Fact[]> {
  const before = memoryOf(gateway.pid) ?? 0;
  const child = fork(path.join(import.meta.dirname, 'load/subscribers.ts'), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const next = <T>() => new Promise<T>((resolve) => child.once('message', (message) => resolve(message as T)));
  try {
    const job: SubscriberJob = { url: gateway.url, authorization, customerIds, perSocket: 20 };
    const subscribed = next();
    child.send(job);
    await subscribed;
    // The last operations are under way to the server when the last socket says that it has sent them.
    await delay(1_000);
    const after = memoryOf(gateway.pid) ?? 0;
    child.send('reset');
    const changes = await measureRequests(
      { ...transfers, rate: 250, connections: 64, warmUpMs: 0, measureMs },
      gateway.pid,
    );
    await delay(1_500);
    const arrived = next<{ arrivals: Arrivals }>();
    child.send('read');
    const { arrivals } = await arrived;
    const perSecond = Math.round((arrivals.messages * 1000) / measureMs);
    return [
      {
        what: `change → subscriber, ${customerIds.length} subscribers, ${perSecond} changes/s`,
        value: `p50 ${arrivals.p50} ms, p99 ${arrivals.p99} ms, most ${arrivals.max} ms; ${arrivals.messages} of ${changes.requests * 2 - 2 * changes.wrong} changes arrived`,
      },
      {
        what: 'resident memory per open subscription',
        value: `${Math.round(((after - before) * 1024) / customerIds.length)} KiB (20 on a socket)`,
      },
    ];
  } finally {
    child.kill();
  }
}
