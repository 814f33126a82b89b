import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { BoundedWaits } from './bounded-waits.ts';

export interface ConnectionLimits {
  /**
   * The maximum number of connections per instance. Clients without valid credentials can use at most half of them, and
   * at most a quarter per address.
   */
  readonly most: number;
  /** Returns a client's address; undefined for a trusted proxy, which connects on behalf of many clients. */
  readonly addressOf: (socket: Socket) => string | undefined;
  /** Called for each connection that is refused because of a limit. */
  readonly onRefusal: (address: string | undefined) => void;
}

interface Connection {
  readonly socket: Socket;
  readonly open: Set<ServerResponse>;
  latest: ServerResponse | undefined;
  /** When the connection was accepted or its last response was completed, in milliseconds. */
  usedAt: number;
  /** The response that carries `Connection: close`, once it has been chosen. */
  last: ServerResponse | undefined;
  upgraded: boolean;
  /** Stops counting the connection toward the limit for clients without valid credentials. */
  endStranger: (() => void) | undefined;
}

/** How long a client has to close a connection that the service has ended, in milliseconds. */
export const lingerMs = 500;

/** Tracks and limits a server's connections, and ends them when the server stops. */
export class Connections {
  readonly #limits: ConnectionLimits;
  /** Connections without valid credentials. Above the limit, the address with the most of them loses its oldest one. */
  readonly #strangers: BoundedWaits;
  readonly #all = new Map<Socket, Connection>();
  /** Whether responses announce that their connection will end. */
  announcing = false;
  /** How long a connection may be idle, in milliseconds; undefined (no limit) while the port is open. */
  #idleMs: number | undefined;
  #ended: (() => void) | undefined;

  constructor(server: Server, limits: ConnectionLimits) {
    this.#limits = limits;
    this.#strangers = new BoundedWaits(Math.ceil(limits.most / 2), Math.ceil(limits.most / 4));
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.on('upgrade', ({ socket }: IncomingMessage) => {
      const connection = this.#all.get(socket);
      if (connection) connection.upgraded = true;
    });
    // Node would close idle connections along with the port. `end` does that later, because requests may be in transit.
    server.closeIdleConnections = () => undefined;
  }

  /** Counts a response as open. Returns false if the connection's last response has been chosen (RFC 9112, 9.6). */
  begin(response: ServerResponse): boolean {
    const connection = this.#all.get(response.req.socket);
    if (!connection || connection.last) {
      response.req.resume();
      return false;
    }
    connection.latest = response;
    connection.open.add(response);
    if (this.announcing) announceEnd(connection, response);
    response.once('close', () => {
      connection.open.delete(response);
      connection.usedAt = performance.now();
      if (this.#idleMs !== undefined) this.#endIdle(connection, this.#idleMs);
    });
    return true;
  }

  /** Records that a client has presented valid credentials. */
  noteKnown(socket: Socket): void {
    this.#all.get(socket)?.endStranger?.();
  }

  /** Makes each connection end with its last response (`Connection: close`), unless that response has already begun. */
  announceEnd(): void {
    this.announcing = true;
    for (const connection of this.#all.values()) {
      for (const response of connection.open) announceEnd(connection, response);
    }
  }

  /**
   * Closes connections once they have been idle for `idleMs`. A request that arrives just after that is not processed,
   * so the client may send it again elsewhere. Resolves when no connection is left.
   */
  end(idleMs: number): Promise<void> {
    this.#idleMs = idleMs;
    for (const connection of this.#all.values()) this.#endIdle(connection, idleMs);
    return new Promise((resolve) => {
      if (this.#all.size === 0) resolve();
      else this.#ended = resolve;
    });
  }

  destroy(): void {
    for (const socket of this.#all.keys()) socket.destroy();
  }

  #add(socket: Socket): void {
    const { most, addressOf, onRefusal } = this.#limits;
    const address = addressOf(socket);
    const endStranger = address === undefined ? undefined : this.#strangers.tryBegin(() => socket.destroy(), address);
    if (this.#all.size >= most || (address !== undefined && !endStranger)) {
      endStranger?.();
      onRefusal(address);
      socket.destroy();
      return;
    }
    const connection: Connection = {
      endStranger,
      socket,
      open: new Set(),
      latest: undefined,
      usedAt: performance.now(),
      last: undefined,
      upgraded: false,
    };
    this.#all.set(socket, connection);
    socket.once('close', () => {
      this.#all.delete(socket);
      endStranger?.();
      if (this.#all.size === 0) this.#ended?.();
    });
    if (this.#idleMs !== undefined) this.#endIdle(connection, this.#idleMs);
  }

  #endIdle(connection: Connection, idleMs: number): void {
    const { socket, open, last, upgraded, usedAt } = connection;
    if (open.size > 0 || last || upgraded || socket.destroyed) return;
    const wait = usedAt + idleMs - performance.now();
    if (wait <= 0) socket.destroySoon();
    // The event loop reads sockets after timers and before setImmediate, so a request that has arrived is seen first.
    else setTimeout(() => setImmediate(() => this.#endIdle(connection, idleMs)), wait);
  }
}

/** Adds `Connection: close` to a response or, if more requests have arrived on its connection, to the last response. */
function announceEnd(connection: Connection, response: ServerResponse): void {
  // Passes all arguments on, because no single signature can express the overloads of writeHead.
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse;
  response.writeHead = ((...args: unknown[]) => {
    // If the headers have already been sent, a later response or the idle limit ends the connection.
    if (!connection.latest?.headersSent) connection.last ??= connection.latest;
    if (connection.last === response && !response.headersSent) {
      response.setHeader('Connection', 'close');
      endGently(connection.socket);
    }
    return writeHead(...args);
  }) as typeof response.writeHead;
}

/** Lets the client close a connection (RFC 9112, 9.6): data arriving at a closed socket would reset the connection. */
export function endGently(socket: Socket): void {
  // Called by Node after a response with `Connection: close`.
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
}

/** How long `closePort` waits for a quiet turn of the event loop, and how long a quiet turn may take, in ms. */
const closingMs = { max: 100, quiet: 0.5 } as const;

/**
 * Closes a server's port. The system resets connections that are still waiting to be accepted, so the port is closed
 * after a turn of the event loop that accepted no connection and was too short for one to have arrived.
 */
export async function closePort(server: Server): Promise<void> {
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
  server.close();
}
