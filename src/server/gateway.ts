import type { Logger } from 'pino';
import { openWebhooks } from '../api/webhooks/webhooks.ts';
import { Cursors } from '../core/cursors.ts';
import { SecretBox } from '../core/secret-box.ts';
import { Sessions } from '../domain/access/tokens/sessions.ts';
import type { Payments } from '../domain/commands/command.ts';
import { Feed } from '../domain/events/feed.ts';
import { Sequencer } from '../domain/events/sequencer.ts';
import type { Pooler } from '../infra/database/connections/pooled-client.ts';
import { type Database, openDatabase } from '../infra/database/database.ts';
import { refuseOwners } from '../infra/database/owners.ts';
import { openReplicas } from '../infra/database/replicas/replicas.ts';
import { ReadinessWatch } from '../infra/health/readiness.ts';
import type { Resolver } from '../infra/net/addresses.ts';
import { StoredConnections } from '../rails/connections.ts';
import { closeRails, type LoadedRails, loadRails, RailFault } from '../rails/load-rails.ts';
import { sandboxModule } from '../rails/sandbox/sandbox-rail.ts';
import { upstreamModule } from '../rails/upstream/upstream-module.ts';
import { ConfigError, type GatewaySettings } from './config.ts';
import { startMetrics } from './observe/metrics.ts';
import { type ServingOptions, startServing } from './serve.ts';
import { listenError } from './start/listening.ts';
import { type Running, stopInOrder } from './stop.ts';
import { startWorkers } from './workers/workers.ts';

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** Opens the domain with the configured rails, but without APIs or workers. Throws ConfigError for an invalid rail. */
export async function openPayments(database: Database, config: GatewaySettings, log: Logger): Promise<Payments> {
  return {
    database,
    rails: await openRails(database, config, log),
    quoteSeconds: config.SANDBOX_QUOTE_SECONDS,
    approvalMs: config.PAYMENT_APPROVAL_MS,
    // Without SECRET_KEY, there is no key to encrypt cursors with.
    cursors: new Cursors(config.SECRET_KEY ? [config.SECRET_KEY, ...config.SECRET_KEY_FALLBACKS] : []),
    log,
  };
}

/** Opens the store of the platforms' provider connections, which are encrypted with SECRET_KEY. */
export function openConnections(
  database: Database,
  { SECRET_KEY: key, SECRET_KEY_FALLBACKS: fallbacks }: Pick<GatewaySettings, 'SECRET_KEY' | 'SECRET_KEY_FALLBACKS'>,
): StoredConnections {
  return new StoredConnections(database, key && new SecretBox(key, fallbacks));
}

/** Opens the rails in the RAILS setting. By default, SANDBOX platforms get the sandbox rail. */
async function openRails(database: Database, config: GatewaySettings, log: Logger): Promise<LoadedRails> {
  const sandbox = sandboxModule(config.SANDBOX_PACE_MS);
  const settings = {
    directory: process.cwd(),
    ...config.RAILS,
    SANDBOX: config.RAILS?.SANDBOX ?? { module: 'sandbox' },
  };
  try {
    return await loadRails(settings, {
      own: { sandbox, upstream: upstreamModule },
      host: { log, connections: openConnections(database, config) },
    });
  } catch (error) {
    throw error instanceof RailFault ? new ConfigError([error.message]) : error;
  }
}

interface GatewayOptions extends ServingOptions {
  readonly databaseUrl: string;
  readonly pooler?: Pooler | undefined;
  readonly config: GatewaySettings;
  /** Resolves the host names of webhook endpoints; uses DNS by default. */
  readonly webhooks?: { readonly resolve?: Resolver | undefined };
}

/** Starts an instance in its ROLE on a migrated database. @throws ConfigError for a bad HOST, PORT or SECRET_KEY */
export async function startGateway(options: GatewayOptions) {
  const { config, log } = options;
  if (config.ROLE !== 'work' && !config.SECRET_KEY) {
    throw new ConfigError([
      'SECRET_KEY is required to serve, and must be the same on all instances: it encrypts cursors and secrets. Create one with "openssl rand -base64 32"',
    ]);
  }
  const databases = openDatabases(options);
  const { serving, working } = databases;
  const running: Running = {
    feed: new Feed(serving, log),
    sessions: new Sessions(serving, log),
    readiness: new ReadinessWatch(config.ROLE === 'work' ? working : serving, log, options.pace?.readiness),
    close: databases.close,
    log,
  };
  return startParts(options, running, databases).catch(async (error: unknown) => {
    await stopInOrder(running);
    throw error;
  });
}

/** Starts the parts of an instance. Those that must be stopped later are added to `running`. */
async function startParts(
  options: GatewayOptions,
  running: Running,
  { serving, working, replicas, close }: ReturnType<typeof openDatabases>,
) {
  const { config, log } = options;
  const { feed, sessions, readiness } = running;
  const payments = await openPayments(working, config, log);
  running.close = () => closeRails(payments.rails).then(close);
  const webhooks = openWebhooks(payments, config, options.webhooks);
  if (!webhooks.box) log.warn('SECRET_KEY is not set: webhooks are off');
  if (!config.ALLOW_UNSAFE.includes('owner-login')) await refuseOwners(config.ROLE === 'work' ? working : serving);
  await feed.open();
  readiness.open();
  await replicas?.open();
  const observed = { serving, working, replicas, feed, sessions, readiness };
  running.metrics = await startMetrics(config, observed, log).catch((error: unknown) => {
    throw listenError(error, config, 'METRICS');
  });
  if (config.ROLE !== 'serve')
    running.workers = startWorkers(webhooks, new Sequencer(working, log), config.RECONCILE_HOUR);
  const instance = {
    /** The domain for background work, with access to all platforms. */
    payments,
    /** The database for the APIs, with access to one platform at a time. */
    serving,
    ...{ metricsUrl: running.metrics?.url, replicas, feed, sessions },
  };
  const ofRequests = { ...payments, database: serving };
  if (config.ROLE !== 'work') {
    const served = { ...instance, readiness, payments: ofRequests, webhooks: { ...webhooks, payments: ofRequests } };
    running.serving = await startServing(options, served).catch((error: unknown) => {
      throw listenError(error, config);
    });
  }
  readiness.isServing = true;
  return {
    ...instance,
    /** The base URL of the instance's APIs; undefined if the instance only does background work. */
    url: running.serving?.http.url,
    stop: () => stopInOrder(running),
  };
}

/** Opens the database for requests and, with half as many connections, for background work. */
function openDatabases({ databaseUrl: url, pooler, config, log, pace }: GatewayOptions) {
  const limits = {
    ...(pace?.statementMs !== undefined && { statementMs: pace.statementMs }),
    ...(pace?.lockMs !== undefined && { settings: [`lock_timeout=${pace.lockMs}`] }),
  };
  const poolSize = config.DATABASE_POOL;
  const serving = openDatabase({ url, pooler, role: 'gateway_serving', poolSize, ...limits });
  const working = openDatabase({
    url,
    role: 'gateway_work',
    poolSize: Math.ceil(poolSize / 2),
    // Commits made by requests also wake the workers.
    commits: serving.commits,
    ...limits,
  });
  const replicas = config.ROLE === 'work' ? undefined : openReplicas(serving, config, log, pace?.replicas);
  const close = async () => void (await Promise.all([serving.close(), working.close(), replicas?.close()]));
  return { serving, working, replicas, close };
}
