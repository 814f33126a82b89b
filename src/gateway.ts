import type { Logger } from 'pino';
import { ApiTokens } from './access/api-tokens.ts';
import { ClientTokens } from './access/client-tokens.ts';
import { CredentialBrake } from './access/credential-brake.ts';
import { Credentials } from './access/credentials.ts';
import { RateLimits } from './access/rate-limits.ts';
import type { Rates } from './access/rates.ts';
import { RefusalPace } from './access/refusal-pace.ts';
import { Sessions } from './access/sessions.ts';
import type { Clock } from './access/token-bucket.ts';
import { TokenCap } from './access/token-caps.ts';
import type { Config } from './config.ts';
import { type Database, openDatabase } from './database/database.ts';
import { refuseOwners } from './database/owners.ts';
import { Feed } from './events/feed.ts';
import type { Newcomer } from './graphql/server/graphiql.ts';
import { createGraphqlServer } from './graphql/server/server.ts';
import { createSingleConnections } from './graphql/transports/single-connection.ts';
import { serveWebSockets, socketLimits } from './graphql/transports/websocket.ts';
import { bodyBytes } from './http/bodies.ts';
import type { CallerOptions } from './http/callers.ts';
import { addressFinder } from './http/client-address.ts';
import { acceptsOrigin } from './http/cors.ts';
import { namesThisMachine } from './http/protection.ts';
import { startHttpServer } from './http/server.ts';
import type { Resolver } from './outside/addresses.ts';
import { findDomainProof } from './outside/domain-proof.ts';
import type { Payments } from './payments/command.ts';
import type { FindDomainProof } from './payments/uma-domains.ts';
import { listenError } from './print-error.ts';
import { sandboxRates } from './rails/sandbox/rates.ts';
import { sandboxRail } from './rails/sandbox/sandbox-rail.ts';
import { createRestServer } from './rest/server.ts';
import { type Serving, stopInOrder } from './stop.ts';
import { openWebhooks, type Webhooks } from './webhooks/webhooks.ts';
import { startWorkers } from './work/workers.ts';

/** A running instance. */
export interface Gateway {
  /** The base URL of its APIs; undefined when it only works in the background. */
  readonly url: string | undefined;
  /** The domain as the background work has it: for all platforms. */
  readonly payments: Payments;
  /** The database as the APIs have it: for one platform at a time. */
  readonly serving: Database;
  readonly feed: Feed;
  /** The open WebSockets and event streams. */
  readonly sessions: Sessions;
  /** Stops the instance in an orderly way (`stop.ts`). */
  stop(): Promise<void>;
}

export type GatewaySettings = Pick<
  Config,
  | 'NODE_ENV'
  | 'HOST'
  | 'PORT'
  | 'DATABASE_POOL'
  | 'OWNER_MAY_SERVE'
  | 'MAX_IN_FLIGHT'
  | 'MAX_ANSWER_BYTES'
  | 'RATE_LIMIT_PLATFORM'
  | 'RATE_LIMIT_API_TOKEN'
  | 'RATE_LIMIT_CLIENT_TOKEN'
  | 'WRONG_CREDENTIALS_PER_MINUTE'
  | 'TRUSTED_PROXIES'
  | 'SOCKETS_PER_API_TOKEN'
  | 'SOCKETS_PER_CLIENT_TOKEN'
  | 'STREAMS_PER_API_TOKEN'
  | 'STREAMS_PER_CLIENT_TOKEN'
  | 'RESERVATIONS_PER_API_TOKEN'
  | 'RESERVATIONS_PER_CLIENT_TOKEN'
  | 'SHUTDOWN_DELAY_MS'
  | 'ROLE'
  | 'GRAPHIQL'
  | 'INTROSPECTION'
  | 'OPENAPI'
  | 'PAYMENT_APPROVAL_MS'
  | 'CORS_ORIGINS'
  | 'CLIENT_TOKEN_KEY'
  | 'EVENT_RETENTION_DAYS'
  | 'SANDBOX_QUOTE_SECONDS'
  | 'SANDBOX_PACE_MS'
  | 'SANDBOX_RATES'
  | 'SECRET_KEY'
  | 'WEBHOOK_LOOPBACK'
  | 'WEBHOOK_TIME_SCALE'
>;

