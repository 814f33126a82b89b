import type { ServerResponse } from 'node:http';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { execute, GraphQLError, subscribe } from 'graphql';
import { createYoga, type Plugin, type YogaInitialContext } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { ClientTokens } from '../../access/client-tokens.ts';
import type { Credentials } from '../../access/credentials.ts';
import type { Sessions } from '../../access/sessions.ts';
import { dotted } from '../../core/path.ts';
import { refusalIn } from '../../core/refusal.ts';
import { isDatabaseFault, OutcomeUnknown } from '../../database/faults.ts';
import { Overflow } from '../../events/channel.ts';
import type { Feed } from '../../events/feed.ts';
import type { Payments } from '../../payments/command.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { Context } from '../context.ts';
import { badRequest, failure } from '../failure.ts';
import { documentCache, noCache } from '../limits/document-cache.ts';
import { usePlans } from '../reading/use-plans.ts';
import { graphiqlOptions, type Newcomer } from './graphiql.ts';
import { schema } from './schema.ts';
import { useBudget } from './use-budget.ts';
import { useCloseForRetry } from './use-close-for-retry.ts';
import { useCostReport } from './use-cost-report.ts';
import { useEventStreams } from './use-event-streams.ts';
import { useFeedHead } from './use-feed-head.ts';
import { useLostAnswers } from './use-lost-answers.ts';
import { useRequests } from './use-requests.ts';
import { useStreamRules } from './use-stream-rules.ts';
import { useTimeLimit } from './use-time-limit.ts';

export interface GraphqlOptions {
  readonly payments: Payments;
  readonly feed: Feed;
  readonly credentials: Credentials;
  readonly clientTokens: ClientTokens;
  readonly sessions: Sessions;
  /** How far back a cursor may lie, in days. */
  readonly retentionDays: number;
  /** The most that one operation may take. */
  readonly operationMs: number;
  readonly webhooks: Webhooks;
  readonly introspection: boolean;
  /** Whether every answer says what its document costs, or only those of requests that ask. */
  readonly reportsCost: boolean;
  /** Serves GraphiQL to browsers; for a newcomer, ready to use. */
  readonly graphiql: false | { readonly newcomer: Newcomer | undefined };
  readonly log: Logger;
}

/** What the transports hand to Yoga: on a socket there is no request, and the credentials came with its first message. */
export interface TransportContext {
  readonly authorization?: string | undefined;
  /** Ends the connection of a reader that does not keep up or cannot be served; it comes back and resumes. */
  readonly closeForRetry?: () => void;
  /** The answer that Yoga writes itself: over HTTP, and over SSE with a connection for each operation. */
  readonly res?: ServerResponse;
}

export type GraphqlServer = ReturnType<typeof createGraphqlServer>;

/** The GraphQL endpoint: one chain of plug-ins for HTTP, SSE and (through getEnveloped) WebSocket. */
export function createGraphqlServer(options: GraphqlOptions) {
  const { payments, feed, webhooks, credentials, clientTokens, retentionDays, log } = options;
  return createYoga<TransportContext, Context>({
    schema,
    graphqlEndpoint: '/graphql',
    batching: false,
    multipart: false,
    parserAndValidationCache: { documentCache: documentCache(), errorCache: noCache },
    landingPage: false,
    cors: false,
    logging: false,
    maskedErrors: { maskError: (error) => presentError(error, log) },
    ...(options.graphiql && { renderGraphiQL }),
    graphiql: options.graphiql ? graphiqlOptions(options.graphiql.newcomer) : false,
    context: async (initial: YogaInitialContext & TransportContext): Promise<Context> => {
      const authorization = initial.authorization ?? initial.request?.headers.get('authorization');
      const viewer = await credentials.authenticate(authorization).catch((error: unknown) => {
        throw refusalIn(error) ? unavailable() : error;
      });
      if (!viewer) throw unauthenticated();
      const closeForRetry = initial.closeForRetry ?? (() => initial.res?.destroy());
      return { viewer, payments, feed, webhooks, clientTokens, retentionDays, closeForRetry, eventStream: initial.res };
    },
    plugins: [
      useReferenceExecutor(),
      useRequests(),
      useBudget({ introspection: options.introspection }),
      useStreamRules(),
      useSyntaxErrorCode(),
      usePlans(),
      useTimeLimit(options.operationMs),
      useLostAnswers(),
      // After the time limit: waiting for its turn is not part of a stream's opening.
      useCloseForRetry(),
      useFeedHead(),
      useEventStreams(options.sessions),
      useCostReport({ always: options.reportsCost }),
    ],
  });
}

