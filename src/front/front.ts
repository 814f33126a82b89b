import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { DirectoryFile } from '../clusters/directory.ts';
import { startOperatorServer } from '../instruments/operator-server.ts';
import { answerJson, refusals, refuse } from './answers.ts';
import { forward, type Passing } from './forward.ts';
import { Instances } from './instances.ts';
import { FrontMetrics } from './metrics.ts';
import { OpenStreams } from './open-streams.ts';
import { routeOf } from './route.ts';
import { Sockets } from './sockets.ts';

/** What a front is started with. */
export interface FrontOptions {
  readonly directory: DirectoryFile;
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** How long requests are still taken after readiness says no, in milliseconds. */
  readonly shutdownDelayMs: number;
  /** Where `/metrics` is; nowhere, if left out. */
  readonly metrics?: { readonly host: string; readonly port: number } | undefined;
  readonly log: Logger;
}

/** A running front. */
export interface Front {
  readonly url: string;
  /** The address of its metrics; undefined where it has none. */
  readonly metricsUrl: string | undefined;
  /** Says that it stops, sends streams away, lets requests end, and closes. */
  stop(): Promise<void>;
}

/** The limits of the service: the most bytes of headers, and the most milliseconds until a request has arrived. */
const connectionLimits = { maxHeaderSize: 16 * 1024, requestTimeout: 30_000, keepAlive: true, noDelay: true } as const;

/** How long a stop waits for requests, and over how long it sends streams away, in milliseconds. */
const stopMs = { requests: 5_000, eachStream: 5, streams: 3_000 } as const;

/**
 * Starts a front: one address for several clusters. It finds the cluster of each request by what its credentials say themselves,
 * and proves nothing: the cluster does. What it does not know goes to the default cluster, which answers as a single installation.
 * @throws Error EADDRINUSE and similar errors of the system
 */
export async function startFront(options: FrontOptions): Promise<Front> {
  const { directory, host, port, shutdownDelayMs, log } = options;
  const instances = new Instances(directory, log);
  const streams = new OpenStreams(directory);
  const metrics = new FrontMetrics(directory);
  const passing: Passing = { instances, streams, metrics, log };
  const sockets = new Sockets({ ...passing, placeOf: (claim) => directory.current.placeOf(claim) });
  const server = createServer(connectionLimits);
  // As long as the instances keep theirs.
  server.keepAliveTimeout = 65_000;
  let isStopping = false;
  server.on('request', (request, response) => {
    if (isStopping) response.setHeader('connection', 'close');
    // A connection whose answer had begun before is not waited for.
    response.once('close', () => isStopping && setImmediate(() => server.closeIdleConnections()));
    answer(directory, passing, request, response, isStopping).catch((error: unknown) => {
      log.error({ err: error }, 'a request could not be passed on');
      response.destroy();
    });
  });
  server.on('upgrade', (request, socket, head) => sockets.accept(request, socket, head));
  const unfollow = directory.onChange(() => streams.endMoved());
  await instances.open();
  server.listen({ host, port, backlog: 1024 });
  await once(server, 'listening');
  const scrape = metrics.scrape({ directory, instances, streams, waitingSockets: () => sockets.waiting });
  const metricsServer = options.metrics && (await startOperatorServer(options.metrics, { '/metrics': scrape }, log));
  // A server that listens at host and port has an address of this kind.
  const { port: listening } = server.address() as AddressInfo;
  return {
    metricsUrl: metricsServer?.url,
    url: `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${listening}`,
    async stop() {
      isStopping = true;
      await delay(shutdownDelayMs);
      const closed = closeServer(server);
      sockets.close();
      await streams.endAll(Math.min(stopMs.streams, streams.size * stopMs.eachStream));
      await Promise.race([closed, delay(stopMs.requests, undefined, { ref: false })]);
      server.closeAllConnections();
      unfollow();
      instances.close();
      metricsServer?.close();
    },
  };
}

async function answer(
  directory: DirectoryFile,
  passing: Passing,
  request: IncomingMessage,
  response: ServerResponse,
  isStopping: boolean,
): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  if (path === '/health/live') return answerJson(response, 200, { status: 'ok' });
  if (path === '/health/ready') {
    return answerJson(response, isStopping ? 503 : 200, { status: isStopping ? 'unavailable' : 'ok' });
  }
  // What clusters say to each other goes between them, and through no front.
  if (path === '/clusters' || path.startsWith('/clusters/')) {
    return answerJson(response, 404, { status: 404, code: 'NOT_FOUND', message: `there is nothing at ${path}` });
  }
  const route = routeOf(request);
  const { cluster, isPaused } = directory.current.placeOf(route.claim);
  const end = passing.metrics.begin(cluster);
  if (isPaused) refuse(response, refusals.paused);
  end(isPaused ? 'paused' : await forward(passing, request, response, { route, cluster }), response.statusCode);
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  await closed;
}
