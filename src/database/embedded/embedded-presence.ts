import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { sqlState } from '../faults.ts';
import { findServer, type RunningServer, shutDown } from './embedded-cluster.ts';
import { EmbeddedPostgresError } from './embedded-error.ts';
import type { Place } from './embedded-place.ts';

// Who uses a server: each process holds a shared advisory lock on a connection of its own, its presence. The lock ends
// with the process, so no killed process can leave a wrong record behind. The last to leave shuts the server down.

/** Any key will do: nothing else takes locks in the database `postgres`. */
const USE_LOCK = 1;

/** How long a server may take to recover after a crash, or to shut down. */
export const PATIENCE_MS = 120_000;
export const LOOK_AGAIN_MS = 10;

/** How long after a crash a leaver waits for the others, who have lost their presence by it, to take it again. */
const RETURN_MS = 2_000;

export interface Presence {
  /** Resolves when the connection has ended, for whatever reason. */
  readonly ended: Promise<void>;
  end(): Promise<void>;
}

/**
 * Opens the connection that shows that this process uses the server. Waits while another process that found itself the
 * last is about to shut it down.
 *
 * @returns undefined when the server is going down
 */
export async function join(server: RunningServer, password: string): Promise<Presence | undefined> {
  const client = newClient(server, password);
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  try {
    await client.connect();
    await client.query('select pg_advisory_lock_shared($1)', [USE_LOCK]);
    return { ended, end: () => client.end() };
  } catch (error) {
    await client.end().catch(() => undefined);
    if (sqlState(error) === INVALID_PASSWORD) throw error;
    return undefined;
  }
}

/**
 * Gives up our share of the lock, and shuts the server down if nobody else has one. A server that is recovering or
 * starting cannot say yet who uses it: then this waits until it can.
 *
 * @throws EmbeddedPostgresError when it neither answers nor ends in time
 */
export async function leave(place: Place, password: string, presence: Presence): Promise<void> {
  await presence.end();
  const server = await findServer(place);
  // A server that another process starts meanwhile is that one's to look after.
  if (server) await untilGone(place, server, (found) => shutDownUnlessUsed(place, found, password));
}

/** @returns false when the server does not answer: it is starting, recovering, or going down by another hand */
async function shutDownUnlessUsed(place: Place, server: RunningServer, password: string): Promise<boolean> {
  if (!server.ready) return false;
  const client = newClient(server, password);
  try {
    const last = await takeWholeLock(client).catch(() => undefined);
    if (last) {
      shutDown(server);
      await untilGone(place, server);
    }
    return last !== undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Of two that leave at once one succeeds, since both have given up their share. Whoever joins meanwhile has to wait. */
async function takeWholeLock(client: pg.Client): Promise<boolean> {
  await client.connect();
  // The statistics begin anew when the server recovers from a crash, which has ended every presence.
  const { rows: recovered } = await client.query<{ wait: number }>(
    `select $1 - extract(epoch from clock_timestamp() - stats_reset)::float8 * 1000 as wait
     from pg_stat_bgwriter where stats_reset > pg_postmaster_start_time()`,
    [RETURN_MS],
  );
  await delay(Math.min(Math.max(recovered[0]?.wait ?? 0, 0), RETURN_MS));
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [USE_LOCK]);
  return rows[0]?.taken === true;
}

/** Looks again until the server's process is gone, or `settled` says that there is nothing to wait for. */
async function untilGone(
  place: Place,
  { pid }: RunningServer,
  settled: (server: RunningServer) => Promise<boolean> = async () => false,
): Promise<void> {
  const givenUp = Date.now() + PATIENCE_MS;
  for (;;) {
    const server = await findServer(place);
    if (server?.pid !== pid || (await settled(server))) return;
    if (Date.now() > givenUp) {
      throw new EmbeddedPostgresError(`The embedded Postgres (process ${pid}) does not shut down.`);
    }
    await delay(LOOK_AGAIN_MS);
  }
}

const INVALID_PASSWORD = '28P01';

function newClient(server: RunningServer, password: string): pg.Client {
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port: server.port, ssl: false, user: 'postgres', password, database: 'postgres' },
    application_name: 'payments-graphql-gateway (uses the embedded server)',
    // A server that has just been killed may leave a connection that nobody answers.
    connectionTimeoutMillis: 10_000,
  });
  // When the server goes down, so does this connection, and without a listener it would end the process.
  client.on('error', () => undefined);
  return client;
}
