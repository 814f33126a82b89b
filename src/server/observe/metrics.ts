import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Registry, register } from 'prom-client';
import type { Sessions } from '../../domain/access/tokens/sessions.ts';
import type { Feed } from '../../domain/events/feed.ts';
import type { Database } from '../../infra/database/database.ts';
import type { Replicas } from '../../infra/database/replicas/replicas.ts';
import type { ReadinessWatch } from '../../infra/health/readiness.ts';
import { type OperatorServer, startOperatorServer } from '../../infra/instruments/operator-server.ts';
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

/** Whether the process metrics (event loop, heap, CPU, file descriptors) have been registered, which is done once. */
let hasDefaults = false;

function gaugesOf({ serving, working, replicas, feed, sessions, readiness }: Observed, registers: Registry[]) {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name: `payments_${name}`, help, labelNames, registers });
  const pool = gauge('pool_connections', 'Connections of a pool, by state: total, idle.', ['pool', 'state']);
  const waiting = gauge('pool_waiting', 'Statements that wait for a connection of a pool.', ['pool']);
  const connections = gauge('stream_connections', 'Open WebSockets and event streams.');
  const subscriptions = gauge('subscriptions', 'Open subscriptions.');
  const listening = gauge('feed_listening', 'Whether the feed listens for notifications: 1, or 0 while it polls.');
  const lag = gauge(
    'feed_lag_events',
    'Events in the feed that this instance has not dispatched yet: the maximum over all platforms.',
  );
  const read = new Counter({
    name: 'payments_feed_events_read_total',
    help: 'Events of the feed that were read from the database for subscribers of this instance: live, replay.',
    labelNames: ['for'],
    registers,
  });
  const ready = gauge('ready', 'The last result of each readiness check: 1 or 0.', ['check']);
  const replica = replicas && replicaGauges(replicas, gauge);
  return () => {
    replica?.();
    for (const [name, database] of Object.entries({ serving, work: working })) {
      pool.set({ pool: name, state: 'total' }, database.pool.totalCount);
      pool.set({ pool: name, state: 'idle' }, database.pool.idleCount);
      waiting.set({ pool: name }, database.pool.waitingCount);
    }
    connections.set(sessions.size);
    subscriptions.set(feed.subscriptions);
    listening.set(feed.listening ? 1 : 0);
    lag.set(feed.lag);
    // The feed keeps its own counts, so that it does not depend on a metrics registry.
    read.reset();
    for (const [purpose, count] of Object.entries(feed.eventsRead)) read.inc({ for: purpose }, count);
    for (const [check, holds] of Object.entries(readiness.last)) ready.set({ check }, holds ? 1 : 0);
  };
}

function replicaGauges(
  replicas: Replicas,
  gauge: (name: string, help: string, labelNames: readonly 'replica'[]) => Gauge<'replica'>,
) {
  const usable = gauge('replica_usable', 'Whether a replica is used for reads: 1 or 0.', ['replica']);
  const bytes = gauge('replica_lag_bytes', 'Bytes of WAL that a replica has not replayed.', ['replica']);
  const seconds = gauge('replica_lag_seconds', 'How long a replica has been behind the primary.', ['replica']);
  return () => {
    for (const { number, isUsable, lag } of replicas.all) {
      const labels = { replica: String(number) };
      usable.set(labels, isUsable ? 1 : 0);
      // The lag of a lost replica is unknown.
      bytes.set(labels, lag?.bytes ?? Number.NaN);
      seconds.set(labels, lag?.seconds ?? Number.NaN);
    }
  };
}

function metricsOf(observed: Observed, readsDatabase: boolean): () => Promise<string> {
  if (!hasDefaults) collectDefaultMetrics();
  hasDefaults = true;
  const own = new Registry();
  const refresh = gaugesOf(observed, [own]);
  const readFigures = readsDatabase ? databaseFigures(observed.working, [own]) : undefined;
  const merged = Registry.merge([register, own]);
  return singleFlight(async () => {
    await readFigures?.();
    refresh();
    return merged.metrics();
  });
}

interface MetricsSettings {
  readonly METRICS_PORT?: number | undefined;
  readonly METRICS_HOST: string;
  readonly ROLE: string;
}

/** Serves metrics and health on METRICS_PORT, if it is set. An instance with ROLE=serve reads no database figures. */
export async function startMetrics(
  { METRICS_PORT: port, METRICS_HOST: host, ROLE }: MetricsSettings,
  observed: Observed,
  log: Logger,
): Promise<OperatorServer | undefined> {
  if (port === undefined) return undefined;
  const scrape = metricsOf(observed, ROLE !== 'serve');
  return startOperatorServer(
    { host, port },
    {
      '/metrics': async () => ({ type: register.contentType, body: await scrape() }),
      '/health/live': async () => ({ type: 'application/json', body: JSON.stringify({ status: 'ok' }) }),
      '/health/ready': async () => {
        const { status, body } = await observed.readiness.answer();
        return { status, type: 'application/json', body: JSON.stringify(body) };
      },
    },
    log,
  );
}
