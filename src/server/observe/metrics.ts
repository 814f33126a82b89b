import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Registry, register } from 'prom-client';
import type { Sessions } from '../../domain/access/tokens/sessions.ts';
import type { Feed } from '../../domain/events/feed.ts';
import type { Database } from '../../infra/database/database.ts';
import type { Replicas } from '../../infra/database/replicas/replicas.ts';
import type { ReadinessWatch } from '../../infra/health/readiness.ts';
import { refuseWrongAddresses } from '../../infra/instruments/request-address.ts';
import { singleFlight } from '../../infra/instruments/single-flight.ts';
import { databaseFigures } from './database-figures.ts';

export interface Observed {
  readonly working: Database;
  readonly serving: Database;
  /** The standbys used for reads, if the settings name any. */
  readonly replicas: Replicas | undefined;
  readonly feed: Feed;
  readonly sessions: Sessions;
  readonly readiness: ReadinessWatch;
}

/** Whether the process metrics (event loop, heap, CPU, file descriptors) are registered, which happens only once. */
let hasDefaults = false;

/** A value of a gauge, with its labels. */
type Reading = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Declares an instance's gauges. Each gauge reads its values when it is scraped. */
function declareGauges({ serving, working, replicas, feed, sessions, readiness }: Observed, registers: Registry[]) {
  const gauge = (name: string, help: string, read: () => number | Reading[], ...labelNames: string[]) =>
    new Gauge({
      ...{ name: `payments_${name}`, help, labelNames, registers },
      collect() {
        const readings = read();
        if (typeof readings === 'number') this.set(readings);
        else for (const [labels, value] of readings) this.set(labels, value);
      },
    });
  const pools = Object.entries({ serving: serving.pool, work: working.pool });
  const connections = () =>
    pools.flatMap(([pool, { totalCount, idleCount }]): Reading[] => [
      [{ pool, state: 'total' }, totalCount],
      [{ pool, state: 'idle' }, idleCount],
    ]);
  gauge('pool_connections', 'Connections of a pool, by state: total, idle.', connections, 'pool', 'state');
  const waiting = () => pools.map(([pool, { waitingCount }]): Reading => [{ pool }, waitingCount]);
  gauge('pool_waiting', 'Statements waiting for a connection from a pool.', waiting, 'pool');
  gauge('stream_connections', 'Open WebSockets and event streams.', () => sessions.size);
  gauge('subscriptions', 'Open subscriptions.', () => feed.subscriptions);
  gauge('feed_listening', 'Whether the feed listens for notifications (1) or only polls (0).', () =>
    Number(feed.listening),
  );
  gauge(
    'feed_lag_events',
    'Events in the feed that this instance has not dispatched yet: the maximum over all platforms.',
    () => feed.lag,
  );
  new Counter({
    name: 'payments_feed_events_read_total',
    help: "Feed events read from the database for this instance's subscribers, by purpose: live or replay.",
    labelNames: ['for'],
    registers,
    collect() {
      // The feed keeps its own counts, so that it does not depend on a metrics registry.
      this.reset();
      for (const [purpose, count] of Object.entries(feed.eventsRead)) this.inc({ for: purpose }, count);
    },
  });
  const checks = () => Object.entries(readiness.last).map(([check, holds]): Reading => [{ check }, Number(holds)]);
  gauge('ready', 'The last result of each readiness check: 1 or 0.', checks, 'check');
  if (!replicas) return;
  const ofReplicas = (name: string, help: string, read: (replica: Replicas['all'][number]) => number) => {
    const readings = () => replicas.all.map((one): Reading => [{ replica: String(one.number) }, read(one)]);
    gauge(`replica_${name}`, help, readings, 'replica');
  };
  ofReplicas('usable', 'Whether a replica is used for reads: 1 or 0.', ({ isUsable }) => Number(isUsable));
  // The lag of a lost replica is unknown.
  ofReplicas('lag_bytes', 'Bytes of WAL that a replica has not replayed.', ({ lagBytes }) => lagBytes ?? Number.NaN);
}

function metricsOf(observed: Observed, readsDatabase: boolean): () => Promise<string> {
  if (!hasDefaults) collectDefaultMetrics();
  hasDefaults = true;
  const own = new Registry();
  declareGauges(observed, [own]);
  const readFigures = readsDatabase ? databaseFigures(observed.working, [own]) : undefined;
  const merged = Registry.merge([register, own]);
  return singleFlight(async () => {
    await readFigures?.();
    return merged.metrics();
  });
}

interface MetricsSettings {
  readonly METRICS_PORT?: number | undefined;
  readonly METRICS_HOST: string;
  readonly ROLE: string;
}

export type MetricsServer = Awaited<ReturnType<typeof startMetrics>>;

/** Serves metrics and health on METRICS_PORT, if it is set. An instance with ROLE=serve reads no database figures. */
export async function startMetrics(
  { METRICS_PORT: port, METRICS_HOST: host, ROLE }: MetricsSettings,
  observed: Observed,
  log: Logger,
) {
  if (port === undefined) return undefined;
  const scrape = metricsOf(observed, ROLE !== 'serve');
  const json = (status: number, body: object) => ({ status, type: 'application/json', body: JSON.stringify(body) });
  const answers = new Map([
    ['/metrics', async () => ({ status: 200, type: register.contentType, body: await scrape() })],
    ['/health/live', async () => json(200, { status: 'ok' })],
    ['/health/ready', () => observed.readiness.answer().then(({ status, body }) => json(status, body))],
  ]);
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const answer = request.method === 'GET' ? answers.get(path) : undefined;
    if (!answer) return void response.writeHead(404).end();
    answer().then(
      ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      (error: unknown) => {
        log.error({ err: error }, `could not serve ${path}`);
        response.writeHead(500).end();
      },
    );
  });
  refuseWrongAddresses(server);
  server.listen(port, host);
  await once(server, 'listening');
  // A server that listens on a host and a port has an address of this type.
  const { port: listening } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}`,
    /** Also ends requests that are still in progress. */
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}
