import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Credentials } from '../access/credentials.ts';
import type { Database } from '../database/database.ts';
import { answerJsonRequest } from '../graphql/json-requests.ts';
import { withoutStatus } from '../graphql/operation.ts';
import { type GraphqlServer, unauthenticated } from '../graphql/server.ts';
import { streamToken } from '../graphql/single-connection.ts';
import { restPrefix } from '../rest/app.ts';
import type { RestServer } from '../rest/server.ts';
import { type AllowedOrigins, answerCors } from './cors.ts';
import { InFlight, type Room } from './in-flight.ts';
import { keepAlive, type Listening, listen } from './listeners.ts';
import { SilentConnections } from './silent-connections.ts';

/** The most that a request's body may have. */
export const bodyBytes = 100 * 1024;

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  readonly graphql: GraphqlServer;
  readonly credentials: Credentials;
  /** Event streams that carry several operations. */
  readonly singleConnections: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly origins: AllowedOrigins;
  readonly rest: RestServer;
  readonly database: Database;
  /** Whether the server takes new work; a stopping one answers 503 at /health/ready. */
  readonly ready: () => boolean;
  /** How many requests are answered at once; one more is refused with 503 and may come again. */
  readonly room: Room;
}

/** Requests with more, or slower to arrive, are refused. */
const connectionLimits = { maxHeaderSize: 16 * 1024, requestTimeout: 30_000 } as const;

/** The one HTTP server: GraphQL, REST, health, and byte limits before anything reads a body. */
export async function startHttpServer(
  options: HttpOptions,
): Promise<{ server: Server; silent: SilentConnections; listening: Listening; url: string }> {
  const inFlight = new InFlight(options.room);
  const server = createServer({ ...connectionLimits, ...keepAlive }, (request, response) => {
    dispatch(options, inFlight, request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
  const silent = new SilentConnections(server);
  // Longer than the heartbeats of streams, so that an idle one is not cut.
  server.keepAliveTimeout = 65_000;
  const listening = await listen(server, options.host, options.port);
  const host = options.host.includes(':')
    ? `[${options.host}]`
    : options.host === '0.0.0.0'
      ? '127.0.0.1'
      : options.host;
  return { server, silent, listening, url: `http://${host}:${listening.port}` };
}

async function dispatch(
  options: HttpOptions,
  inFlight: InFlight,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  if (answerCors(request, response, options.origins)) return;
  if (path === '/graphql' || path === '/graphql/stream') {
    return inFlight.enter(response)
      ? serveGraphql(options, request, response)
      : refuseLoad(request, response, {
          errors: [{ message: busy, extensions: { code: 'SERVICE_UNAVAILABLE', retryAfter: 1 } }],
        });
  }
  if (path === restPrefix || path.startsWith(`${restPrefix}/`)) {
    return inFlight.enter(response)
      ? options.rest(request, response)
      : refuseLoad(request, response, {
          status: 503,
          code: 'SERVICE_UNAVAILABLE',
          message: busy,
          details: { reason: busy },
        });
  }
  if (path === '/health/live') return answer(response, 200, { status: 'ok' });
  if (path === '/health/ready') return serveReadiness(options, response);
  if (path === '/') {
    response.writeHead(302, { location: '/graphql' }).end();
    return;
  }
  answer(response, 404, { status: 404, code: 'NOT_FOUND', message: `there is nothing at ${path}` });
}

async function serveGraphql(options: HttpOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const refused = refuseRequest(request);
  if (refused) {
    request.resume();
    return answer(response, refused.status, {
      errors: [{ message: refused.message, extensions: { code: refused.code } }],
    });
  }
  if (request.url?.startsWith('/graphql/stream')) {
    const distinct = streamToken(request) === undefined && wantsEvents(request);
    if (!distinct) {
      limitBody(request, response);
      return options.singleConnections(request, response);
    }
    // Without a reserved stream it is the mode of a connection for each operation, which /graphql serves.
    request.url = request.url.replace('/graphql/stream', '/graphql');
  }
  if (request.method === 'POST' && !wantsEvents(request)) {
    const body = await readBody(request);
    return body === undefined
      ? refuseBody(request, response)
      : answerJsonRequest(options.graphql, request, response, body);
  }
  limitBody(request, response);
  if (wantsEvents(request)) {
    // Once an event stream has begun its status is 200: strangers are told before.
    if (!(await options.credentials.authenticate(request.headers.authorization))) {
      request.resume();
      return answer(response, 401, { errors: [withoutStatus(unauthenticated())] });
    }
    // Proxies that collect an answer before they pass it on would keep an event stream to themselves.
    response.setHeader('x-accel-buffering', 'no');
  }
  await options.graphql(request, response);
}

const busy = 'too many requests at once; try again';

/** More than can be answered in good time: nothing was begun, so the same request may come again as it is. */
function refuseLoad(request: IncomingMessage, response: ServerResponse, body: object): void {
  request.resume();
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
  if (!URL.canParse(request.url ?? '/', `http://${request.headers.host ?? 'localhost'}`)) {
    return { status: 400, code: 'BAD_REQUEST', message: 'the Host header or the path is malformed' };
  }
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (request.method === 'POST' && type !== 'application/json') {
    return { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', message: 'a POST body is application/json' };
  }
  return undefined;
}

/** A body that does not say its length is cut off when it passes the limit. */
function limitBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers['content-length'] !== undefined) return;
  let bytes = 0;
  // Paused, since listening would start the flow before the body's reader is there, and lose the beginning.
  request.pause();
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bodyBytes && !response.headersSent) refuseBody(request, response);
  });
}

/** The body as text, or undefined when it passes the limit. */
function readBody(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > bodyBytes) resolve(undefined);
        else chunks.push(chunk);
      })
      .on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
      .on('error', reject)
      // Every request is closed in the end; one that is not complete was broken off, and there is nobody left to answer.
      .on('close', () => {
        if (!request.complete) reject(new Error('the request was broken off'));
      });
  });
}

function refuseBody(request: IncomingMessage, response: ServerResponse): void {
  const message = `a request body has at most ${bodyBytes} bytes`;
  answer(response, 413, { errors: [{ message, extensions: { code: 'PAYLOAD_TOO_LARGE' } }] });
  request.destroy();
}

async function serveReadiness(options: HttpOptions, response: ServerResponse): Promise<void> {
  const database = await options.database.pool.query('select 1').then(
    () => true,
    () => false,
  );
  const ready = options.ready() && database;
  answer(response, ready ? 200 : 503, { status: ready ? 'ok' : 'unavailable', database });
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}
