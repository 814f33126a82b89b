import { once } from 'node:events';
import type { Server } from 'node:http';
import net, { type AddressInfo, type ListenOptions } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

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
  // Accepts connections with the same options as node:http does, and passes them to the server.
  const others = Array.from({ length: sockets - 1 }, () =>
    net.createServer({ allowHalfOpen: true, noDelay: true, ...keepAlive }, (socket) =>
      server.emit('connection', socket),
    ),
  );
  const lock = net.createServer();
  try {
    if (port !== 0) await listenAt(lock, lockOf(port));
    await listenAt(server, { host, port, backlog, reusePort: true });
    const actualPort = portOf(server);
    if (port === 0) await listenAt(lock, lockOf(actualPort));
    for (const other of others) await listenAt(other, { host, port: actualPort, backlog, reusePort: true });
    return { port: actualPort, close: () => closePort(server, [server, ...others, lock]) };
  } catch (error) {
    for (const listener of [server, ...others, lock]) listener.close();
    throw error;
  }
}

/**
 * Names the socket whose listener owns a port: our sockets share their port, and would also share it with another
 * process of the same user. It is an abstract Unix socket, which the system frees when its process ends. Its name omits
 * the host, because different hosts can be, or include, the same address.
 */
const lockOf = (port: number) => ({ path: `\0payments-graphql-gateway:${port}` });

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
