import { hash } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExecutionResult, GraphQLError } from 'graphql';
import { handleProtocols, type ServerOptions } from 'graphql-ws';
import { isAsyncIterable } from 'graphql-yoga';
import { WebSocketServer } from 'ws';
import { inTurn, type WorkSlot } from '../../../core/outside-wait.ts';
import { RateLimited, type TokenCap } from '../../../domain/access/limits/rate-limits.ts';
import type { ResumeKey, ResumePoint } from '../../../domain/events/resume-points.ts';
import { iterateHere } from '../../../infra/instruments/iterate-here.ts';
import {
  asRequest,
  clientIn,
  factsOf,
  noteCaller,
  type RequestFacts,
} from '../../../infra/instruments/request-facts.ts';
import type { Transport } from '../context.ts';
import { invalidInput, rateLimited, withoutStatus } from '../failure.ts';
import type { MeasuredOperation } from '../server/operations.ts';
import { inexactRequest, operationOf } from '../server/read-operation.ts';
import type { SentOperation } from '../server/sent-documents.ts';
import { unavailable } from '../server/server.ts';
import type { StreamMessage } from '../server/streams.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { send, serveProtocol } from './socket-protocol.ts';
import {
  closeRestart,
  closeTryAgain,
  countOperation,
  type Extra,
  openSession,
  renewSession,
  type SocketOptions,
  socketLimits,
  takeAuthorization,
} from './socket-sessions.ts';

/**
 * permessage-deflate (RFC 7692), tuned to use little memory per socket. Even short results are compressed, because they
 * resemble earlier ones; protocol messages are not. Clients send little, so their messages are not compressed either.
 */
const compression = {
  zlibDeflateOptions: { memLevel: 4, level: 6 },
  serverMaxWindowBits: 12,
  clientNoContextTakeover: true,
  threshold: 128,
} as const;

const tooManyOperations = rateLimited(
  new RateLimited(`a connection can have at most ${socketLimits.operations} operations at a time`, 1),
);

/**
 * Serves GraphQL over WebSocket (graphql-transport-ws) at /graphql, with the same limits and errors as over HTTP.
 * Clients send credentials in `connection_init.payload.authorization`, and can send newer ones for the same subject in
 * the payload of a ping.
 */
export function serveWebSockets(server: Server, options: SocketOptions) {
  const sockets = new WebSocketServer({
    noServer: true,
    // Some clients list the older graphql-ws first. A socket without graphql-transport-ws is closed with the code 4406.
    handleProtocols: (offered) => handleProtocols(offered) || ([...offered][0] ?? false),
    maxPayload: socketLimits.frameBytes,
    perMessageDeflate: options.compresses && compression,
  });
  const closeServer = serveProtocol(sockets, protocolOptions(options), options);
  acceptUpgrades(server, sockets, options);

  return {
    get size(): number {
      return sockets.clients.size;
    },
    /** Closes the sockets that are still open because their clients never sent credentials. */
    async close(): Promise<void> {
      for (const client of sockets.clients) client.close(closeRestart, 'the server is restarting: resume with `after`');
      // Disconnects clients that do not acknowledge the close in time.
      const cut = setTimeout(() => {
        for (const client of sockets.clients) client.terminate();
      }, socketLimits.closeMs);
      await closeServer();
      clearTimeout(cut);
      await options.resumePoints.close();
    },
  };
}

