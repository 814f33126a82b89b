import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Connection {
  readonly socket: Socket;
  /** The responses that are not complete. */
  readonly open: Set<ServerResponse>;
  /** The response to its latest request. */
  latest: ServerResponse | undefined;
  /** When it was accepted, or a response on it was complete. */
  usedAt: number;
  /** The response that says `Connection: close`, as soon as it is certain which one will. */
  last: ServerResponse | undefined;
  upgraded: boolean;
}

/** How long a connection that has ended waits for its client. */
const lingerMs = 500;

/** The connections of a server, and how they end when it stops. */
export class Connections {
  readonly #all = new Map<Socket, Connection>();
  #announcing = false;
  /** How long a connection may be silent; no limit while the port is open. */
  #silentMs: number | undefined;
  #ended: (() => void) | undefined;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.on('upgrade', ({ socket }: IncomingMessage) => {
      const connection = this.#all.get(socket);
      if (connection) connection.upgraded = true;
    });
    // Node closes idle connections in the moment in which the port closes. A request that is on its way over one of them
    // would be lost, so they are closed here.
    server.closeIdleConnections = () => undefined;
  }

  /** Whether responses announce the end of their connections. */
  get announcing(): boolean {
    return this.#announcing;
  }

  /**
   * Counts a response as open until it is complete or broken off. False for a request that must not be carried out: it
   * came behind the last one of its connection (RFC 9112, 9.6), and its client sends it elsewhere.
   */
  begin(request: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#all.get(request.socket);
    if (!connection || connection.last) {
      request.resume();
      return false;
    }
    connection.latest = response;
    connection.open.add(response);
    if (this.#announcing) announceEnd(connection, response);
    response.once('close', () => {
      connection.open.delete(response);
      connection.usedAt = performance.now();
      if (this.#silentMs !== undefined) this.#endSilent(connection, this.#silentMs);
    });
    return true;
  }

  /** Lets every response whose head is not sent say `Connection: close` from now on, and end its connection. */
  announceEnd(): void {
    this.#announcing = true;
    for (const connection of this.#all.values()) {
      for (const response of connection.open) announceEnd(connection, response);
    }
  }

  /**
   * Closes connections without a request that have been silent for so long, now and from now on. A client whose request
   * crosses with that may send it again elsewhere: nothing of it has begun. Resolves when no connection is left.
   */
  end(silentMs: number): Promise<void> {
    this.#silentMs = silentMs;
    for (const connection of this.#all.values()) this.#endSilent(connection, silentMs);
    return new Promise((resolve) => {
      if (this.#all.size === 0) resolve();
      else this.#ended = resolve;
    });
  }

  /** Breaks off whatever is left. */
  destroy(): void {
    for (const socket of this.#all.keys()) socket.destroy();
  }

  #add(socket: Socket): void {
    const connection: Connection = {
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
      if (this.#all.size === 0) this.#ended?.();
    });
    if (this.#silentMs !== undefined) this.#endSilent(connection, this.#silentMs);
  }

  #endSilent(connection: Connection, silentMs: number): void {
    const { socket, open, last, upgraded, usedAt } = connection;
    if (open.size > 0 || last || upgraded || socket.destroyed) return;
    const wait = usedAt + silentMs - performance.now();
    if (wait <= 0) socket.destroySoon();
    // What has arrived is read before a callback of setImmediate: timers come earlier in a turn, also in one that is late.
    else setTimeout(() => setImmediate(() => this.#endSilent(connection, silentMs)), wait);
  }
}

/**
 * Lets a response say that its connection ends, or one behind it: when the first head is made, the latest request that has
 * come over the connection is the last one.
 */
function announceEnd(connection: Connection, response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse;
  // Passes on whatever it is given: the overloads of writeHead cannot be spelled as one signature.
  response.writeHead = ((...args: unknown[]) => {
    // One whose head was made before the stop cannot say it any more; a request behind it, or silence, ends the connection.
    if (!connection.latest?.headersSent) connection.last ??= connection.latest;
    if (connection.last !== response || response.headersSent) return writeHead(...args);
    response.setHeader('Connection', 'close');
    endGently(connection.socket);
    return writeHead(...args.map(withoutConnection));
  }) as typeof response.writeHead;
}

/**
 * Lets a connection that ends wait until its client has closed it, too (RFC 9112, 9.6): what still comes over one that is
 * closed makes the system reset it, and the client may lose the last answer.
 */
function endGently(socket: Socket): void {
  // Called by Node after a response that said `Connection: close`.
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
}

/** An argument of writeHead; headers without `Connection`, which event streams are given as keep-alive. */
function withoutConnection(argument: unknown): unknown {
  if (typeof argument !== 'object' || argument === null || Array.isArray(argument)) return argument;
  return Object.fromEntries(Object.entries(argument).filter(([name]) => name.toLowerCase() !== 'connection'));
}
