import type { IncomingMessage } from 'node:http';
import { CloseCode, makeServer, type ServerOptions } from 'graphql-ws';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import { InexactJson, isJsonObject, parseJson } from '../../../core/json.ts';
import { Slots } from '../../../core/slots.ts';
import { clientIn } from '../../../infra/instruments/request-facts.ts';
import { type Extra, type SocketOptions, socketLimits } from './socket-sessions.ts';

type ProtocolOptions = Pick<SocketOptions, 'pace' | 'addressOf' | 'keepAliveMs' | 'log'>;

/** The close codes for protocol violations. A forbidden (4403) or late (4408) connection_init does not count as one. */
const breaches: ReadonlySet<number> = new Set([
  CloseCode.BadRequest,
  CloseCode.Unauthorized,
  CloseCode.SubprotocolNotAcceptable,
  CloseCode.SubscriberAlreadyExists,
  CloseCode.TooManyInitialisationRequests,
]);

const sentByClients: ReadonlySet<string> = new Set(['connection_init', 'ping', 'pong', 'subscribe', 'complete']);

/**
 * Serves graphql-transport-ws on a server's sockets. Unlike the graphql-ws server for `ws`, which prints a stack
 * trace for each client error, it logs a protocol violation in one line. It closes the socket after the pause for
 * refusals. Returns the function that closes the server once its sockets have closed.
 */
export function serveProtocol(
  sockets: WebSocketServer,
  hooks: ServerOptions<Record<string, unknown>, Extra>,
  options: ProtocolOptions,
): () => Promise<void> {
  const protocol = makeServer(hooks);
  sockets.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    const extra: Extra = {
      socket,
      connection: request.socket,
      address: options.addressOf(request),
      client: clientIn(request.headers),
      places: new Slots(socketLimits.operations),
      leave: new Map(),
    };
    const close = (code: number, reason: string) =>
      breaches.has(code) ? void refuse(options, extra, code, reason) : socket.close(code, reason);
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (text) => send(socket, text),
        close,
        onMessage: (handle) => {
          const order = new SocketOrder(extra, (text) =>
            handle(text).catch((error: unknown) => {
              options.log.error({ err: error }, 'could not handle a WebSocket message');
              socket.close(CloseCode.InternalServerError, 'Internal server error');
            }),
          );
          socket.on('message', (data, isBinary) => {
            if (extra.isRefused) return;
            const message = isBinary ? 'messages must be text' : readMessage(data);
            if (typeof message === 'string') close(CloseCode.BadRequest, message);
            else order.take(message);
          });
        },
      },
      extra,
    );
    // ws itself closes the socket if a message is too long or its text is not UTF-8.
    socket.on('error', (error) => logBreach(options, extra, error.message));
    const stopPings = watch(socket, options.keepAliveMs);
    socket.once('close', (code, reason) => {
      stopPings();
      closed(code, String(reason)).catch((error: unknown) => options.log.error({ err: error }, 'socket cleanup error'));
    });
  });
  return () => new Promise((resolve) => sockets.close(() => resolve()));
}

/** Parses a message, or returns why it is invalid. Inexact JSON in an operation's payload fails only that operation. */
function readMessage(data: RawData): ClientMessage | string {
  const text = String(data);
  let message: unknown;
  let inexact: InexactJson | undefined;
  try {
    message = parseJson(text);
  } catch (error) {
    if (!(error instanceof InexactJson)) return 'the message is not well-formed JSON';
    if (error.path.length < 2 || error.path[0] !== 'payload') return error.message;
    message = JSON.parse(text);
    if (!isJsonObject(message) || message.type !== 'subscribe') return error.message;
    inexact = error;
  }
  const { type, id } = isJsonObject(message) ? message : {};
  if (typeof type !== 'string' || !sentByClients.has(type)) return 'unknown message type';
  return { type, id: typeof id === 'string' ? id : undefined, text, inexact };
}

/** Closes a socket after a protocol violation, when the pause for refusals is over. Ignores its messages until then. */
async function refuse(options: ProtocolOptions, extra: Extra, code: number, reason: string): Promise<void> {
  const { socket, session } = extra;
  if (extra.isRefused) return;
  extra.isRefused = true;
  logBreach(options, extra, reason);
  if (socket.readyState === socket.OPEN) socket.pause();
  await options.pace.wait(session?.viewer.platformId ?? `address ${extra.address}`);
  // A paused socket would not receive the client's close frame.
  socket.resume();
  socket.close(code, Buffer.byteLength(reason) <= maxReason ? reason : 'Invalid message received');
}

