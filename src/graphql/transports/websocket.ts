import type { IncomingMessage, Server } from 'node:http';
import type { ExecutionResult, GraphQLError } from 'graphql';
import type { ServerOptions } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { isAsyncIterable } from 'graphql-yoga';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Credentials } from '../../access/credentials.ts';
import { RateLimited, type RateLimits } from '../../access/rate-limits.ts';
import type { RefusalPace } from '../../access/refusal-pace.ts';
import type { Session, Sessions } from '../../access/sessions.ts';
import type { TokenCap } from '../../access/token-caps.ts';
import type { Viewer } from '../../access/viewer.ts';
import { reviveExact } from '../../bodies/json.ts';
import { inTurn, type TakeTurn, type WorkTurn } from '../../core/turn.ts';
import { rateLimited, withoutStatus } from '../failure.ts';
import type { OperationParams, Operations, Prepared } from '../server/operations.ts';
import type { StreamMessage } from '../server/stream-messages.ts';
import { maxOperations, tooManyOperations } from './operation.ts';

/** The limits of one socket. */
export const socketLimits = {
  operations: maxOperations,
  frameBytes: 64 * 1024,
  initSeconds: 3,
  /** How long a client may take to answer the close of its socket. */
  closeMs: 1_000,
  keepAliveMs: 12_000,
  /** The most that may be buffered for one reader. */
  bufferedBytes: 1024 * 1024,
} as const;

/**
 * Try again later: the reader was too slow, the token has too many sockets or has made too many requests, or the database is
 * away; or the server stops. Stock clients reconnect after either code. They take 4429, too many requests, as final.
 */
const closeTryAgain = 1013;
const closeRestart = 1012;
/** The token has ended or is not valid: the client needs another. */
const closeForbidden = 4403;

/** The state of one socket. */
type Extra = {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  authorization?: string;
  session?: Session;
  /** How many operations are under way, those too that the client has ended and the service has not yet. */
  operations?: number;
};

/** An operation that may run. */
interface SocketOperation extends Prepared {
  /** Sends a message of its stream. */
  readonly send: (payload: string) => Promise<void>;
  /** Its turn, which ends when it is answered or its stream is open. */
  readonly turn: WorkTurn;
}

/** What sockets are served with. */
export interface SocketOptions {
  readonly operations: Operations;
  readonly credentials: Credentials;
  readonly sessions: Sessions;
  /** How many sockets each token may have open. */
  readonly sockets: TokenCap;
  readonly limits: RateLimits;
  readonly pace: RefusalPace;
  readonly takeTurn: TakeTurn;
  /** The address of a client, as limits count it. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Whether a page of this origin may open a socket. */
  readonly acceptsOrigin: (request: IncomingMessage) => boolean;
  readonly keepAliveMs: number;
}

/**
 * Serves GraphQL over WebSocket (graphql-transport-ws) at /graphql. Context, limits and errors are those of HTTP, since every
 * transport runs operations by server/operations.ts. Credentials come in `connection_init.payload.authorization`, newer ones
 * of the same subject in a ping's payload.
 */
