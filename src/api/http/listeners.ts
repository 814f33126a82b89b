import { once } from 'node:events';
import type { Server } from 'node:http';
import net, { type AddressInfo, type ListenOptions } from 'node:net';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

/** The number of sockets that listen on the address. Each accepts one connection per turn of the event loop. */
const sockets = process.platform === 'linux' ? 8 : 1;
/** The maximum number of connections waiting to be accepted by each socket. The system may allow fewer. */
const backlog = 1024;

/**
 * Listens on a host and port: on Linux with several sockets, over which the system spreads connections. A socket
 * accepts one connection per turn of the event loop, which takes tens of milliseconds under load: with a single socket,
 * the last of a thousand simultaneous clients would wait for over ten seconds, unseen by the admission control.
 * @param port 0 for any free port
 * @throws Error for EADDRINUSE and similar system errors
 */
export async function listen(server: Server, host: string, port: number) {
  if (sockets === 1) {
    await listenAt(server, { host, port, backlog });
    return { port: portOf(server), close: () => closePort(server, [server]) };
  }
  // A port chosen by the system is not used by another process.
  if (port === 0) return listenOnAll(server, host, port);
  const lock = await lockPort(port, performance.now() + lockMs.max);
  try {
    // Sockets that share a port would also share it with another process of the same user, so an exclusive socket first
    // checks whether the port is in use.
    const exclusive = net.createServer();
    await listenAt(exclusive, { host, port });
    await closed(exclusive);
    return await listenOnAll(server, host, port);
  } finally {
    await closed(lock);
  }
}

async function listenOnAll(server: Server, host: string, port: number) {
  await listenAt(server, { host, port, backlog, reusePort: true });
  const actualPort = portOf(server);
  // Accepts connections with the same options as node:http does, and passes them to the server.
  const others = Array.from({ length: sockets - 1 }, () =>
    net.createServer({ allowHalfOpen: true, noDelay: true, ...keepAlive }, (socket) =>
      server.emit('connection', socket),
    ),
  );
  for (const other of others) await listenAt(other, { host, port: actualPort, backlog, reusePort: true });
  return { port: actualPort, close: () => closePort(server, [server, ...others]) };
}

/** How long `closePort` waits for a quiet turn of the event loop, and how long such a turn can be, in ms. */
const closingMs = { max: 100, quiet: 0.5 } as const;

/**
 * Closes listening sockets. The system resets connections that are still waiting to be accepted, so the sockets are
 * closed after a turn of the event loop that accepted no connection and was too short for one to have arrived.
 */
async function closePort(server: Server, listeners: readonly net.Server[]): Promise<void> {
  const deadline = performance.now() + closingMs.max;
  let accepted = 0;
  const count = () => {
    accepted += 1;
  };
  server.on('connection', count);
  for (let quiet = false; !quiet && performance.now() < deadline; ) {
    accepted = 0;
    await turn();
    const start = performance.now();
    await turn();
    quiet = accepted === 0 && performance.now() - start < closingMs.quiet;
  }
  server.off('connection', count);
  for (const listener of listeners) listener.close();
}

/** The pause between attempts to get the lock, and the time limit for all attempts together, in milliseconds. */
const lockMs = { retry: 10, max: 5_000 } as const;

/**
 * Locks a port for one process at a time, because if several processes started simultaneously, none would be listening
 * yet when the others checked the port. The lock is an abstract Unix socket, which the system frees when its process
 * ends. Its name omits the host, because different hosts can be, or include, the same address.
 * @throws Error EADDRINUSE if the lock is not free in time
 */
async function lockPort(port: number, deadline: number): Promise<net.Server> {
  for (;;) {
    const lock = net.createServer();
    try {
      await listenAt(lock, { path: `\0payments-graphql-gateway:${port}` });
      return lock;
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!isTaken || performance.now() > deadline) throw error;
    }
    await delay(lockMs.retry);
  }
}

/** Socket options that detect connections whose client has vanished. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelay: 12_000 } as const;

async function listenAt(server: net.Server, options: ListenOptions): Promise<void> {
  server.listen(options);
  await once(server, 'listening');
}

function portOf(server: net.Server): number {
  // The address of a server that listens on a host and port is an AddressInfo.
  return (server.address() as AddressInfo).port;
}

async function closed(server: net.Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
