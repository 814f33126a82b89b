import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { databaseAway } from '../../core/refusal.ts';
import type { ReadinessWatch } from '../../infra/health/readiness.ts';
import { refuseWrongAddresses } from '../../infra/instruments/request-address.ts';
import { asRequest, clientIn, factsOf, pathOf } from '../../infra/instruments/request-facts.ts';
import { inRequestSpan } from '../../infra/instruments/spans.ts';
import { withoutStatus } from '../graphql/failure.ts';
import { graphqlMethods, isSafe } from '../graphql/server/read-operation.ts';
import { type GraphqlServer, unauthenticated } from '../graphql/server/server.ts';
import type { DistinctConnections } from '../graphql/transports/distinct-connections.ts';
import {
  acceptedTypes,
  answerByYoga,
  answerJsonRequest,
  eventStream,
  mediaTypes,
} from '../graphql/transports/json-requests.ts';
import type { McpEndpoint } from '../graphql/transports/mcp.ts';
import type { Pages } from '../pages/pages.ts';
import { restPrefix } from '../rest/context.ts';
import type { RestServer } from '../rest/server.ts';
import { type Admission, admit, refuseForm, type Service, tooLong } from './admission.ts';
import { BodyReader } from './bodies.ts';
import { type CallerOptions, openCallers } from './callers.ts';
import { type ConnectionLimits, Connections, closePort } from './connections.ts';
import { namesThisMachine, type Origins, protectResponse } from './cors.ts';
import { type AdmissionLimits, InFlight, WatchedResponse } from './in-flight.ts';
import type { ProviderWebhooks } from './provider-webhooks.ts';
import { answer, formBody, refuse, unavailable } from './refusals.ts';

interface HttpOptions {
  /** The time limit for a request, in milliseconds, from the arrival of its body until its response begins. */
  readonly requestMs: number;
  readonly host: string;
  readonly port: number;
  readonly graphql: GraphqlServer;
  readonly callers: CallerOptions;
  readonly distinctConnections: DistinctConnections;
  readonly mcp: McpEndpoint;
  readonly origins: Origins;
  readonly rest: RestServer;
  readonly providers: ProviderWebhooks;
  readonly pages: Pages;
  readonly readiness: ReadinessWatch;
  /** The log that gets a line about each request when its response ends; undefined if requests are not logged. */
  readonly requestLog: Logger | undefined;
  /** Whether a platform's credentials are publicly known. If so, a request's Host must name this machine. */
  readonly isSandbox: boolean;
  /** The limits on requests in flight. A request beyond them gets a 503 response and may be sent again. */
  readonly admission: AdmissionLimits;
  readonly connections: ConnectionLimits;
  /** For tests only: whether Yoga handles every request, even those that could bypass it. */
  readonly throughYoga?: boolean | undefined;
  /** For tests only: how long a client may take to send its headers, in milliseconds. */
  readonly headersMs?: number | undefined;
}

/** Node's limits, in bytes and milliseconds. TCP keep-alive detects connections whose client has vanished. */
const connectionLimits = {
  maxHeaderSize: 16 * 1024,
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAlive: true,
  keepAliveInitialDelay: 12_000,
} as const;

/** The maximum number of connections waiting to be accepted. The system may allow fewer (net.core.somaxconn). */
const backlog = 8_192;

/**
 * How long an idle connection stays open, in milliseconds. It must be longer than the interval between stream
 * heartbeats and than the idle timeout of load balancers (60 s for AWS and nginx, 75 s for others), which could
 * otherwise send requests on a closing connection. The Keep-Alive header announces a few seconds less, so that clients
 * close connections first.
 */
const idleLimits = { keepAliveTimeout: 80_000, keepAliveTimeoutBuffer: 5_000 } as const;

export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

