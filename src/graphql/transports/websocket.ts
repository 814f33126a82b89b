import type { IncomingMessage, Server } from 'node:http';
import { useServer } from 'graphql-ws/use/ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Credentials } from '../../access/credentials.ts';
import type { Session, Sessions } from '../../access/sessions.ts';
import { reviveExact } from '../../bodies/json.ts';
import type { Operations } from '../server/operations.ts';
import { maxOperations, tooManyOperations, withoutStatus } from './operation.ts';

/** What one socket may ask of the server. */
export const socketLimits = {
  operations: maxOperations,
  frameBytes: 64 * 1024,
  initSeconds: 3,
  /** How long a client may take to answer when its socket is closed. */
  closeMs: 1_000,
  keepAliveMs: 12_000,
  /** What may wait in this process for one reader to take it. */
  bufferedBytes: 1024 * 1024,
} as const;

/** Try again later: the reader was too slow, or the server stops. Stock clients come back after either. */
const closeTryAgain = 1013;
const closeRestart = 1012;
/** The token has ended, or was never good: come back with another. */
const closeForbidden = 4403;

type Extra = {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  authorization?: string;
  session?: Session;
  /** The operations under way. */
  open?: Set<string>;
};

export interface SocketOptions {
  readonly operations: Operations;
  readonly credentials: Credentials;
  readonly sessions: Sessions;
  /** Whether a page of this origin may open a socket. */
  readonly acceptsOrigin: (request: IncomingMessage) => boolean;
  readonly keepAliveMs: number;
}

/**
 * GraphQL over WebSocket (graphql-transport-ws) at /graphql. The same context, limits and errors as over HTTP, since every
 * operation goes the same way (server/operations.ts). Credentials come in `connection_init.payload.authorization`, newer
 * ones of the same subject in a ping's payload.
 */
export function serveWebSockets(server: Server, options: SocketOptions) {
  const { operations, credentials, sessions } = options;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: socketLimits.frameBytes });

  const protocol = useServer<Record<string, unknown>, Extra>(
    {
      connectionInitWaitTimeout: socketLimits.initSeconds * 1000,
      execute: (args) => operations.execute(args),
      subscribe: (args) => operations.subscribe(args),
      jsonMessageReviver: reviveExact,
      // False, not an exception: clients take 4403 as "come back with better credentials", 4500 as fatal.
      onConnect: async ({ extra, connectionParams }) => {
        const authorization = authorizationIn(connectionParams);
        // What keeps us from looking is no fault of the credentials: 1013, where an exception would be fatal to clients.
        const viewer = await credentials.authenticate(authorization).catch(() => {
          extra.socket.close(closeTryAgain, 'try again');
          return undefined;
        });
        if (!viewer) return false;
        extra.authorization = authorization ?? '';
        extra.open = new Set();
        if (extra.socket.readyState === extra.socket.OPEN) extra.session = sessions.open(viewer, watch(extra.socket));
        return true;
      },
      onPing: async ({ extra }, payload) => {
        const authorization = authorizationIn(payload);
        if (authorization === undefined || !extra.session) return;
        const viewer = await credentials.authenticate(authorization).catch(() => extra.session?.viewer);
        if (viewer && extra.session.renew(viewer)) extra.authorization = authorization;
        else extra.socket.close(closeForbidden, 'not a good token of the same subject');
      },
      onSubscribe: async ({ extra }, id, params) => {
        const open = extra.open ?? new Set();
        if (open.size >= socketLimits.operations) return [tooManyOperations()];
        // Counted before anything is waited for, so that a burst is counted too.
        open.add(id);
        const closeForRetry = () => extra.socket.close(closeTryAgain, 'resume with after');
        const isGone = () => !open.has(id) || extra.socket.readyState !== extra.socket.OPEN;
        const transport = { authorization: extra.authorization, closeForRetry, isGone };
        const prepared = await operations.prepare(transport, params);
        if (Array.isArray(prepared)) open.delete(id);
        return prepared as Exclude<typeof prepared, readonly unknown[]>;
      },
      // graphql-ws answers with what is returned here: statuses belong to HTTP.
      onError: ({ extra }, id, _payload, errors) => {
        extra.open?.delete(id);
        return errors.map(withoutStatus);
      },
      onNext: (_context, _id, _payload, _args, result) =>
        result.errors ? { ...result, errors: result.errors.map(withoutStatus) } : undefined,
      onComplete: ({ extra }, id) => {
        extra.open?.delete(id);
      },
      onClose: ({ extra }) => extra.session?.close(),
    },
    sockets,
    options.keepAliveMs,
  );

  server.on('upgrade', (request, socket, head) => {
    // Node takes its own listener off an upgraded connection; without one a reset would end the process.
    socket.on('error', () => socket.destroy());
    const [path] = (request.url ?? '/').split('?', 1);
    if (path !== '/graphql') {
      socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
      return;
    }
    if (!options.acceptsOrigin(request)) {
      socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => sockets.emit('connection', accepted, request));
  });

  return {
    /** How many sockets are open. */
    get size(): number {
      return sockets.clients.size;
    },
    /** Ends what is still open: sockets that never said who they are. */
    async close(): Promise<void> {
      for (const client of sockets.clients) client.close(closeRestart, 'the server restarts: resume with after');
      // A client that does not answer the close is not waited for.
      const cut = setTimeout(() => {
        for (const client of sockets.clients) client.terminate();
      }, socketLimits.closeMs);
      await protocol.dispose();
      clearTimeout(cut);
    },
  };
}

/** What becomes of a socket whose token ends, whose server stops, or whose reader does not keep up. */
function watch(socket: WebSocket) {
  return {
    forbid: () => socket.close(closeForbidden, 'the token has ended'),
    leave: () => socket.close(closeRestart, 'the server restarts: resume with after'),
    check: () => {
      if (socket.bufferedAmount > socketLimits.bufferedBytes)
        socket.close(closeTryAgain, 'too slow: resume with after');
    },
  };
}

/** The credentials in a message's payload: `authorization`, in whatever case. */
function authorizationIn(payload: Readonly<Record<string, unknown>> | undefined): string | undefined {
  for (const [name, value] of Object.entries(payload ?? {})) {
    if (name.toLowerCase() === 'authorization' && typeof value === 'string') return value;
  }
  return undefined;
}
