import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { TrustedDocuments } from '../api/graphql/documents/trusted-documents.ts';
import { schema } from '../api/graphql/server/schema.ts';
import { createGraphqlServer } from '../api/graphql/server/server.ts';
import { createDistinctConnections } from '../api/graphql/transports/distinct-connections.ts';
import { createMcpEndpoint } from '../api/graphql/transports/mcp.ts';
import { serveWebSockets } from '../api/graphql/transports/websocket.ts';
import { bodyBytes } from '../api/http/bodies.ts';
import type { CallerOptions } from '../api/http/callers.ts';
import { addressFinder, directAddressFinder } from '../api/http/client-address.ts';
import type { ConnectionLimits } from '../api/http/connections.ts';
import { namesThisMachine, Origins } from '../api/http/cors.ts';
import { ProviderWebhooks } from '../api/http/provider-webhooks.ts';
import { startHttpServer } from '../api/http/server.ts';
import { Turns } from '../api/http/turns.ts';
import { openPages } from '../api/pages/pages.ts';
import { restVersion } from '../api/rest/context.ts';
import { createRestServer } from '../api/rest/server.ts';
import type { Webhooks } from '../api/webhooks/webhooks.ts';
import { type Clock, CredentialBrake, RateLimits, RefusalPace, TokenCap } from '../domain/access/limits/rate-limits.ts';
import { ClientTokens, Credentials } from '../domain/access/tokens/credentials.ts';
import type { Payments } from '../domain/commands/command.ts';
import { ResumePoints } from '../domain/events/resume-points.ts';
import type { Database } from '../infra/database/database.ts';
import type { ReadinessLimits } from '../infra/health/readiness.ts';
import type { GatewaySettings } from './config.ts';
import type { Observed } from './observe/metrics.ts';
import type { LocalSandbox } from './start/sandbox-platform.ts';
import type { Serving } from './stop.ts';

export interface ServingOptions {
  readonly config: GatewaySettings;
  readonly log: Logger;
  /** The platform with publicly known credentials, which exists only in the local sandbox. */
  readonly sandbox?: LocalSandbox | undefined;
  /** Intervals and limits, in milliseconds, that override the usual ones. For tests only. */
  readonly pace?: {
    readonly keepAliveMs?: number;
    readonly operationMs?: number;
    readonly slowMs?: number;
    readonly credentialsMs?: number;
    readonly statementMs?: number;
    readonly lockMs?: number;
    readonly idleMs?: number;
    /** Whether Yoga handles every GraphQL request, even those that could bypass it. */
    readonly throughYoga?: boolean;
    /** How long a client may take to send the headers of a request. */
    readonly headersMs?: number;
    readonly connections?: number;
    /** The delay before a provider's webhook is refused. */
    readonly webhookRefusalMs?: number;
    readonly readiness?: Partial<ReadinessLimits>;
    readonly replicas?: { readonly waitMs?: number; readonly everyMs?: number };
    readonly now?: Clock;
  };
}

export interface Served extends Omit<Observed, 'serving' | 'working'> {
  readonly payments: Payments;
  readonly webhooks: Webhooks;
  readonly metricsUrl: string | undefined;
}