/** Starts an instance's HTTP server, which serves GraphQL, REST and health checks, and enforces request limits. */
export async function startHttpServer(options: HttpOptions) {
  const { headersMs = connectionLimits.headersTimeout } = options;
  const server = createServer({
    ServerResponse: WatchedResponse,
    // Other upgrades are ignored (RFC 9110, 7.8). Without TLS, Java's HTTP client asks for HTTP/2 in its first request.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    ...connectionLimits,
    headersTimeout: headersMs,
    connectionsCheckingInterval: Math.min(headersMs, connectionLimits.connectionsCheckingInterval),
  });
  refuseWrongAddresses(server);
  const connections = new Connections(server, options.connections);
  const callers = openCallers(options.callers);
  const admission: Admission = {
    bodies: new BodyReader(callers),
    inFlight: new InFlight(options.admission),
    connections,
    callers,
    requestMs: options.requestMs,
  };
  /** Requests that arrived while the port was closing. */
  let waiting: (() => void)[] | undefined;
  server.on('request', (request, response) => {
    if (!connections.begin(response)) return;
    const answer = () =>
      request.destroyed ||
      asLoggedRequest(response, options, () => dispatch(options, admission, response)).catch((error: unknown) =>
        response.destroy(error instanceof Error ? error : undefined),
      );
    if (waiting) waiting.push(answer);
    // If several requests arrive together, only the last response may end the connection, so all requests are read
    // before any is handled.
    else if (connections.announcing) setImmediate(answer);
    else answer();
  });
  Object.assign(server, idleLimits);
  server.listen({ host: options.host, port: options.port, backlog });
  await once(server, 'listening');
  // The address of a server that listens on a host and port is an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':')
    ? `[${options.host}]`
    : options.host === '0.0.0.0'
      ? '127.0.0.1'
      : options.host;
  return {
    server,
    url: `http://${host}:${port}`,
    connections,
    async close(): Promise<void> {
      // Requests wait, because a client that got its response now would reconnect to the closing port.
      waiting = [];
      await closePort(server);
      for (const answer of waiting) setImmediate(answer);
      waiting = undefined;
    },
  };
}

/** An alias of /graphql. Event stream libraries expect this path. */
const streamPath = '/graphql/stream';
const graphqlPaths: ReadonlySet<string> = new Set(['/graphql', streamPath]);

async function dispatch(options: HttpOptions, admission: Admission, response: WatchedResponse): Promise<void> {
  const { req: request } = response;
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  protectResponse(response);
  if (options.isSandbox && !namesThisMachine(request)) return refuseHost(response);
  if (graphqlPaths.has(path)) describeGraphql(response);
  if (options.origins.answer(response)) return;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && (await options.pages.answer(response, path))) return;
  if (request.method === 'POST' && (await options.pages.answerPost(response, path))) return;
  if (graphqlPaths.has(path))
    return serveGraphql(admission, response, (body) => answerGraphql(options, response, body));
  if (path === '/mcp') return serveGraphql(admission, response, (body) => options.mcp(response, body));
  const { rest, providers } = options;
  const admitJson = (service: Pick<Service, 'servesStrangers' | 'takesJson' | 'work'>) =>
    admit(admission, response, { api: 'REST', ...service });
  if (path === restPrefix || path.startsWith(`${restPrefix}/`))
    return admitJson({ takesJson: true, work: (body) => rest(response, body) });
  if (providers.takes(path))
    return admitJson({
      servesStrangers: true,
      takesJson: false,
      work: (body) => providers.answer(response, body),
    });
  if (path === '/health/live') return answer(response, 200, { status: 'ok' });
  if (path === '/health/ready') return serveReadiness(options, response);
  if (await options.pages.answerWrongPath(response, path)) return;
  const nothing = { status: 404, code: 'NOT_FOUND', message: `there is nothing at ${path}` };
  return refuseForm(admission, response, 404, nothing);
}

function refuseHost(response: ServerResponse): void {
  const message = 'the sandbox accepts requests only for localhost and loopback addresses';
  answer(response, 421, { status: 421, code: 'MISDIRECTED_REQUEST', message, errors: [{ message }] });
}