/** Who asks must show who they are: one answer for missing, malformed, unknown and revoked credentials. */
export function unauthenticated(): GraphQLError {
  return failure(
    'UNAUTHENTICATED',
    'credentials are missing, wrong or expired: send Authorization: Basic base64(clientId:secret), or Bearer with a client token',
    { status: 401 },
  );
}

/** Nobody can be recognised while the database is out of reach: nothing was begun. */
export function unavailable(): GraphQLError {
  return badRequest('the database is out of reach or has too much to do; try again', {
    code: 'SERVICE_UNAVAILABLE',
    status: 503,
    headers: { 'retry-after': '1' },
  });
}

/** Errors as clients see them: refusals with their code, GraphQL's own as they are, and bugs without their inside. */
function presentError(error: unknown, log: Logger): Error {
  const original = error instanceof GraphQLError ? error.originalError : error;
  const at =
    error instanceof GraphQLError
      ? { nodes: error.nodes, source: error.source, positions: error.positions, path: error.path }
      : {};
  const refusal = refusalIn(original);
  if (original instanceof OutcomeUnknown && !isDatabaseFault(original.cause)) {
    log.error({ err: original.cause }, 'a resolver failed');
  }
  if (refusal) {
    const { path, ...details } = refusal.details;
    return new GraphQLError(refusal.message, {
      ...at,
      extensions: { code: refusal.code, ...(path && { field: dotted(path) }), ...details },
    });
  }
  // Its connection is being closed (Context.closeForRetry); this is for a reader that still hears it.
  if (original instanceof Overflow) return failure('TOO_SLOW', `${original.message}: resume with after`);
  // The outer one says where: at which variable, at which field.
  if (error instanceof GraphQLError && (!original || original instanceof GraphQLError)) {
    const { message, extensions } = error;
    if (isOfInput(error)) {
      // Without a path nothing has run: over HTTP that is 400 where the client understands it.
      const http = error.path === undefined && { http: { status: 400, spec: true } };
      return new GraphQLError(message, { ...at, extensions: { ...extensions, code: 'INVALID_INPUT', ...http } });
    }
    if (extensions.code !== undefined) return error;
  }
  log.error({ err: original ?? error }, 'a resolver failed');
  return new GraphQLError('Something went wrong here. It has been logged.', {
    ...at,
    extensions: { code: 'INTERNAL_SERVER_ERROR' },
  });
}

/**
 * Whether the executor itself could not coerce what was sent: the value of a variable, before anything has run, or an
 * argument that a variable leaves empty.
 */
function isOfInput({ message, path, extensions }: GraphQLError): boolean {
  if (path === undefined && message.startsWith('Variable "')) return true;
  return extensions.code === undefined && (path === undefined || message.startsWith('Argument "'));
}

/** Yoga's own executor takes every object with a field `then` for a promise, and clients choose names: graphql-js does not. */
function useReferenceExecutor(): Plugin {
  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
    onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe),
  };
}

/** A malformed document gets its code and its status on every transport. */
function useSyntaxErrorCode(): Plugin {
  return {
    onParse({ parseFn, setParseFn }) {
      setParseFn((source: unknown, parseOptions: unknown) => {
        try {
          // Passed on as they came: Envelop types them on one side only.
          return parseFn(source as never, parseOptions as never);
        } catch (error) {
          if (!(error instanceof GraphQLError) || error.extensions.code) throw error;
          throw new GraphQLError(error.message, {
            source: error.source,
            positions: error.positions,
            extensions: { code: 'GRAPHQL_PARSE_FAILED', http: { status: 400, spec: true } },
          });
        }
      });
    },
  };
}
