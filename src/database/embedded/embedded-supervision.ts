import { setTimeout as delay } from 'node:timers/promises';
import { isStopping, type RunningServer, shutDown } from './embedded-cluster.ts';
import { EmbeddedPostgresError } from './embedded-error.ts';
import type { ServerLocation } from './embedded-location.ts';
import { leave } from './embedded-presence.ts';
import { type JoinedServer, restart, type ServerOptions } from './embedded-start.ts';

// A server can go away while it is in use: it crashes, it is killed, its disk is full. Then the presence of each process
// ends, and the process starts the server again on the port that its connections use. A presence also ends when any other
// connection crashes, since Postgres then closes them all.

/** The pause after the first failed start, doubled after each further one, and its limit. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** How often the supervision checks whether the server is asked to stop. */
const CHECK_MS = 1_000;

/** The supervision of one server. */
export interface Supervision {
  /** The server's process: the latest one. */
  readonly pid: number;
  /** Stops using the server, and shuts it down if no other process uses it. */
  stop(): Promise<void>;
}

/** Starts the server again whenever it goes away, until `stop`. Warns when it goes, why it does not start, and when it is back. */
export function supervise(options: ServerOptions, initial: JoinedServer, warn: (line: string) => void): Supervision {
  const stopping = new AbortController();
  const stopped = new Promise((resolve) => stopping.signal.addEventListener('abort', resolve));
  let current = initial;
  const supervised = (async () => {
    while (!stopping.signal.aborted) {
      await Promise.race([current.presence.ended, stopped]);
      if (!stopping.signal.aborted) current = (await recover(options, current, stopping.signal, warn)) ?? current;
    }
  })();
  const checks = setInterval(() => void hastenStop(options.location, current.server), CHECK_MS).unref();
  return {
    get pid() {
      return current.server.pid;
    },
    async stop() {
      clearInterval(checks);
      stopping.abort();
      await supervised;
      await leave(options.location, options.password, current.presence);
    },
  };
}

/**
 * Shuts the server down at once when it waits for its connections to end. Postgres begins to wait on SIGTERM, which a
 * machine sends to all processes when it shuts down. The presences never end, so it would refuse new connections for ever.
 */
async function hastenStop(location: ServerLocation, server: RunningServer): Promise<void> {
  if (await isStopping(location, server)) shutDown(server);
}

/** @returns undefined when the supervision was stopped before the server was back */
async function recover(
  options: ServerOptions,
  { server: { pid, port } }: JoinedServer,
  signal: AbortSignal,
  warn: (line: string) => void,
): Promise<JoinedServer | undefined> {
  warn(`The embedded Postgres (process ${pid}) ended its connection: bringing it back on port ${port}`);
  const start = performance.now();
  const logged = new Set<string>();
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      const restarted = await restart(options, port, signal);
      const ms = Math.round(performance.now() - start);
      warn(`The embedded Postgres is back on port ${port} after ${ms} ms (process ${restarted.server.pid})`);
      return restarted;
    } catch (error) {
      if (signal.aborted) return undefined;
      const reason = reasonOf(error);
      // Each reason is logged once. Numbers, in hexadecimal too, differ from one try to the next.
      const pattern = reason.replaceAll(/\b[\dA-F]*\d[\dA-F]*\b/gi, '');
      if (!logged.has(pattern))
        warn(`The embedded Postgres does not start, and is tried again until it does: ${reason}`);
      logged.add(pattern);
    }
    await delay(pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
  }
}

function reasonOf(error: unknown): string {
  const lines = error instanceof EmbeddedPostgresError ? error.lastLines.filter((line) => line !== '') : [];
  // A server logs most of its lines at every start.
  const faults = lines.filter((line) => !line.startsWith('LOG:') || line.includes('could not'));
  if (lines.length > 0) return (faults.length > 0 ? faults : lines).join(' | ');
  return error instanceof Error ? error.message : String(error);
}
