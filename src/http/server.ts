import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Credentials } from '../access/credentials.ts';
import type { Database } from '../database/database.ts';
import { type GraphqlServer, unauthenticated, unavailable } from '../graphql/server/server.ts';
import { answerJsonRequest } from '../graphql/transports/json-requests.ts';
import { withoutStatus } from '../graphql/transports/operation.ts';
import { type SingleConnections, streamToken } from '../graphql/transports/single-connection.ts';
import { restPrefix } from '../rest/app.ts';
import type { RestServer } from '../rest/server.ts';
import { Bodies, type Body, bodyBytes } from './bodies.ts';
import { Connections } from './connections.ts';
import { type AllowedOrigins, answerCors } from './cors.ts';
import { type Admission, InFlight } from './in-flight.ts';
import { keepAlive, listen } from './listeners.ts';
import { WatchedResponse } from './watched-response.ts';

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  readonly graphql: GraphqlServer;
  readonly credentials: Credentials;
  /** Event streams that carry several operations. */
  readonly singleConnections: SingleConnections;
  readonly origins: AllowedOrigins;
  readonly rest: RestServer;
  readonly database: Database;
  /** How many requests are answered at once; one more is refused with 503 and may come again. */
  readonly admission: Admission;
}

/** Requests with more, or slower to arrive, are refused. */
const connectionLimits = { maxHeaderSize: 16 * 1024, requestTimeout: 30_000 } as const;

export interface HttpServer {
  readonly server: Server;
  readonly url: string;
  /** Answers 503 at /health/ready from now on, and lets every response end its connection; requests are still taken. */
  announceStop(): void;
  /** Closes the port. */
  close(): Promise<void>;
  /** Closes each connection that is silent for so long. Resolves when no connection is left. */
  endConnections(silentMs: number): Promise<void>;
  /** Breaks off the connections that are left. */
  destroy(): void;
}

/** The one HTTP server: GraphQL, REST, health, and byte limits before anything reads a body. */
export async function startHttpServer(options: HttpOptions): Promise<HttpServer> {
  const server = createServer({ ServerResponse: WatchedResponse, ...connectionLimits, ...keepAlive });
  const connections = new Connections(server);
  const entrance: Entrance = { bodies: new Bodies(), inFlight: new InFlight(options.admission), connections };
  /** Requests that have come while the port closes. */
  let waiting: (() => void)[] | undefined;
  server.on('request', (request, response) => {
    if (!connections.begin(request, response)) return;
    const answer = () =>
      request.destroyed ||
      dispatch(options, entrance, request, response).catch((error: unknown) =>
        response.destroy(error instanceof Error ? error : undefined),
      );
    if (waiting) waiting.push(answer);
    // Of requests that arrive together the last ends the connection, so all are seen before the first is answered.
    else if (connections.announcing) setImmediate(answer);
    else answer();
  });
  // Longer than the heartbeats of streams, so that an idle one is not cut.
  server.keepAliveTimeout = 65_000;
  const listening = await listen(server, options.host, options.port);
  const host = options.host.includes(':')
    ? `[${options.host}]`
    : options.host === '0.0.0.0'
      ? '127.0.0.1'
      : options.host;
  return {
    server,
    url: `http://${host}:${listening.port}`,
    announceStop: () => connections.announceEnd(),
    async close() {
      // Who is answered connects anew, and would meet a port that closes.
      waiting = [];
      await listening.close();
      for (const answer of waiting) setImmediate(answer);
      waiting = undefined;
    },
    endConnections: (silentMs) => connections.end(silentMs),
    destroy: () => connections.destroy(),
  };
}

/** What a request passes before it is answered: its connection, then its body is awaited, then it takes a place. */
interface Entrance {
  readonly bodies: Bodies;
  readonly inFlight: InFlight;
  readonly connections: Connections;
}

async function dispatch(
  options: HttpOptions,
  entrance: Entrance,
  request: IncomingMessage,
  response: WatchedResponse,
): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  if (answerCors(request, response, options.origins)) return;
  if (path === '/graphql' || path === '/graphql/stream') return serveGraphql(options, entrance, request, response);
  if (path === restPrefix || path.startsWith(`${restPrefix}/`)) return serveRest(options, entrance, request, response);
  if (path === '/health/live') return answer(response, 200, { status: 'ok' });
  if (path === '/health/ready') return serveReadiness(options, entrance, response);
  if (path === '/') {
    response.writeHead(302, { location: '/graphql' }).end();
    return;
  }
  answer(response, 404, { status: 404, code: 'NOT_FOUND', message: `there is nothing at ${path}` });
}

async function serveRest(
  options: HttpOptions,
  entrance: Entrance,
  request: IncomingMessage,
  response: WatchedResponse,
): Promise<void> {
  const body = await entrance.bodies.read(request);
  return enter(entrance, response, body)
    ? options.rest(request, response, body === 'TOO_LONG' ? undefined : body)
    : refuseLoad(response, { status: 503, code: 'SERVICE_UNAVAILABLE', message: busy, details: { reason: busy } });
}