function logBreach({ log }: ProtocolOptions, { address }: Extra, reason: string): void {
  log.info({ address, reason }, 'a client violated the WebSocket protocol and is being disconnected');
}

/** The maximum length of a close reason, in bytes (RFC 6455, 5.5). */
const maxReason = 123;

/** Sends a message. Resolves when the operating system has accepted it. */
export function send(socket: WebSocket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.readyState !== socket.OPEN) return resolve();
    socket.send(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Pings a client, and drops its connection if it does not respond before the next ping. Returns a stop function. */
function watch(socket: WebSocket, everyMs: number): () => void {
  let isThere = true;
  socket.on('pong', () => {
    isThere = true;
  });
  const timer = setInterval(() => {
    if (socket.readyState !== socket.OPEN) return;
    if (!isThere) return socket.terminate();
    isThere = false;
    socket.ping();
  }, everyMs);
  return () => clearInterval(timer);
}

interface ClientMessage {
  readonly type: string;
  /** The id of the operation that the message starts or ends. */
  readonly id: string | undefined;
  readonly text: string;
  readonly inexact?: InexactJson | undefined;
}

type Begun = NonNullable<Extra['begun']>;

/** Allows for a client's open operations and an equal number of completed ones that the service has yet to end. */
const maxUnderWay = 2 * socketLimits.operations;

/**
 * Passes a socket's messages to graphql-ws in order. A new operation that reuses the id of one that the client has
 * completed waits until the service has ended the earlier one, because graphql-ws would confuse the two. The socket
 * pauses while its client completes operations faster than the service ends them.
 */
class SocketOrder {
  readonly #extra: Extra;
  readonly #handle: (text: string) => Promise<void>;
  /** For each id, a promise that resolves when the service has ended the newest operation with this id. */
  readonly #running = new Map<string, Promise<void>>();
  /** For each id, the promise that the next message with this id waits for. */
  readonly #waits = new Map<string, Promise<void>>();
  /** For each id, the newest operation with this id, until the client completes it or it ends. */
  readonly #open = new Map<string, Begun>();
  #underWay = 0;

  /** @param handle handles a message; resolves when the operation that it starts has ended, and never rejects */
  constructor(extra: Extra, handle: (text: string) => Promise<void>) {
    this.#extra = extra;
    this.#handle = handle;
  }

  take({ type, id, text, inexact }: ClientMessage): void {
    if (id === undefined || (type !== 'subscribe' && type !== 'complete')) return void this.#handle(text);
    const begun = { isTooMany: this.#open.size >= socketLimits.operations, inexact };
    if (type === 'complete') this.#open.delete(id);
    else {
      this.#open.set(id, begun);
      this.#count(1);
    }
    const next = () => (type === 'complete' ? this.#end(id, text) : this.#begin(id, text, begun));
    const wait = this.#waits.get(id);
    const rest = wait ? wait.then(next) : next();
    if (!rest) return;
    const settled = rest.then(() => {
      if (this.#waits.get(id) === settled) this.#waits.delete(id);
    });
    this.#waits.set(id, settled);
  }

  #begin(id: string, text: string, begun: Begun): undefined {
    this.#extra.begun = begun;
    const over = this.#handle(text).then(() => {
      if (this.#open.get(id) === begun) this.#open.delete(id);
      this.#extra.leave.get(id)?.();
      this.#extra.leave.delete(id);
      this.#count(-1);
      if (this.#running.get(id) === over) this.#running.delete(id);
    });
    this.#running.set(id, over);
  }

  #end(id: string, text: string): Promise<void> | undefined {
    void this.#handle(text);
    return this.#running.get(id);
  }

  #count(change: 1 | -1): void {
    this.#underWay += change;
    const { socket, isRefused } = this.#extra;
    if (socket.readyState !== socket.OPEN || isRefused) return;
    if (this.#underWay >= maxUnderWay) socket.pause();
    else if (socket.isPaused) socket.resume();
  }
}
