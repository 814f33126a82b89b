import type { Logger } from 'pino';
import { ApiTokens } from './access/api-tokens.ts';
import { ClientTokens } from './access/client-tokens.ts';
import { Credentials as TokenHolders } from './access/credentials.ts';
import { Sessions } from './access/sessions.ts';
import { type Config, ConfigError } from './config.ts';
import { type Database, openDatabase } from './database/database.ts';
import { Feed } from './events/feed.ts';
import type { Newcomer } from './graphql/server/graphiql.ts';
import { createGraphqlServer } from './graphql/server/server.ts';
import { createSingleConnections } from './graphql/transports/single-connection.ts';
import { serveWebSockets, socketLimits } from './graphql/transports/websocket.ts';
import { bodyBytes } from './http/bodies.ts';
import { acceptsOrigin } from './http/cors.ts';
import { startHttpServer } from './http/server.ts';
import type { Payments } from './payments/command.ts';
import { sandboxRates } from './rails/sandbox/rates.ts';
import { sandboxRail } from './rails/sandbox/sandbox-rail.ts';
import { createRestServer } from './rest/server.ts';
import { stopInOrder } from './stop.ts';
import type { Resolver } from './webhooks/delivery/addresses.ts';
import { openWebhooks } from './webhooks/webhooks.ts';
import { startWorkers } from './work/workers.ts';

export interface Gateway {
  /** Where it listens, or undefined when it only works. */
  readonly url: string | undefined;
  readonly payments: Payments;
  readonly feed: Feed;
  /** The sockets and event streams that are open here. */
  readonly sessions: Sessions;
  /** Stops in the reverse order of starting (`stop.ts`). */
  stop(): Promise<void>;
}

export type GatewaySettings = Pick<
  Config,
  | 'NODE_ENV'
  | 'HOST'
  | 'PORT'
  | 'DATABASE_POOL'
  | 'MAX_IN_FLIGHT'
  | 'MAX_ANSWER_BYTES'
  | 'SHUTDOWN_DELAY_MS'
  | 'ROLE'
  | 'GRAPHIQL'
  | 'INTROSPECTION'
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

/** The domain on a database, without any API or worker. */
export function openPayments(database: Database, config: GatewaySettings, log: Logger): Payments {
  return {
    database,
    rails: { SANDBOX: sandboxRail({ paceMs: config.SANDBOX_PACE_MS, rates: sandboxRates(config.SANDBOX_RATES) }) },
    quoteSeconds: config.SANDBOX_QUOTE_SECONDS,
    approvalMs: config.PAYMENT_APPROVAL_MS,
    log,
  };
}

/** Starts one instance on a migrated database: its workers and its APIs, as its role says. */
export async function startGateway(options: {
  readonly databaseUrl: string;
  readonly config: GatewaySettings;
  readonly log: Logger;
  /** Makes GraphiQL ready to use: for the local sandbox only. */
  readonly newcomer?: Newcomer | undefined;
  /** How often open streams are sent a sign of life, the most that one operation may take, and the like: for tests only. */
  readonly pace?: {
    readonly keepAliveMs?: number;
    readonly operationMs?: number;
    readonly slowMs?: number;
    readonly statementMs?: number;
    readonly silentMs?: number;
  };
  /** How webhooks find addresses; the operating system's way, if left out. */
  readonly webhooks?: { readonly resolve?: Resolver | undefined };
}): Promise<Gateway> {
  const { config, log } = options;
  const database = openDatabase({
    url: options.databaseUrl,
    poolSize: config.DATABASE_POOL,
    ...(options.pace?.statementMs !== undefined && { statementMs: options.pace.statementMs }),
  });
  const payments = openPayments(database, config, log);
  const webhooks = openWebhooks(payments, config, options.webhooks);
  if (!webhooks.box) log.warn('SECRET_KEY is not set: webhooks are off');
  const feed = new Feed(database, log);
  const sessions = new Sessions(database, log);
  await feed.open().catch((error: unknown) => abandon(error, [() => sessions.leave(0), () => database.close()]));
  const workers = config.ROLE === 'serve' ? undefined : startWorkers(payments, webhooks, log);
  if (config.ROLE === 'work') {
    const stop = () => stopInOrder({ sessions, workers, feed, database, log });
    return { url: undefined, payments, feed, sessions, stop };
  }

  const tokens = new ApiTokens(database);
  const clientTokens = new ClientTokens(database, config.CLIENT_TOKEN_KEY);
  const credentials = new TokenHolders(tokens, clientTokens);
  const keepAliveMs = options.pace?.keepAliveMs ?? socketLimits.keepAliveMs;
  const graphql = createGraphqlServer({
    payments,
    feed,
    credentials,
    clientTokens,
    sessions,
    retentionDays: config.EVENT_RETENTION_DAYS,
    operationMs: options.pace?.operationMs ?? operationMs,
    maxAnswerBytes: config.MAX_ANSWER_BYTES,
    webhooks,
    introspection: config.INTROSPECTION,
    reportsCost: config.NODE_ENV !== 'production',
    graphiql: config.GRAPHIQL && { newcomer: options.newcomer },
    log,
  });
  const http = await startHttpServer({
    credentials,
    host: config.HOST,
    port: config.PORT,
    graphql,
    singleConnections: createSingleConnections({ operations: graphql.operations, credentials, sessions, keepAliveMs }),
    origins: config.CORS_ORIGINS,
    rest: createRestServer({ payments, webhooks, tokens, bodyBytes, log }),
    database,
    admission: { most: config.MAX_IN_FLIGHT, slowMs: options.pace?.slowMs ?? slowMs },
  }).catch((error: unknown) =>
    abandon(refusedPort(error, config), [
      () => sessions.leave(0),
      () => feed.close(),
      () => workers?.stop(),
      () => database.close(),
    ]),
  );
  const sockets = serveWebSockets(http.server, {
    operations: graphql.operations,
    credentials,
    sessions,
    acceptsOrigin: (request) => acceptsOrigin(request, config.CORS_ORIGINS),
    keepAliveMs,
  });
  const serving = { http, sockets, delayMs: config.SHUTDOWN_DELAY_MS, silentMs: options.pace?.silentMs ?? silentMs };
  const stop = () => stopInOrder({ serving, sessions, workers, feed, database, log });
  return { url: http.url, payments, feed, sessions, stop };
}

/** The most that one operation may take. */
const operationMs = 10_000;
/** Answers that take longer on average mean that there are too many at once. */
const slowMs = 200;
/** A client that has just got an answer, or connected, sends its next request within so long. */
const silentMs = 50;

/** Stops what had been started before the start failed, so that nothing works on behind a caller who was told so. */
async function abandon(error: unknown, steps: readonly (() => unknown)[]): Promise<never> {
  for (const step of steps) await step();
  throw error;
}

/** What is wrong with HOST or PORT when the operating system does not give them; any other error as it is. */
function refusedPort(error: unknown, { HOST, PORT }: GatewaySettings): unknown {
  switch (error instanceof Error && 'code' in error && error.code) {
    case 'EADDRINUSE':
      return new ConfigError([`PORT ${PORT} of ${HOST} is in use by another process: stop it, or set another PORT`]);
    case 'EACCES':
      return new ConfigError([`PORT ${PORT} may not be opened by this user: set a PORT of 1024 or above`]);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ConfigError([`HOST ${HOST} is no address of this machine`]);
    default:
      return error;
  }
}