async function serveGraphql(
  options: HttpOptions,
  entrance: Entrance,
  request: IncomingMessage,
  response: WatchedResponse,
): Promise<void> {
  const refused = refuseRequest(request);
  if (refused) {
    request.resume();
    return answer(response, refused.status, {
      errors: [{ message: refused.message, extensions: { code: refused.code } }],
    });
  }
  const body = await entrance.bodies.read(request);
  if (body === 'TOO_LONG') return refuseBody(request, response);
  return enter(entrance, response, body)
    ? answerGraphql(options, request, response, body)
    : refuseLoad(response, {
        errors: [{ message: busy, extensions: { code: 'SERVICE_UNAVAILABLE', retryAfter: 1 } }],
      });
}

/** Takes a place among those that are answered, for a request whose body is there or has been found too long. */
function enter({ inFlight }: Entrance, response: WatchedResponse, body: Body): body is Exclude<Body, 'GAVE_WAY'> {
  return body !== 'GAVE_WAY' && inFlight.enter(response);
}

async function answerGraphql(
  options: HttpOptions,
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
): Promise<void> {
  if (request.url?.startsWith('/graphql/stream')) {
    const distinct = streamToken(request) === undefined && wantsEvents(request);
    if (!distinct) return options.singleConnections(request, response, body);
    // Without a reserved stream it is the mode of a connection for each operation, which /graphql serves.
    request.url = request.url.replace('/graphql/stream', '/graphql');
  }
  if (request.method === 'POST' && !wantsEvents(request)) {
    return answerJsonRequest(options.graphql, request, response, body);
  }
  if (wantsEvents(request)) {
    // Once an event stream has begun its status is 200: strangers are told before.
    const viewer = await options.credentials
      .authenticate(request.headers.authorization)
      .catch(() => 'UNAVAILABLE' as const);
    if (viewer === 'UNAVAILABLE') return refuseLoad(response, { errors: [withoutStatus(unavailable())] });
    if (!viewer) return answer(response, 401, { errors: [withoutStatus(unauthenticated())] });
    // Proxies that collect an answer before they pass it on would keep an event stream to themselves.
    response.setHeader('x-accel-buffering', 'no');
  }
  await options.graphql.yoga(withBody(request, body), response);
}

/** The request as Yoga reads it: what it takes from one, and the body that has been read already. */
function withBody({ method, url, headers, socket }: IncomingMessage, body: Buffer) {
  return Object.assign(Readable.from([body]), { method, url, headers, socket });
}

const busy = 'too many requests at once; try again';

/** More than can be answered in good time, or at all now: nothing was begun, so the same request may come again as it is. */
function refuseLoad(response: ServerResponse, body: object): void {
  response.setHeader('retry-after', '1');
  answer(response, 503, body);
}

function wantsEvents(request: IncomingMessage): boolean {
  return request.headers.accept?.includes('text/event-stream') ?? false;
}

/** What cannot be a request of ours. JSON only: forms and plain text are what a foreign page can send without asking first. */
function refuseRequest(request: IncomingMessage): { status: number; code: string; message: string } | undefined {
  if (Number(request.headers['content-length'] ?? 0) > bodyBytes) {
    return { status: 413, code: 'PAYLOAD_TOO_LARGE', message: `a request body has at most ${bodyBytes} bytes` };
  }
  if (!isAddress(request)) {
    return { status: 400, code: 'BAD_REQUEST', message: 'the Host header or the path is malformed' };
  }
  if (request.method === 'POST' && !isJson(request.headers['content-type'])) {
    return { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', message: 'a POST body is application/json' };
  }
  return undefined;
}

function isJson(type = ''): boolean {
  return type === 'application/json' || type.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

/** The last Host that was well-formed. Most requests have the same. */
let goodHost: string | undefined;

/** Whether the path and the Host header make an address. */
function isAddress({ url = '/', headers: { host = 'localhost' } }: IncomingMessage): boolean {
  if (url === '/graphql' && host === goodHost) return true;
  const isGood = URL.canParse(url, `http://${host}`);
  if (isGood) goodHost = host;
  return isGood;
}

function refuseBody(request: IncomingMessage, response: ServerResponse): void {
  const message = `a request body has at most ${bodyBytes} bytes`;
  answer(response, 413, { errors: [{ message, extensions: { code: 'PAYLOAD_TOO_LARGE' } }] });
  request.destroy();
}

async function serveReadiness(
  options: HttpOptions,
  { connections }: Entrance,
  response: ServerResponse,
): Promise<void> {
  const database = await options.database.pool.query('select 1').then(
    () => true,
    () => false,
  );
  const ready = !connections.announcing && database;
  answer(response, ready ? 200 : 503, { status: ready ? 'ok' : 'unavailable', database });
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}
