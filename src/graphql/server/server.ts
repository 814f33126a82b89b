import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import type { GraphQLError } from 'graphql';
import { createYoga, type Plugin, type YogaInitialContext } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { ClientTokens } from '../../access/client-tokens.ts';
import type { Credentials } from '../../access/credentials.ts';
import type { Sessions } from '../../access/sessions.ts';
import { refusalIn } from '../../core/refusal.ts';
import type { Feed } from '../../events/feed.ts';
import type { Payments } from '../../payments/command.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { Context } from '../context.ts';
import { badRequest, failure } from '../failure.ts';
import { graphiqlOptions, type Newcomer } from './graphiql.ts';
import { Operations, type Transport } from './operations.ts';
import { presentError } from './present-error.ts';
import { schema } from './schema.ts';
import { useRequests } from './use-requests.ts';

export interface GraphqlOptions {
  readonly payments: Payments;
  readonly feed: Feed;
  readonly credentials: Credentials;
  readonly clientTokens: ClientTokens;
  readonly sessions: Sessions;
  /** How far back a cursor may lie, in days. */
  readonly retentionDays: number;
  /** The most that one read of an operation may bring, in bytes. */
  readonly maxAnswerBytes: number;
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

export interface GraphqlServer {
  /** What every transport runs operations by. */
  readonly operations: Operations;
  /** Yoga, which answers over HTTP: GraphiQL, event streams with a connection of their own, and whatever is unusual or wrong. */
  readonly yoga: ReturnType<typeof createYogaServer>;
}

/** The GraphQL endpoint. */
export function createGraphqlServer(options: GraphqlOptions): GraphqlServer {
  const { introspection, operationMs, reportsCost, sessions, log } = options;
  const operations = new Operations({
    schema,
    introspection,
    operationMs,
    reportsCost,
    sessions,
    contextOf: (transport) => contextOf(options, transport),
    present: (error) => presentError(error, log),
  });
  return { operations, yoga: createYogaServer(operations, options) };
}

/** Says who asks, and what to answer from. */
async function contextOf(options: GraphqlOptions, transport: Transport): Promise<Context> {
  const { payments, feed, webhooks, credentials, clientTokens, retentionDays, maxAnswerBytes } = options;
  const { authorization, response } = transport;
  const viewer = await credentials.authenticate(authorization).catch((error: unknown) => {
    throw refusalIn(error) ? unavailable() : error;
  });
  if (!viewer) throw unauthenticated();
  const closeForRetry = transport.closeForRetry ?? (() => response?.destroy());
  const isAbandoned = transport.isGone ?? (() => response?.closed === true);
  return {
    ...{ viewer, payments, feed, webhooks, clientTokens, retentionDays, maxAnswerBytes },
    ...{ closeForRetry, isAbandoned, eventStream: response },
  };
}

/** What http/server.ts and json-requests.ts hand to Yoga: the answer that it writes. */
interface YogaContext {
  readonly res: NonNullable<Transport['response']>;
}

function createYogaServer(operations: Operations, { graphiql, log }: Pick<GraphqlOptions, 'graphiql' | 'log'>) {
  return createYoga<YogaContext, Context>({
    schema,
    graphqlEndpoint: '/graphql',
    batching: false,
    multipart: false,
    parserAndValidationCache: false,
    landingPage: false,
    cors: false,
    logging: false,
    maskedErrors: { maskError: (error) => presentError(error, log) },
    ...(graphiql && { renderGraphiQL }),
    graphiql: graphiql ? graphiqlOptions(graphiql.newcomer) : false,
    context: ({ request, res, params }: YogaInitialContext & YogaContext) =>
      operations.context({ authorization: request.headers.get('authorization') ?? undefined, response: res }, params),
    plugins: [useRequests(), useOperations(operations)],
  });
}

/** Lets Yoga run operations as all other transports do. */
export function useOperations(operations: Operations): Plugin {
  return {
    onParse({ setParseFn }) {
      setParseFn((source) => operations.documents.parse(source.toString()));
    },
    onValidate({ context, setValidationFn }) {
      const { operationName, variables } = context.params;
      setValidationFn((_schema, document) => operations.documents.check({ document, operationName, variables }));
    },
    onExecute({ setExecuteFn }) {
      setExecuteFn((args) => operations.execute(args));
    },
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn((args) => operations.subscribe(args));
    },
  };
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