/** Opens the domain on a database, without any API or worker. */
export function openPayments(database: Database, config: GatewaySettings, log: Logger): Payments {
  return {
    database,
    rails: { SANDBOX: sandboxRail({ paceMs: config.SANDBOX_PACE_MS, rates: sandboxRates(config.SANDBOX_RATES) }) },
    quoteSeconds: config.SANDBOX_QUOTE_SECONDS,
    approvalMs: config.PAYMENT_APPROVAL_MS,
    findDomainProof,
    log,
  };
}

interface GatewayOptions {
  readonly databaseUrl: string;
  readonly config: GatewaySettings;
  readonly log: Logger;
  /** The example that GraphiQL begins with: for the local sandbox only. */
  readonly newcomer?: Newcomer | undefined;
  /** Other intervals and limits than the usual ones, in milliseconds: for tests only. */
  readonly pace?: {
    readonly keepAliveMs?: number;
    readonly operationMs?: number;
    readonly slowMs?: number;
    readonly statementMs?: number;
    readonly idleMs?: number;
    /** The clock of the limits of rate. */
    readonly now?: Clock;
  };
  /** How the proof of a UMA domain is looked up; in its DNS and at its host, if left out. */
  readonly findDomainProof?: FindDomainProof | undefined;
  /** How webhooks resolve host names; with DNS queries, if left out. */
  readonly webhooks?: { readonly resolve?: Resolver | undefined };
}

/**
 * Starts one instance on a migrated database: its workers and its APIs, as its role says.
 * @throws ConfigError when HOST or PORT cannot be used
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, log } = options;
  const { serving, working, close } = openDatabases(options);
  const payments = {
    ...openPayments(working, config, log),
    ...(options.findDomainProof && { findDomainProof: options.findDomainProof }),
  };
  const webhooks = openWebhooks(payments, config, options.webhooks);
  if (!webhooks.box) log.warn('SECRET_KEY is not set: webhooks are off');
  const feed = new Feed(serving, log);
  const sessions = new Sessions(serving, log);
  const closing = [() => sessions.leave(0), close];
  if (!config.OWNER_MAY_SERVE) {
    await refuseOwners(config.ROLE === 'work' ? working : serving).catch((error: unknown) => abandon(error, closing));
  }
  await feed.open().catch((error: unknown) => abandon(error, closing));
  const workers = config.ROLE === 'serve' ? undefined : startWorkers(payments, webhooks, log);
  const parts = { sessions, workers, feed, database: { close }, log };
  const instance = { payments, serving, feed, sessions };
  if (config.ROLE === 'work') return { ...instance, url: undefined, stop: () => stopInOrder(parts) };
  const ofRequests = { ...payments, database: serving };
  const apis = await startServing(options, {
    payments: ofRequests,
    webhooks: { ...webhooks, payments: ofRequests },
    feed,
    sessions,
  }).catch((error: unknown) =>
    abandon(listenError(error, config), [() => sessions.leave(0), () => feed.close(), () => workers?.stop(), close]),
  );
  return { ...instance, url: apis.http.url, stop: () => stopInOrder({ ...parts, serving: apis }) };
}

/**
 * Opens the database twice: as the role that serves requests, and as the role of background work, which has half as many
 * connections. What one commits wakes the work of the other.
 */
function openDatabases({ databaseUrl: url, config, pace }: GatewayOptions) {
  const statementMs = pace?.statementMs !== undefined ? { statementMs: pace.statementMs } : {};
  const poolSize = config.DATABASE_POOL;
  const serving = openDatabase({ url, role: 'gateway_serving', poolSize, ...statementMs });
  const working = openDatabase({
    url,
    role: 'gateway_work',
    poolSize: Math.ceil(poolSize / 2),
    commits: serving.commits,
    ...statementMs,
  });
  return { serving, working, close: async () => void (await Promise.all([serving.close(), working.close()])) };
}

