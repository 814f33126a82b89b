import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { serveWebSockets } from '../api/graphql/transports/websocket.ts';
import type { HttpServer } from '../api/http/server.ts';
import type { RefusalPace } from '../domain/access/limits/rate-limits.ts';
import type { Sessions } from '../domain/access/tokens/sessions.ts';
import type { Feed } from '../domain/events/feed.ts';
import type { ReadinessWatch } from '../infra/health/readiness.ts';
import { TooLate, within } from '../infra/instruments/within.ts';
import type { MetricsServer } from './observe/metrics.ts';
import type { startWorkers } from './workers/workers.ts';

/** The APIs that an instance serves, and the time limits for closing their connections. */
export interface Serving {
  readonly http: HttpServer;
  readonly sockets: ReturnType<typeof serveWebSockets>;
  readonly pace: Pick<RefusalPace, 'end'>;
  /** How long to accept requests after readiness starts to fail, in ms. Load balancers need this time to notice. */
  readonly delayMs: number;
  /** How long a connection may be idle after that, in ms. Its client may already have sent another request. */
  readonly idleMs: number;
}

/** The parts of an instance. A part is absent if it has not been started yet, or if the ROLE does not need it. */
export interface Running {
  serving?: Serving | undefined;
  workers?: ReturnType<typeof startWorkers> | undefined;
  metrics?: MetricsServer;
  /** Closes the rails and the databases. */
  close: () => Promise<void>;
  readonly sessions: Sessions;
  readonly feed: Feed;
  readonly readiness: ReadinessWatch;
  readonly log: Logger;
}

/** The deadline of each step, in ms after the port begins to close. Docker kills the process after 10 s in total. */
const deadlinesMs = { requests: 5_000, workers: 6_000, database: 6_500 } as const;
/** Open streams are ended over this period, so that their clients do not all reconnect elsewhere at once. */
const spread = { mostMs: 3_000, eachMs: 5 } as const;

/** Stops an instance: readiness fails; after a delay, port and streams close; then workers, feed and database stop. */
export async function stopInOrder(running: Running): Promise<void> {
  const { serving, sessions, workers, feed, readiness, metrics, log } = running;
  readiness.isServing = false;
  if (serving) {
    serving.http.connections.announceEnd();
    if (serving.delayMs > 0) await delay(serving.delayMs);
  }
  const start = performance.now();
  const waitFor = async (step: keyof typeof deadlinesMs, work: Promise<unknown>) => {
    const leftMs = Math.max(0, start + deadlinesMs[step] - performance.now());
    await within(leftMs, work).catch((error: unknown) => {
      if (!(error instanceof TooLate)) throw error;
      log.warn({ step }, 'shutdown: a step timed out; continuing');
    });
  };
  if (serving) {
    await waitFor('requests', Promise.all([stopServing(serving, sessions), workers?.stopDelivering()]));
    serving.http.connections.destroy();
  } else {
    await sessions.leave(0);
  }
  await waitFor('workers', Promise.resolve(workers?.stop()));
  await waitFor(
    'database',
    feed.close().then(() => {
      readiness.close();
      metrics?.close();
      return running.close();
    }),
  );
}

/** Closes the port, and then ends the streams while requests finish. */
async function stopServing({ http, sockets, pace, idleMs }: Serving, sessions: Sessions) {
  await http.close();
  pace.end();
  const requests = http.connections.end(idleMs);
  const streams = sessions.leave(Math.min(spread.mostMs, sessions.size * spread.eachMs));
  await Promise.all([requests, streams.then(() => sockets.close())]);
}
