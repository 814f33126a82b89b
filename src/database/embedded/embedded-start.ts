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
import type { Place } from './embedded-place.ts';
import { join, LOOK_AGAIN_MS, PATIENCE_MS, type Presence } from './embedded-presence.ts';

/** What a server of one cluster is started with. */
export interface ServerOptions {
  readonly place: Place;
  /** The superuser's. */
  readonly password: string;
  /** Each as `name=value`. */
  readonly settings: readonly string[];
}

/** A server that runs, and our presence on it. */
export interface JoinedServer {
  readonly server: RunningServer;
  readonly presence: Presence;
  /** Whether it was there already: another process started it. */
  readonly joined: boolean;
}

/**
 * Starts the server, or joins the one that already runs on the cluster. Takes the port of the last time if it is free.
 *
 * @throws EmbeddedPostgresError with the server's last log lines when it cannot be started
 */
export async function joinOrStart(options: ServerOptions): Promise<JoinedServer> {
  // More than one try, because between looking and starting the port may be taken or another process be faster, and
  // the connections of a server that was killed take a moment to notice.
  return bringUp(options, { choosePort: () => choosePort(options.place), tries: 3 });
}

/**
 * Does the same once on the one port that its users know.
 *
 * @throws the signal's reason when it is aborted; a server that was being started then answers, or has ended
 * @throws EmbeddedPostgresError when the server does not start, or runs on another port
 */
export async function bringBack(options: ServerOptions, port: number, signal: AbortSignal): Promise<JoinedServer> {
  return bringUp(options, { choosePort: async () => port, onlyPort: port, tries: 1, signal });
}

interface Attempt {
  choosePort(): Promise<number>;
  readonly onlyPort?: number;
  readonly tries: number;
  readonly signal?: AbortSignal;
}

async function bringUp({ place, password, settings }: ServerOptions, attempt: Attempt): Promise<JoinedServer> {
  const givenUp = Date.now() + PATIENCE_MS;
  let started: StartedServer | undefined;
  let triesLeft = attempt.tries;
  for (;;) {
    const server = await findServer(place);
    if (attempt.signal?.aborted && (server || !started || hasEnded(started.process))) throw attempt.signal.reason;
    if (server?.ready) {
      refuseOtherPort(server, attempt.onlyPort);
      const presence = await join(server, password);
      if (presence) return { server, presence, joined: server.pid !== started?.process.pid };
    } else if (!server && !started) {
      started = await spawnServer(place, await attempt.choosePort(), settings);
    } else if (!server && started && hasEnded(started.process)) {
      await removeStaleLock(place);
      if (--triesLeft === 0) throw await startFailure(place, started.logStart);
      started = undefined;
    }
    if (Date.now() > givenUp) throw await startFailure(place);
    await delay(LOOK_AGAIN_MS);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** The connections of this process have one address for good. */
function refuseOtherPort({ pid, port }: RunningServer, onlyPort = port): void {
  if (port === onlyPort) return;
  const reason = `another process has started it (process ${pid}) on port ${port}, because port ${onlyPort} was taken`;
  throw new EmbeddedPostgresError(`The embedded Postgres cannot be used: ${reason}.`, { lastWords: [reason] });
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
