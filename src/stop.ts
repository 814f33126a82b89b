import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Sessions } from './access/sessions.ts';
import type { Database } from './database/database.ts';
import type { Feed } from './events/feed.ts';
import type { serveWebSockets } from './graphql/transports/websocket.ts';
import type { HttpServer } from './http/server.ts';
import type { startWorkers } from './work/workers.ts';

/** What an instance runs, as far as a stop has to end it. */
export interface Running {
  /** Undefined for an instance that only works. */
  readonly serving?: {
    readonly http: HttpServer;
    readonly sockets: ReturnType<typeof serveWebSockets>;
    /** How long requests are taken although readiness says no, so that balancers see it. */
    readonly delayMs: number;
    /** How long a connection may say nothing after that: its client may have sent a request already. */
    readonly silentMs: number;
  };
  readonly sessions: Sessions;
  readonly workers: ReturnType<typeof startWorkers> | undefined;
  readonly feed: Feed;
  readonly database: Database;
  readonly log: Logger;
}

/**
 * When a step is given up, counted from the closing of the port. With the default delay of production the last is less
 * than the 10 s after which Docker kills; what is given up is rolled back or ends with the process.
 */
const untilMs = { requests: 5_000, workers: 6_000, database: 6_500 } as const;
/** Open streams are sent away over so long, so that the other instances are not met by all at once. */
const spread = { mostMs: 3_000, eachMs: 5 } as const;
/**
 * Stops an instance: readiness says no, after a delay the port closes, streams are sent away while requests under way are
 * finished, then the workers, the feed and the database end.
 */
export async function stopInOrder({ serving, sessions, workers, feed, database, log }: Running): Promise<void> {
  if (serving) {
    serving.http.announceStop();
    if (serving.delayMs > 0) await delay(serving.delayMs);
  }
  const begun = performance.now();
  const within = async (step: keyof typeof untilMs, work: Promise<unknown>) => {
    if (await endsWithin(work, begun + untilMs[step] - performance.now())) return;
    log.warn({ step }, 'the stop does not wait any longer');
  };
  if (serving) {
    await within('requests', Promise.all([stopServing(serving, sessions), workers?.stopDelivering()]));
    serving.http.destroy();
  } else {
    await sessions.leave(0);
  }
  await within('workers', Promise.resolve(workers?.stop()));
  await within(
    'database',
    feed.close().then(() => database.close()),
  );
}

/** Closes the port, then sends streams away and lets requests finish, side by side. */
async function stopServing({ http, sockets, silentMs }: NonNullable<Running['serving']>, sessions: Sessions) {
  await http.close();
  const ended = http.endConnections(silentMs);
  const left = sessions.leave(Math.min(spread.mostMs, sessions.size * spread.eachMs));
  await Promise.all([ended, left.then(() => sockets.close())]);
}

/** Whether the work ends within so many milliseconds. */
async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const ended = work.then(() => true);
  const late = delay(Math.max(0, ms), false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([ended, late]);
  } finally {
    timer.abort();
  }
}