/** The HTTP methods that the GraphQL path supports (RFC 9110, 10.2.1). */
const allow = [...graphqlMethods, 'OPTIONS'].join(', ');

/** Sets the response headers that list the methods and media types that GraphQL accepts (RFC 10008, 3). */
function describeGraphql(response: ServerResponse): void {
  const { method } = response.req;
  if (method === 'OPTIONS' || !graphqlMethods.has(method ?? '')) response.setHeader('allow', allow);
  if (method === 'OPTIONS' || method === 'QUERY') response.setHeader('accept-query', 'application/json');
}

function serveGraphql(admission: Admission, response: WatchedResponse, work: (body: Buffer) => Promise<void>) {
  return admit(admission, response, {
    api: 'GRAPHQL',
    takesJson: true,
    refuseStranger: () => refuseStranger(response),
    work: async (body) => (body ? work(body) : answer(response, 413, formBody('GRAPHQL', 413, tooLong))),
  });
}

async function answerGraphql(options: HttpOptions, response: ServerResponse, body: Buffer): Promise<void> {
  const { req: request } = response;
  const { graphql } = options;
  if (!graphqlMethods.has(request.method ?? '')) {
    return refuseMethod(response, 405, 'METHOD_NOT_ALLOWED', `GraphQL accepts ${allow}`);
  }
  if (request.url?.startsWith(streamPath)) request.url = `/graphql${request.url.slice(streamPath.length)}`;
  const types = acceptedTypes(request);
  if (types.includes(eventStream)) {
    // Wrong credentials must be refused first, because once a stream has begun, its status is 200.
    const viewer = await options.callers.credentials
      .authenticate(request.headers.authorization)
      .catch(() => 'UNAVAILABLE' as const);
    if (viewer === 'UNAVAILABLE') return refuse(response, 'GRAPHQL', unavailable(databaseAway));
    if (!viewer) return refuseStranger(response);
    if (await options.distinctConnections(response, body)) return;
  }
  const [type] = types;
  if (!type) return refuseMethod(response, 406, 'NOT_ACCEPTABLE', `available media types: ${mediaTypes.join(', ')}`);
  const isShort = type !== eventStream && !isSafe(request.method) && !options.throughYoga;
  return isShort
    ? answerJsonRequest(graphql, response, { type, body })
    : answerByYoga(graphql, response, { type, body });
}

function refuseMethod(response: ServerResponse, status: number, code: string, message: string): void {
  answer(response, status, { errors: [{ message, extensions: { code } }] });
}

function refuseStranger(response: ServerResponse): void {
  const type = acceptedTypes(response.req).find((one) => one !== eventStream);
  answer(response, 401, { errors: [withoutStatus(unauthenticated())] }, type);
}

async function serveReadiness({ readiness }: HttpOptions, response: ServerResponse): Promise<void> {
  const { status, body } = await readiness.answer();
  if (status === 503) response.setHeader('retry-after', '1');
  answer(response, status, body);
}

/**
 * Handles a request under its id (`X-Request-Id`, or a new one), which the response and all log lines include. Logs the
 * request, if enabled.
 */
function asLoggedRequest<T>(response: ServerResponse, { requestLog, callers }: HttpOptions, work: () => T): T {
  const { req: request } = response;
  const facts = factsOf(request.headers['x-request-id'], clientIn(request.headers));
  response.setHeader('x-request-id', facts.requestId);
  if (requestLog) {
    const { method } = request;
    const path = pathOf(request);
    const start = performance.now();
    const address = callers.addressOf(request);
    response.once('close', () => {
      const ms = Math.round((performance.now() - start) * 10) / 10;
      // A response that closes without finishing was aborted by the client.
      const status = response.writableFinished ? response.statusCode : null;
      requestLog.info({ ...facts, method, path, status, ms, address }, 'request');
    });
  }
  return inRequestSpan(request, response, facts, () => asRequest(facts, work));
}