export function serveWebSockets(server: Server, options: SocketOptions) {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: socketLimits.frameBytes });
  const protocol = useServer<Record<string, unknown>, Extra>(protocolOptions(options), sockets, options.keepAliveMs);
  acceptUpgrades(server, sockets, options);

  return {
    /** The number of open sockets. */
    get size(): number {
      return sockets.clients.size;
    },
    /** Closes the sockets that are still open: those that have never sent credentials. */
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

/** Accepts WebSocket upgrades at /graphql from permitted origins, and refuses all others. */
function acceptUpgrades(server: Server, sockets: WebSocketServer, { acceptsOrigin }: SocketOptions): void {
  server.on('upgrade', (request, socket, head) => {
    // Node takes its own listener off an upgraded connection; without one a reset would end the process.
    socket.on('error', () => socket.destroy());
    const [path] = (request.url ?? '/').split('?', 1);
    if (path !== '/graphql') {
      socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
      return;
    }
    if (!acceptsOrigin(request)) {
      socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => sockets.emit('connection', accepted, request));
  });
}

/** Returns the hooks of graphql-ws: they authenticate the caller, prepare operations and format errors. */
function protocolOptions(options: SocketOptions): ServerOptions<Record<string, unknown>, Extra> {
  const { operations } = options;
  return {
    connectionInitWaitTimeout: socketLimits.initSeconds * 1000,
    execute: (args) => inTurn((args as SocketOperation).turn, () => operations.execute(args)),
    subscribe: async (args) => {
      const { turn, send } = args as SocketOperation;
      const stream = await inTurn(turn, () => operations.subscribe(args));
      return isAsyncIterable(stream) ? sendAll(stream, send) : stream;
    },
    jsonMessageReviver: reviveExact,
    onConnect: ({ extra, connectionParams }) => openSession(options, extra, findAuthorization(connectionParams)),
    onPing: ({ extra }, payload) => renewSession(options, extra, takeAuthorization(payload)),
    onSubscribe: async ({ extra, subscriptions }, id, params) => {
      if ((extra.operations ?? 0) >= socketLimits.operations) return [tooManyOperations()];
      // Counted before the first await, so that a burst is counted too.
      extra.operations = (extra.operations ?? 0) + 1;
      const isGone = () => !(id in subscriptions) || extra.socket.readyState !== extra.socket.OPEN;
      const operation = await prepare(options, { extra, id, isGone }, params);
      if ('document' in operation) return operation;
      extra.operations -= 1;
      return operation;
    },
    // graphql-ws sends the errors that are returned here; an HTTP status means nothing on a socket.
    onError: (_context, _id, _payload, errors) => errors.map(withoutStatus),
    onNext: (_context, _id, _payload, _args, result) =>
      result.errors ? { ...result, errors: result.errors.map(withoutStatus) } : undefined,
    // Called once for each operation that has run, whoever has ended it.
    onComplete: ({ extra }) => {
      extra.operations = (extra.operations ?? 0) - 1;
    },
    onClose: ({ extra }) => extra.session?.close(),
  };
}

/** An operation that a client has begun on a socket. */
interface Begun {
  readonly extra: Extra;
  readonly id: string;
  /** Whether the client has ended it, or has gone. */
  readonly isGone: () => boolean;
}

/** Waits for the turn of an operation and prepares it. Returns the errors of one that cannot run. */
async function prepare(
  options: SocketOptions,
  { extra, id, isGone }: Begun,
  params: OperationParams,
): Promise<SocketOperation | readonly GraphQLError[]> {
  const refusal = await countOperation(options, extra);
  if (refusal) return [rateLimited(refusal)];
  const turn = await options.takeTurn(extra.session?.viewer.platformId ?? '');
  const closeForRetry = () => extra.socket.close(closeTryAgain, 'resume with after');
  const prepared = await options.operations.prepare(
    { authorization: extra.authorization, closeForRetry, isGone },
    params,
  );
  if ('document' in prepared) return { ...prepared, send: (payload) => sendNext(extra, id, payload), turn };
  turn.end();
  return prepared;
}

/** Sends a message with a payload that is JSON already. Resolves when the system has taken it. */
function sendNext({ socket, request }: Extra, id: string, payload: string): Promise<void> {
  if (socket.readyState !== socket.OPEN) return Promise.resolve();
  const connection = request.socket;
  if (connection.writableCorked === 0) {
    // What other operations of this socket send meanwhile goes to the system in the same call.
    connection.cork();
    process.nextTick(() => connection.uncork());
  }
  return new Promise((resolve, reject) => {
    const text = `{"id":${JSON.stringify(id)},"type":"next","payload":${payload}}`;
    socket.send(text, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Sends the messages of a stream as they are. To graphql-ws, which would serialize each for itself, it is a stream without
 * messages that ends when this one ends.
 */
function sendAll(
  stream: AsyncIterableIterator<StreamMessage>,
  send: SocketOperation['send'],
): AsyncIterableIterator<ExecutionResult> {
  let isStopped = false;
  return {
    async next() {
      for (;;) {
        const { done, value } = await stream.next();
        if (done || isStopped) return { done: true, value: undefined };
        // A stream that throws is not returned by its reader, and one whose socket has broken would go on without one.
        await send(value.text).catch(async (error: unknown) => {
          await stream.return?.();
          throw error;
        });
      }
    },
    async return() {
      isStopped = true;
      await stream.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/**
 * Opens the session of a socket by the credentials of its first message.
 * @returns false, not an exception, for bad credentials: clients take 4403 as "come back with better ones", 4500 as fatal
 */
async function openSession(options: SocketOptions, extra: Extra, authorization: string | undefined): Promise<boolean> {
  const { credentials, sessions, addressOf } = options;
  // A failed lookup is no fault of the credentials: 1013 lets clients retry, an exception would be fatal to them.
  const viewer = await credentials.authenticateFrom(addressOf(extra.request), authorization).catch((error: unknown) => {
    extra.socket.close(closeTryAgain, error instanceof RateLimited ? error.message : 'try again');
    return undefined;
  });
  if (!viewer) return false;
  const refusal = admitSocket(options, extra.socket, viewer);
  if (refusal) {
    extra.socket.close(closeTryAgain, refusal.message);
    return false;
  }
  extra.authorization = authorization ?? '';
  if (extra.socket.readyState === extra.socket.OPEN)
    extra.session = sessions.open(viewer, superviseSocket(extra.socket));
  return true;
}

/** Counts a socket against the limits of its token. Returns the error of one too many. */
function admitSocket({ limits, sockets }: SocketOptions, socket: WebSocket, viewer: Viewer): RateLimited | undefined {
  const { refusal } = limits.count(viewer);
  if (refusal) return refusal;
  const end = sockets.open(viewer);
  if (end instanceof RateLimited) return end;
  if (socket.readyState === socket.OPEN) socket.once('close', end);
  else end();
  return undefined;
}

/** Counts an operation against the limits of its token. Returns the error of one too many, when it may be sent. */
async function countOperation({ limits, pace }: SocketOptions, { session }: Extra): Promise<RateLimited | undefined> {
  const refusal = session && limits.count(session.viewer).refusal;
  if (refusal) await pace.wait(session.viewer.platformId);
  return refusal;
}

/** Renews the session of a socket by the credentials in a ping, or closes the socket where they are not of the same subject. */
async function renewSession(
  { credentials, addressOf }: SocketOptions,
  extra: Extra,
  authorization: string | undefined,
): Promise<void> {
  if (authorization === undefined || !extra.session) return;
  const viewer = await credentials
    .authenticateFrom(addressOf(extra.request), authorization)
    .catch(() => extra.session?.viewer);
  if (viewer && extra.session.renew(viewer)) extra.authorization = authorization;
  else extra.socket.close(closeForbidden, 'not a good token of the same subject');
}

/** Returns how to close a socket whose token ends, whose server stops, or whose reader does not keep up. */
function superviseSocket(socket: WebSocket) {
  return {
    forbid: () => socket.close(closeForbidden, 'the token has ended'),
    leave: () => socket.close(closeRestart, 'the server restarts: resume with after'),
    check: () => {
      if (socket.bufferedAmount > socketLimits.bufferedBytes)
        socket.close(closeTryAgain, 'too slow: resume with after');
    },
  };
}

/** Finds the credentials in a message's payload: `authorization`, in any case. */
function findAuthorization(payload: Readonly<Record<string, unknown>> | undefined): string | undefined {
  for (const [name, value] of Object.entries(payload ?? {})) {
    if (isAuthorization(name) && typeof value === 'string') return value;
  }
  return undefined;
}

/** Takes the credentials out of a ping's payload: graphql-ws answers it with the same payload, where logs may see it. */
function takeAuthorization(payload: Record<string, unknown> | undefined): string | undefined {
  const authorization = findAuthorization(payload);
  for (const name of Object.keys(payload ?? {})) if (isAuthorization(name)) delete payload?.[name];
  return authorization;
}

function isAuthorization(name: string): boolean {
  return name.toLowerCase() === 'authorization';
}
