import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database } from '../database/database.ts';
import type { GraphqlServer } from '../graphql/server.ts';
import { restPrefix } from '../rest/app.ts';
import type { RestServer } from '../rest/server.ts';

/** The most that a request's body may have. */
export const bodyBytes = 100 * 1024;

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  readonly graphql: GraphqlServer;
  readonly rest: RestServer;
  readonly database: Database;
  /** Whether the server takes new work; a stopping one answers 503 at /health/ready. */
  readonly ready: () => boolean;
}

/** The one HTTP server: GraphQL, REST, health, and byte limits before anything reads a body. */
export async function startHttpServer(options: HttpOptions): Promise<{ server: Server; url: string }> {
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 30_000 }, (request, response) => {
    dispatch(options, request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
  // Longer than the heartbeats of streams, so that an idle one is not cut.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':')
    ? `[${options.host}]`
    : options.host === '0.0.0.0'
      ? '127.0.0.1'
      : options.host;
  return { server, url: `http://${host}:${port}` };
}

async function dispatch(options: HttpOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  if (path === '/graphql' || path === '/graphql/stream') return serveGraphql(options, request, response);
  if (path === restPrefix || path.startsWith(`${restPrefix}/`)) return options.rest(request, response);
  if (path === '/health/live') return answer(response, 200, { status: 'ok' });
  if (path === '/health/ready') return serveReadiness(options, response);
  if (path === '/') {
    response.writeHead(302, { location: '/graphql' }).end();
    return;
  }
  answer(response, 404, { status: 404, code: 'NOT_FOUND', message: `there is nothing at ${path}` });
}

async function serveGraphql(options: HttpOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const refused = refuseBody(request);
  if (refused) {
    request.resume();
    return answer(response, refused.status, {
      errors: [{ message: refused.message, extensions: { code: refused.code } }],
    });
  }
  limitBody(request, response);
  await options.graphql(request, response);
}

/** JSON only: forms and plain text are what a foreign page can send without asking first. */
function refuseBody(request: IncomingMessage): { status: number; code: string; message: string } | undefined {
  if (Number(request.headers['content-length'] ?? 0) > bodyBytes) {
    return { status: 413, code: 'PAYLOAD_TOO_LARGE', message: `a request body has at most ${bodyBytes} bytes` };
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
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bodyBytes && !response.headersSent) {
      answer(response, 413, {
        errors: [
          { message: `a request body has at most ${bodyBytes} bytes`, extensions: { code: 'PAYLOAD_TOO_LARGE' } },
        ],
      });
      request.destroy();
    }
  });
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
