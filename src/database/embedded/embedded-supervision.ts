import { setTimeout as delay } from 'node:timers/promises';
import { isStopping, type RunningServer, shutDown } from './embedded-cluster.ts';
import { EmbeddedPostgresError } from './embedded-error.ts';
import type { Place } from './embedded-place.ts';
import { leave } from './embedded-presence.ts';
import { bringBack, type JoinedServer, type ServerOptions } from './embedded-start.ts';

// A server can go away while we use it: it crashes, it is killed, its disk is full. Whoever holds a presence on it
// notices, since that connection ends, and brings the server back on the port that all connections of this process
// know. It also ends when any other connection crashes, since Postgres then closes them all.

/** The pause after the first start that fails, doubled after each one more, and its limit. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** How often the supervision looks whether somebody else has asked the server to stop. */
const LOOK_MS = 1_000;

export interface Supervision {
  /** The server's process: the latest one. */
  readonly pid: number;
  /** Stops using the server, and shuts it down if no other process uses it. */
  stop(): Promise<void>;
}

/** Brings the server back whenever it goes away, until `stop`. Warns when it goes, why it does not start, and when it is back. */
export function supervise(options: ServerOptions, first: JoinedServer, warn: (line: string) => void): Supervision {
  const stopping = new AbortController();
  const stopped = new Promise((resolve) => stopping.signal.addEventListener('abort', resolve));
  let current = first;
  const supervised = (async () => {
    while (!stopping.signal.aborted) {
      await Promise.race([current.presence.ended, stopped]);
      if (!stopping.signal.aborted) current = (await recover(options, current, stopping.signal, warn)) ?? current;
    }
  })();
  const looking = setInterval(() => void hasten(options.place, current.server), LOOK_MS).unref();
  return {
    get pid() {
      return current.server.pid;
    },
    async stop() {
      clearInterval(looking);
      stopping.abort();
      await supervised;
      await leave(options.place, options.password, current.presence);
    },
  };
}

/**
 * Postgres takes SIGTERM, which machines send to all processes when they shut down, as a wish to stop when nobody is
 * connected any more. We always are, so it would refuse new connections for ever: better it stops now and comes back.
 */
async function hasten(place: Place, server: RunningServer): Promise<void> {
  if (await isStopping(place, server)) shutDown(server);
}

/** @returns undefined when it was stopped before the server was back */
async function recover(
  options: ServerOptions,
  { server: { pid, port } }: JoinedServer,
  signal: AbortSignal,
  warn: (line: string) => void,
): Promise<JoinedServer | undefined> {
  warn(`The embedded Postgres (process ${pid}) ended its connection: bringing it back on port ${port}`);
  const began = performance.now();
  const logged = new Set<string>();
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      const back = await bringBack(options, port, signal);
      const ms = Math.round(performance.now() - began);
      warn(`The embedded Postgres is back on port ${port} after ${ms} ms (process ${back.server.pid})`);
      return back;
    } catch (error) {
      if (signal.aborted) return undefined;
      const reason = reasonOf(error);
      // Numbers, in hexadecimal too, differ from one try to the next.
      const known = reason.replaceAll(/\b[\dA-F]*\d[\dA-F]*\b/gi, '');
      if (!logged.has(known)) warn(`The embedded Postgres does not start, and is tried again until it does: ${reason}`);
      logged.add(known);
    }
    await delay(pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
  }
}

function reasonOf(error: unknown): string {
  const words = error instanceof EmbeddedPostgresError ? error.lastWords.filter((line) => line !== '') : [];
  // Most of what a server says at its start is said at every start.
  const faults = words.filter((line) => !line.startsWith('LOG:') || line.includes('could not'));
  if (words.length > 0) return (faults.length > 0 ? faults : words).join(' | ');
  return error instanceof Error ? error.message : String(error);
}
