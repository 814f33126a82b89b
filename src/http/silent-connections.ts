import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections over which no request is being answered and which were not upgraded: idle ones, and those that have said
 * nothing yet, or not all of a request's head. Node's own closeIdleConnections leaves the latter open, and a server that
 * stops would wait for them.
 */
export class SilentConnections {
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      this.#sockets.delete(socket);
      response.once('close', () => {
        if (!socket.destroyed) this.#sockets.add(socket);
      });
    });
    server.on('upgrade', ({ socket }) => this.#sockets.delete(socket));
  }

  /** Closes them: nothing has begun on them, so a client may ask again elsewhere. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