/** Accepts WebSocket upgrades at /graphql from permitted origins, and refuses all others. */
function acceptUpgrades(server: Server, sockets: WebSocketServer, { acceptsOrigin }: SocketOptions): void {
  server.on('upgrade', (request, socket, head) => {
    // Node removes its own listener from an upgraded connection. Without one, a connection reset would crash the
    // process.
    socket.on('error', destroy);
    const refuse = (status: string) => void socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`);
    const [path] = (request.url ?? '/').split('?', 1);
    if (path !== '/graphql') return refuse('404 Not Found');
    if (!acceptsOrigin(request)) return refuse('403 Forbidden');
    sockets.handleUpgrade(request, socket, head, (accepted) => sockets.emit('connection', accepted, request));
  });
}

/** This is not a closure, because a closure would keep the request in memory until its connection closes. */
function destroy(this: Duplex): void {
  this.destroy();
}

function protocolOptions(options: SocketOptions): ServerOptions<Record<string, unknown>, Extra> {
  // graphql-ws passes on the operation that onSubscribe returned.
  const run = <Result>(args: unknown, work: (operation: SocketOperation) => Promise<Result>) => {
    const operation = args as SocketOperation;
    return asRequest(operation.facts, () => inTurn(operation.turn, () => work(operation)));
  };
  return {
    connectionInitWaitTimeout: socketLimits.initSeconds * 1000,
    execute: (args) => run(args, (operation) => options.operations.execute(operation)),
    subscribe: (args) => run(args, (operation) => openSocketStream(options, operation)),
    onConnect: ({ extra, connectionParams }) => {
      extra.resumes = connectionParams?.resume === true;
      extra.client = clientIn(connectionParams ?? {}) ?? extra.client;
      extra.acknowledgements = new Acknowledgements((payload) => {
        if (extra.socket.readyState === extra.socket.OPEN) extra.socket.send(JSON.stringify({ type: 'ping', payload }));
      });
      return openSession(options, extra, takeAuthorization(connectionParams));
    },
    onPing: ({ extra }, payload) => renewSession(options, extra, takeAuthorization(payload)),
    onPong: ({ extra }, payload) => extra.acknowledgements?.take(payload),
    onSubscribe: async ({ extra, subscriptions }, id, params) => {
      const { inexact, isTooMany } = extra.begun ?? {};
      if (inexact) return [inexactRequest({ path: inexact.path.slice(1), reason: inexact.reason })];
      if (isTooMany) return [tooManyOperations];
      const isGone = () => !(id in subscriptions) || extra.socket.readyState !== extra.socket.OPEN;
      return prepare(options, { extra, id, isGone }, params);
    },
    // graphql-ws sends the errors that are returned here. An HTTP status has no meaning on a socket.
    onError: (_context, _id, _payload, errors) => errors.map(withoutStatus),
    onNext: (_context, _id, _payload, _args, result) =>
      result.errors ? { ...result, errors: result.errors.map(withoutStatus) } : undefined,
    onClose: ({ extra }) => {
      extra.acknowledgements?.close();
      extra.session?.close();
    },
  };
}

/** Waits for an operation's slot and turn, and prepares the operation. Returns errors if it cannot run. */
async function prepare(
  options: SocketOptions,
  { extra, id, isGone }: Pick<SocketOperation, 'extra' | 'id'> & Pick<Transport, 'isGone'>,
  params: SentOperation,
): Promise<SocketOperation | readonly GraphQLError[]> {
  const refusal = await countOperation(options, extra);
  if (refusal) return [rateLimited(refusal)];
  extra.leave.set(id, await extra.places.take());
  const turn = await options.takeTurn(extra.session?.viewer.platformId ?? '');
  const closeForRetry = () => extra.socket.close(closeTryAgain, 'resume with `after`');
  const { authorization, session, client } = extra;
  const facts = factsOf(undefined, client);
  if (session) asRequest(facts, () => noteCaller(session.viewer));
  const transport = { authorization, session, closeForRetry, isGone };
  const prepared = await asRequest(facts, () => options.operations.prepare(transport, () => operationOf(params)));
  if (!('document' in prepared)) {
    turn.end();
    return prepared;
  }
  const resumeKey = resumeKeyOf(extra, id, params, prepared, options.streams);
  if (!(resumeKey instanceof GraphQLError)) return { ...prepared, id, extra, facts, resumeKey, turn };
  turn.end();
  return [resumeKey];
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Returns the key with which a subscription resumes when its client reconnects on another socket. This is `resumeKey`
 * in the operation's extensions. If that is absent and the socket was opened with `resume: true`, it is the operation's
 * id, which stock clients choose at random and send again. Returns an error for a `resumeKey` that is not a UUID.
 */
function resumeKeyOf(
  { resumes }: Extra,
  id: string,
  { operationName, variables, extensions }: SentOperation,
  { contextValue: { viewer }, operation, document }: MeasuredOperation,
  streams: TokenCap,
): ResumeKey | GraphQLError | undefined {
  if (operation.operation !== 'subscription') return undefined;
  const given = extensions?.resumeKey;
  if (given !== undefined && !(typeof given === 'string' && uuidForm.test(given)))
    return invalidInput('resumeKey must be a random UUID, chosen by the client', 'resumeKey');
  const key = given ?? (resumes && uuidForm.test(id) ? id : undefined);
  if (key === undefined) return undefined;
  const { platformId, subject } = viewer;
  // The document's text is available even if the client sent only its hash.
  const query = document.loc?.source.body;
  const text = JSON.stringify([platformId, subject, key, query, operationName ?? null, variables ?? null]);
  return { platformId, subject, digest: hash('sha256', text, 'buffer'), most: streams.mostOf(viewer) };
}

interface SocketOperation extends MeasuredOperation {
  readonly id: string;
  readonly extra: Extra;
  readonly facts: RequestFacts;
  readonly resumeKey: ResumeKey | undefined;
  /** Lasts until the operation has its result or its stream is open. */
  readonly turn: WorkSlot;
}

/** Opens an operation's stream. With a resume key, the stream starts after the last message the client acknowledged. */
async function openSocketStream(
  { operations, resumePoints }: SocketOptions,
  operation: SocketOperation,
): Promise<AsyncIterableIterator<ExecutionResult> | ExecutionResult> {
  const { extra, facts, resumeKey, contextValue } = operation;
  let point: ResumePoint | undefined;
  try {
    point = resumeKey && (await resumePoints.open(resumeKey));
    const stream = await operations.subscribe({
      ...operation,
      ...(point && { contextValue: { ...contextValue, resumePoint: point, resumeAfter: point.resumeAfter } }),
    });
    if (isAsyncIterable(stream))
      return sendAll(
        asRequest(facts, () => iterateHere(stream)),
        operation,
        point,
      );
    point?.close(false);
    return stream;
  } catch (error) {
    point?.close(false);
    if (resumeKey === undefined) throw error;
    // The database did not respond. This close code tells the client to reconnect.
    extra.socket.close(closeTryAgain, 'try again');
    return { errors: [unavailable()] };
  }
}

/** Sends a message whose payload is already JSON. Resolves when the operating system has accepted it. */
function sendNext({ socket, connection }: Extra, id: string, payload: string): Promise<void> {
  if (socket.readyState !== socket.OPEN) return Promise.resolve();
  if (connection.writableCorked === 0) {
    // Until the connection is uncorked, further messages to the socket are buffered, to be sent in one system call.
    connection.cork();
    process.nextTick(() => connection.uncork());
  }
  return send(socket, `{"id":${JSON.stringify(id)},"type":"next","payload":${payload}}`);
}

/** Sends a stream's messages directly. graphql-ws would serialize them again, so it gets an empty stream. */
function sendAll(
  stream: AsyncIterableIterator<StreamMessage>,
  { id, extra }: SocketOperation,
  point: ResumePoint | undefined,
): AsyncIterableIterator<ExecutionResult> {
  let isStopped = false;
  return {
    async next() {
      try {
        for (;;) {
          const { done, value } = await stream.next();
          if (done || isStopped) {
            point?.close(false);
            return { done: true, value: undefined };
          }
          const sent = sendNext(extra, id, value.text);
          if (value.position && point) extra.acknowledgements?.noteSent(point, value.position);
          await sent;
        }
      } catch (error) {
        point?.close(false);
        // `for await` does not call `return` if this method throws, so the stream would otherwise continue without a
        // reader after a failed send.
        await stream.return?.();
        if (isOpen(extra)) throw error;
        // The connection is broken. Waits until the socket is closed, so that graphql-ws does not send `complete`.
        if (extra.socket.readyState !== extra.socket.CLOSED) await once(extra.socket, 'close');
        return { done: true, value: undefined };
      }
    },
    async return() {
      isStopped = true;
      // If the socket is open, the client has ended the stream itself and will not resume it.
      point?.close(isOpen(extra));
      await stream.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Returns whether a socket and its connection are open. A socket may notice late that its connection has broken. */
function isOpen({ socket, connection }: Extra): boolean {
  return socket.readyState === socket.OPEN && !connection.destroyed;
}
