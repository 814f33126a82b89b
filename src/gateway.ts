import type { Logger } from 'pino';
import { ApiTokens } from './access/api-tokens.ts';
import type { Config } from './config.ts';
import { type Database, openDatabase } from './database/database.ts';
import { Feed } from './events/feed.ts';
import type { Credentials } from './graphql/graphiql.ts';
import { createGraphqlServer } from './graphql/server.ts';
import { serveWebSockets } from './graphql/websocket.ts';
import { bodyBytes, startHttpServer } from './http/server.ts';
import type { Payments } from './payments/command.ts';
import { sandboxRates } from './rails/sandbox/rates.ts';
import { sandboxRail } from './rails/sandbox/sandbox-rail.ts';
import { createRestServer } from './rest/server.ts';
import { startWorkers } from './work/workers.ts';

export interface Gateway {
  /** Where it listens, or undefined when it only works. */
  readonly url: string | undefined;
  readonly payments: Payments;
  readonly feed: Feed;
  /** Stops in the reverse order of starting: no new work, sockets told to come back, work under way finished. */
  stop(): Promise<void>;
}

export type GatewaySettings = Pick<
  Config,
  | 'HOST'
  | 'PORT'
  | 'DATABASE_POOL'
  | 'ROLE'
  | 'GRAPHIQL'
  | 'INTROSPECTION'
  | 'SANDBOX_QUOTE_SECONDS'
  | 'SANDBOX_PACE_MS'
  | 'SANDBOX_RATES'
>;

/** The domain on a database, without any door or worker. */
export function openPayments(database: Database, config: GatewaySettings, log: Logger): Payments {
  return {
    database,
    rails: { SANDBOX: sandboxRail({ paceMs: config.SANDBOX_PACE_MS, rates: sandboxRates(config.SANDBOX_RATES) }) },
    quoteSeconds: config.SANDBOX_QUOTE_SECONDS,
    log,
  };
}

/** Starts one instance on a migrated database: its workers and its doors, as its role says. */
export async function startGateway(options: {
  readonly databaseUrl: string;
  readonly config: GatewaySettings;
  readonly log: Logger;
  /** Makes GraphiQL ready to use: for the local sandbox only. */
  readonly credentials?: Credentials | undefined;
  readonly onPrismaStatement?: (sql: string) => void;
}): Promise<Gateway> {
  const { config, log } = options;
  const database = openDatabase({
    url: options.databaseUrl,
    poolSize: config.DATABASE_POOL,
    ...(options.onPrismaStatement && { onPrismaStatement: options.onPrismaStatement }),
  });
  const payments = openPayments(database, config, log);
  const feed = new Feed(database, log);
  await feed.open();
  const workers = config.ROLE === 'serve' ? undefined : startWorkers(payments, log);
  if (config.ROLE === 'work') {
    return {
      url: undefined,
      payments,
      feed,
      stop: () => stopAll([() => workers?.stop(), () => feed.close(), () => database.close()]),
    };
  }

  const tokens = new ApiTokens(database);
  let ready = true;
  const graphql = createGraphqlServer({
    payments,
    feed,
    tokens,
    introspection: config.INTROSPECTION,
    graphiql: config.GRAPHIQL && { credentials: options.credentials },
    log,
  });
  const { server, url } = await startHttpServer({
    host: config.HOST,
    port: config.PORT,
    graphql,
    rest: createRestServer({ payments, tokens, bodyBytes, log }),
    database,
    ready: () => ready,
  });
  const sockets = serveWebSockets(server, graphql, tokens);
  return {
    url,
    payments,
    feed,
    stop: () => {
      ready = false;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      return stopAll([
        () => sockets.close(),
        () => feed.close(),
        () => server.closeIdleConnections(),
        () => Promise.race([closed, after(stopMs).then(() => server.closeAllConnections())]),
        () => workers?.stop(),
        () => database.close(),
      ]);
    },
  };
}

/** How long requests under way may take when the server stops. */
const stopMs = 10_000;

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

async function stopAll(steps: readonly (() => unknown)[]): Promise<void> {
  for (const step of steps) await step();
}
