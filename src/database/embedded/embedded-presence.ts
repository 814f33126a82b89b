import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { sqlState } from '../faults.ts';
import { findServer, type RunningServer, shutDown } from './embedded-cluster.ts';
import { EmbeddedPostgresError } from './embedded-error.ts';
import type { ServerLocation } from './embedded-location.ts';

// Tracks which processes use a server: each holds a shared advisory lock on a separate connection, its presence. The
// lock ends with the process, so a killed process leaves no wrong record. The last to leave shuts the server down.

/** Any key will do: nothing else takes locks in the database `postgres`. */
const USE_LOCK = 1;

/** How many milliseconds a server may take to recover after a crash, or to shut down. */
export const SERVER_TIMEOUT_MS = 120_000;
export const POLL_MS = 10;

/** How many milliseconds after a crash a process that leaves waits for the others to join again: the crash ended all presences. */
const REJOIN_MS = 2_000;

/** The connection that shows that this process uses the server. */
export interface Presence {
  /** Resolves when the connection has ended, for whatever reason. */
  readonly ended: Promise<void>;
  end(): Promise<void>;
}

/**
 * Opens the presence of this process on the server. Waits while another process, the last that used it, shuts it down.
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
 * Ends the presence of this process, and shuts the server down if no other process has one. Waits first while the server
 * recovers or starts: until then nobody can see who uses it.
 *
 * @throws EmbeddedPostgresError when it neither answers nor ends in time
 */
export async function leave(location: ServerLocation, password: string, presence: Presence): Promise<void> {
  await presence.end();
  const server = await findServer(location);
  // A server that another process starts meanwhile is that process's to shut down.
  if (server) await waitForExit(location, server, (current) => shutDownUnlessUsed(location, current, password));
}

/** @returns false when the server does not answer: it is starting, recovering, or being shut down by another process */
async function shutDownUnlessUsed(location: ServerLocation, server: RunningServer, password: string): Promise<boolean> {
  if (!server.ready) return false;
  const client = newClient(server, password);
  try {
    const isLast = await tryExclusiveLock(client).catch(() => undefined);
    if (isLast) {
      shutDown(server);
      await waitForExit(location, server);
    }
    return isLast !== undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Takes the lock exclusively if no process uses the server. Of two that leave at once, one succeeds; a process that joins meanwhile waits. */
async function tryExclusiveLock(client: pg.Client): Promise<boolean> {
  await client.connect();
  // Postgres resets its statistics when it recovers from a crash, which has ended every presence.
  const { rows: recovered } = await client.query<{ wait: number }>(
    `select $1 - extract(epoch from clock_timestamp() - stats_reset)::float8 * 1000 as wait
     from pg_stat_bgwriter where stats_reset > pg_postmaster_start_time()`,
    [REJOIN_MS],
  );
  await delay(Math.min(Math.max(recovered[0]?.wait ?? 0, 0), REJOIN_MS));
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [USE_LOCK]);
  return rows[0]?.taken === true;
}

/** Waits until the server's process is gone, or `isDone` says that there is nothing to wait for. */
async function waitForExit(
  location: ServerLocation,
  { pid }: RunningServer,
  isDone: (server: RunningServer) => Promise<boolean> = async () => false,
): Promise<void> {
  const deadline = Date.now() + SERVER_TIMEOUT_MS;
  for (;;) {
    const server = await findServer(location);
    if (server?.pid !== pid || (await isDone(server))) return;
    if (Date.now() > deadline) {
      throw new EmbeddedPostgresError(`The embedded Postgres (process ${pid}) does not shut down.`);
    }
    await delay(POLL_MS);
  }
}

const INVALID_PASSWORD = '28P01';

function newClient(server: RunningServer, password: string): pg.Client {
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port: server.port, ssl: false, user: 'postgres', password, database: 'postgres' },
    application_name: 'payments-graphql-gateway (uses the embedded server)',
    // A connection to a server that has just been killed may get no answer.
    connectionTimeoutMillis: 10_000,
  });
  // This connection breaks when the server goes down, and without a listener that would end the process.
  client.on('error', () => undefined);
  return client;
}