/** Starts the APIs on one port: GraphQL over HTTP and WebSockets, and REST. */
export async function startServing(
  { config, log, sandbox, pace }: ServingOptions,
  { payments, webhooks, feed, sessions, readiness, replicas, metricsUrl }: Served,
): Promise<Serving> {
  const { database } = payments;
  const clientTokens = new ClientTokens(database, config.CLIENT_TOKEN_KEY, config.CLIENT_TOKEN_KEY_FALLBACKS);
  const trusted = new TrustedDocuments(database);
  const callers = callersOf(database, clientTokens, { config, log, pace });
  const { credentials } = callers;
  const socketCap = new TokenCap('sockets', {
    apiToken: config.SOCKETS_PER_API_TOKEN,
    clientToken: config.SOCKETS_PER_CLIENT_TOKEN,
  });
  const streams = new TokenCap('subscriptions', {
    apiToken: config.STREAMS_PER_API_TOKEN,
    clientToken: config.STREAMS_PER_CLIENT_TOKEN,
  });
  const keepAliveMs = pace?.keepAliveMs ?? config.KEEP_ALIVE_MS;
  const turns = new Turns(Math.max(1, config.DATABASE_POOL - connectionsForOthers), config.MAX_IN_FLIGHT, callers.now);
  const takeTurn = (platformId: string) => turns.takeTurn(platformId);
  if (config.STOCK_READS)
    log.warn('STOCK_READS is on: graphql-js and Prisma answer GraphQL queries, with one statement per parent');
  const graphql = createGraphqlServer({
    ...{ expensive: turns, limits: callers.limits, pace: callers.pace },
    ...{ payments, webhooks, feed, sessions, replicas, credentials, clientTokens, trusted, log, takeTurn },
    streams,
    retentionDays: config.EVENT_RETENTION_DAYS,
    operationMs: pace?.operationMs ?? operationMs,
    maxAnswerBytes: config.MAX_ANSWER_BYTES,
    introspection: config.PUBLIC_CONTRACT,
    isStock: config.STOCK_READS,
    reportsCost: config.NODE_ENV !== 'production',
  });
  const { operations } = graphql;
  const problemIn = (text: string) => operations.documents.problemIn(text);
  const origins = new Origins({ origins: config.CORS_ORIGINS, loopback: sandbox !== undefined, log });
  const http = await startHttpServer({
    callers,
    host: config.HOST,
    port: config.PORT,
    graphql,
    distinctConnections: createDistinctConnections({ operations, keepAliveMs, compresses: config.COMPRESS_STREAMS }),
    mcp: createMcpEndpoint({ operations, trusted, credentials, payments, log, schema, version: restVersion }),
    origins,
    rest: createRestServer({
      ...{ webhooks, credentials, trusted, replicas, problemIn },
      ...{ bodyBytes, openapi: config.PUBLIC_CONTRACT },
    }),
    providers: new ProviderWebhooks({
      ...{ ...callers, payments, refusalMs: pace?.webhookRefusalMs },
      // Provider webhooks are slowed down separately, because one with an invalid signature belongs to no platform.
      brake: new CredentialBrake(config.WRONG_CREDENTIALS_PER_MINUTE, log, callers.now),
    }),
    pages: await openPages({
      sandbox: sandbox && { ...sandbox, payer: () => sandbox.payer(payments) },
      lab: config.GRAPHIQL,
      documents: config.PUBLIC_CONTRACT,
      // The metrics address is shown only on a developer's machine. Elsewhere, those who need it already know it.
      metricsUrl: sandbox && metricsUrl,
      securityContact: config.SECURITY_CONTACT,
    }),
    readiness,
    requestLog: config.ACCESS_LOG ? log : undefined,
    isSandbox: sandbox !== undefined,
    admission: { maxInFlight: config.MAX_IN_FLIGHT, slowMs: pace?.slowMs ?? slowMs, turns },
    connections: connectionLimits({ config, log, pace }, callers.now),
    throughYoga: pace?.throughYoga,
    headersMs: pace?.headersMs,
    requestMs: pace?.operationMs ?? operationMs,
  });
  const sockets = serveWebSockets(http.server, {
    ...callers,
    noteKnown: (socket) => http.connections.noteKnown(socket),
    ...{ operations, sessions, takeTurn, keepAliveMs, log, streams, sockets: socketCap },
    resumePoints: new ResumePoints(database, log),
    compresses: config.COMPRESS_STREAMS,
    acceptsOrigin: (request) => origins.accepts(request) && (sandbox === undefined || namesThisMachine(request)),
  });
  return { http, sockets, pace: callers.pace, delayMs: config.SHUTDOWN_DELAY_MS, idleMs: pace?.idleMs ?? idleMs };
}

function callersOf(
  database: Database,
  clientTokens: ClientTokens,
  { config, log, pace }: ServingOptions,
): CallerOptions {
  const now = pace?.now ?? (() => performance.now());
  const brake = new CredentialBrake(config.WRONG_CREDENTIALS_PER_MINUTE, log, now);
  const rates = {
    platform: config.RATE_LIMIT_PLATFORM,
    apiToken: config.RATE_LIMIT_API_TOKEN,
    clientToken: config.RATE_LIMIT_CLIENT_TOKEN,
  };
  return {
    credentials: new Credentials(database, clientTokens, brake, pace?.credentialsMs),
    limits: new RateLimits(rates, now),
    pace: new RefusalPace(now),
    addressOf: addressFinder(config.TRUSTED_PROXIES),
    now,
  };
}

/** Returns the connection limits. The total leaves room for the connections that the process itself needs. */
function connectionLimits({ config, log, pace }: ServingOptions, now: Clock): ConnectionLimits {
  let refused = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return {
    most: pace?.connections ?? Math.floor(maxOpenFiles() * 0.9),
    addressOf: directAddressFinder(config.TRUSTED_PROXIES),
    onRefusal(address) {
      refused += 1;
      if (now() - loggedAt < 60_000) return;
      log.warn({ address, refused }, 'too many connections: closing new ones, such as one from this address');
      refused = 0;
      loggedAt = now();
    },
  };
}

/** Returns how many files and connections this process may open. Node has raised this limit to the system's maximum. */
function maxOpenFiles(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 10_000);
  } catch {
    // The system does not report its limit.
    return 10_000;
  }
}

/** The time limit, in milliseconds, for a request (or, on a socket, an operation), including all waits. */
const operationMs = 10_000;
/** The average request time, in milliseconds, above which the instance counts as overloaded. */
const slowMs = 200;
/** How many database connections a platform's requests leave free for other active platforms, if there are any. */
const connectionsForOthers = 2;
/** How long a connection may be idle while the instance stops, in ms. Active clients send their next request sooner. */
const idleMs = 50;
