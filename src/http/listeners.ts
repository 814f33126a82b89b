import type { Server } from 'node:http';
import net, { type AddressInfo, type ListenOptions } from 'node:net';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

/** How many sockets listen at the address: as many connections are accepted in a turn of the event loop. */
const sockets = process.platform === 'linux' ? 8 : 1;
/** Connections that may wait to be accepted, at each socket; the system may allow fewer. */
const backlog = 1024;

/** An address at which a server listens. */
export interface Listening {
  readonly port: number;
  /** Closes the port when those who have connected to it are accepted. */
  close(): Promise<void>;
}

/**
 * Lets a server listen at host and port, where the system can spread connections over them (Linux) on several sockets.
 * One socket gives up one connection in each turn of the event loop. Under load a turn takes tens of milliseconds, so
 * behind a single one the last of a thousand clients that come at once waits for ten seconds and more, where none of our
 * limits sees it.
 * @param port 0 for any that is free
 * @throws Error EADDRINUSE and its like
 */
export async function listen(server: Server, host: string, port: number): Promise<Listening> {
  if (sockets === 1) {
    await listenAt(server, { host, port, backlog });
    return { port: portOf(server), close: () => closePort(server, [server]) };
  }
  // A port of the system's choice is never one that another process has.
  if (port === 0) return listenOnAll(server, host, port);
  return oneAtATime(port, async () => {
    // Sockets that share a port would share it with another process of this user as well: that one is in use is found
    // out by asking for it alone.
    const alone = net.createServer();
    await listenAt(alone, { host, port });
    await closed(alone);
    return listenOnAll(server, host, port);
  });
}

async function listenOnAll(server: Server, host: string, port: number): Promise<Listening> {
  await listenAt(server, { host, port, backlog, reusePort: true });
  const chosen = portOf(server);
  // Connections as node:http makes its own, and handed to it.
  const others = Array.from({ length: sockets - 1 }, () =>
    net.createServer({ allowHalfOpen: true, noDelay: true, ...keepAlive }, (socket) =>
      server.emit('connection', socket),
    ),
  );
  for (const other of others) await listenAt(other, { host, port: chosen, backlog, reusePort: true });
  return { port: chosen, close: () => closePort(server, [server, ...others]) };
}

/** For how long a quiet turn of the event loop is awaited before a port closes all the same, and what such a turn takes. */
const closingMs = { most: 100, quiet: 0.5 } as const;

/**
 * Closes listening sockets. The system resets connections that wait there to be accepted, so it is done after a turn of the
 * event loop in which none came, and which was too short for one to come after the look.
 */
async function closePort(server: Server, listeners: readonly net.Server[]): Promise<void> {
  const until = performance.now() + closingMs.most;
  let accepted = 0;
  const count = () => {
    accepted += 1;
  };
  server.on('connection', count);
  for (let quiet = false; !quiet && performance.now() < until; ) {
    accepted = 0;
    await turn();
    const begun = performance.now();
    await turn();
    quiet = accepted === 0 && performance.now() - begun < closingMs.quiet;
  }
  server.off('connection', count);
  for (const listener of listeners) listener.close();
}

/** How long to wait before one asks again for its turn, which lasts a few milliseconds, and for how long it asks. */
const turnMs = { again: 10, most: 5_000 } as const;

/**
 * Lets one process at a time take sockets at a port: of several that start at the same moment none would be listening yet
 * when another asks. Who has the turn is known by an abstract Unix socket, which the system frees if the process ends, and
 * which belongs to the same network namespace as the port. It is named by the port alone, since an address that stands for
 * all of them, or a name of one, is in the way of others.
 * @throws Error EADDRINUSE when the turn does not come
 */
async function oneAtATime<Result>(port: number, act: () => Promise<Result>): Promise<Result> {
  const turn = await turnAt(port, performance.now() + turnMs.most);
  try {
    return await act();
  } finally {
    await closed(turn);
  }
}

async function turnAt(port: number, until: number): Promise<net.Server> {
  for (;;) {
    const turn = net.createServer();
    try {
      await listenAt(turn, { path: `\0payments-graphql-gateway:${port}` });
      return turn;
    } catch (error) {
      const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!taken || performance.now() > until) throw error;
    }
    await delay(turnMs.again);
  }
}

/** Connections whose client has vanished without a word are found out. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelay: 12_000 } as const;

function listenAt(server: net.Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function portOf(server: net.Server): number {
  // A server that listens at host and port has an address of this kind.
  return (server.address() as AddressInfo).port;
}

function closed(server: net.Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