/** Starts the APIs on one port: GraphQL over HTTP and WebSockets, and REST. */
async function startServing(
  { config, log, newcomer, pace }: GatewayOptions,
  { payments, webhooks, feed, sessions }: Pick<Gateway, 'payments' | 'feed' | 'sessions'> & { webhooks: Webhooks },
): Promise<Serving> {
  const { database } = payments;
  const tokens = new ApiTokens(database);
  const clientTokens = new ClientTokens(database, config.CLIENT_TOKEN_KEY);
  const callers = callersOf(tokens, clientTokens, { config, log, pace });
  const { credentials } = callers;
  const caps = capsOf(config);
  const keepAliveMs = pace?.keepAliveMs ?? socketLimits.keepAliveMs;
  const graphql = createGraphqlServer({
    payments,
    feed,
    credentials,
    clientTokens,
    sessions,
    streams: caps.streams,
    retentionDays: config.EVENT_RETENTION_DAYS,
    operationMs: pace?.operationMs ?? operationMs,
    maxAnswerBytes: config.MAX_ANSWER_BYTES,
    webhooks,
    introspection: config.INTROSPECTION,
    reportsCost: config.NODE_ENV !== 'production',
    graphiql: config.GRAPHIQL && { newcomer },
    log,
  });
  const { operations } = graphql;
  const http = await startHttpServer({
    callers,
    host: config.HOST,
    port: config.PORT,
    graphql,
    singleConnections: createSingleConnections({
      ...{ operations, credentials, sessions, keepAliveMs },
      reservations: caps.reservations,
    }),
    origins: config.CORS_ORIGINS,
    rest: createRestServer({ payments, webhooks, tokens, bodyBytes, log, openapi: config.OPENAPI }),
    database,
    isSandbox: newcomer !== undefined,
    admission: {
      maxInFlight: config.MAX_IN_FLIGHT,
      slowMs: pace?.slowMs ?? slowMs,
      maxAtWork: Math.max(1, config.DATABASE_POOL - connectionsForOthers),
    },
  });
  const sockets = serveWebSockets(http.server, {
    ...callers,
    operations,
    sessions,
    sockets: caps.sockets,
    acceptsOrigin: (request) =>
      acceptsOrigin(request, config.CORS_ORIGINS) && (newcomer === undefined || namesThisMachine(request)),
    keepAliveMs,
  });
  return { http, sockets, delayMs: config.SHUTDOWN_DELAY_MS, idleMs: pace?.idleMs ?? idleMs };
}

/** Returns what callers are identified and limited by. */
function callersOf(
  tokens: ApiTokens,
  clientTokens: ClientTokens,
  { config, log, pace }: Pick<GatewayOptions, 'config' | 'log' | 'pace'>,
): CallerOptions {
  const now = pace?.now ?? (() => performance.now());
  return {
    credentials: new Credentials(
      tokens,
      clientTokens,
      new CredentialBrake(config.WRONG_CREDENTIALS_PER_MINUTE, log, now),
    ),
    limits: new RateLimits(ratesOf(config), now),
    pace: new RefusalPace(now),
    addressOf: addressFinder(config.TRUSTED_PROXIES),
    now,
  };
}

function ratesOf(config: GatewaySettings): Rates {
  return {
    platform: config.RATE_LIMIT_PLATFORM,
    apiToken: config.RATE_LIMIT_API_TOKEN,
    clientToken: config.RATE_LIMIT_CLIENT_TOKEN,
  };
}

function capsOf(config: GatewaySettings) {
  return {
    sockets: new TokenCap('sockets', {
      apiToken: config.SOCKETS_PER_API_TOKEN,
      clientToken: config.SOCKETS_PER_CLIENT_TOKEN,
    }),
    streams: new TokenCap('subscriptions', {
      apiToken: config.STREAMS_PER_API_TOKEN,
      clientToken: config.STREAMS_PER_CLIENT_TOKEN,
    }),
    reservations: new TokenCap('single-connection event streams', {
      apiToken: config.RESERVATIONS_PER_API_TOKEN,
      clientToken: config.RESERVATIONS_PER_CLIENT_TOKEN,
    }),
  };
}

/** The most milliseconds that one operation may take. */
const operationMs = 10_000;
/** The average time of a request, in milliseconds, above which the instance counts as overloaded. */
const slowMs = 200;
/** How many connections to the database the requests of one platform leave free for others, where there are others. */
const connectionsForOthers = 2;
/** How many milliseconds a connection may stay idle when the instance stops: an active client sends its next request sooner. */
const idleMs = 50;

/** Stops the parts that were started before a start failed, and then throws its error. */
async function abandon(error: unknown, steps: readonly (() => unknown)[]): Promise<never> {
  for (const step of steps) await step();
  throw error;
}
