import type { ChildProcess } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  findServer,
  type RunningServer,
  removeStaleLock,
  type StartedServer,
  spawnServer,
  startFailure,
} from './embedded-cluster.ts';
import { EmbeddedPostgresError } from './embedded-error.ts';
import type { ServerLocation } from './embedded-location.ts';
import { join, POLL_MS, type Presence, SERVER_TIMEOUT_MS } from './embedded-presence.ts';

/** The parameters that start a server of one cluster. */
export interface ServerOptions {
  readonly location: ServerLocation;
  /** The superuser's. */
  readonly password: string;
  /** Each as `name=value`. */
  readonly settings: readonly string[];
}

/** A running server, and the presence of this process on it. */
export interface JoinedServer {
  readonly server: RunningServer;
  readonly presence: Presence;
  /** Whether another process has started it. */
  readonly joined: boolean;
}

/**
 * Starts the server, or joins the one that already runs on the cluster. Uses the port of the last start if it is free.
 *
 * @throws EmbeddedPostgresError with the server's last log lines when it cannot be started
 */
export async function joinOrStart(options: ServerOptions): Promise<JoinedServer> {
  // More than one try: before the start another process may take the port or start the server first, and the connections
  // of a killed server take a moment to notice.
  return startOrJoin(options, { choosePort: () => choosePort(options.location), tries: 3 });
}

/**
 * Starts or joins the server again, with one try, on the port that the connections of this process use.
 *
 * @throws the signal's reason when it is aborted; a server that was being started then answers, or has ended
 * @throws EmbeddedPostgresError when the server does not start, or runs on another port
 */
export async function restart(options: ServerOptions, port: number, signal: AbortSignal): Promise<JoinedServer> {
  return startOrJoin(options, { choosePort: async () => port, onlyPort: port, tries: 1, signal });
}

interface Attempt {
  choosePort(): Promise<number>;
  readonly onlyPort?: number;
  readonly tries: number;
  readonly signal?: AbortSignal;
}

async function startOrJoin({ location, password, settings }: ServerOptions, attempt: Attempt): Promise<JoinedServer> {
  const deadline = Date.now() + SERVER_TIMEOUT_MS;
  let started: StartedServer | undefined;
  let triesLeft = attempt.tries;
  for (;;) {
    const server = await findServer(location);
    if (attempt.signal?.aborted && (server || !started || hasEnded(started.process))) throw attempt.signal.reason;
    if (server?.ready) {
      refuseOtherPort(server, attempt.onlyPort);
      const presence = await join(server, password);
      if (presence) return { server, presence, joined: server.pid !== started?.process.pid };
    } else if (!server && !started) {
      started = await spawnServer(location, await attempt.choosePort(), settings);
    } else if (!server && started && hasEnded(started.process)) {
      await removeStaleLock(location);
      if (--triesLeft === 0) throw await startFailure(location, started.logStart);
      started = undefined;
    }
    if (Date.now() > deadline) throw await startFailure(location);
    await delay(POLL_MS);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** Refuses a server on another port: the connections of this process cannot change their address. */
function refuseOtherPort({ pid, port }: RunningServer, onlyPort = port): void {
  if (port === onlyPort) return;
  const reason = `another process has started it (process ${pid}) on port ${port}, because port ${onlyPort} was taken`;
  throw new EmbeddedPostgresError(`The embedded Postgres cannot be used: ${reason}.`, { lastLines: [reason] });
}

/** Returns the port of the last start if it is free, so that connections saved in a database tool keep working. */
async function choosePort({ folder }: ServerLocation): Promise<number> {
  const file = path.join(folder, 'port');
  const last = Number(await readFile(file, 'utf8').catch(() => '0'));
  const port = await freePort(last).catch(() => freePort(0));
  if (port !== last) await writeFile(file, `${port}\n`);
  return port;
}

async function freePort(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host: '127.0.0.1', port }, () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no address')),
      );
    });
  });
}
