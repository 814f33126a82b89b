import type { ServerResponse } from 'node:http';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { createYoga, isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import { outsideWait } from '../../../core/outside-wait.ts';
import { databaseAway, refusalIn } from '../../../core/refusal.ts';
import { type RateLimits, type RefusalPace, rateLimitFields } from '../../../domain/access/limits/rate-limits.ts';
import type { Credentials } from '../../../domain/access/tokens/credentials.ts';
import type { Context, Transport } from '../context.ts';
import type { TrustedDocuments } from '../documents/trusted-documents.ts';
import { badRequest, failure, tooManyRequests } from '../failure.ts';
import { TextAnswer } from '../reading/run.ts';
import { answerOf, jsonTypes } from './http-answer.ts';
import { Operations, type OperationsOptions } from './operations.ts';
import { presentError } from './present-error.ts';
import { readOperation } from './read-operation.ts';
import { schema } from './schema.ts';
import { SentDocuments } from './sent-documents.ts';

/** The settings for executing operations, identifying callers and building contexts. */
export interface GraphqlOptions
  extends Omit<OperationsOptions, 'schema' | 'sent' | 'countMore' | 'contextOf' | 'present'>,
    Pick<Context, 'payments' | 'feed' | 'webhooks' | 'clientTokens' | 'retentionDays' | 'maxAnswerBytes'> {
  readonly credentials: Credentials;
  readonly trusted: TrustedDocuments;
  readonly limits: RateLimits;
  readonly pace: RefusalPace;
  /** Whether graphql-js executes operations using only Prisma (graphql/reading/stock.ts). */
  readonly isStock: boolean;
  readonly log: Logger;
}

export type GraphqlServer = ReturnType<typeof createGraphqlServer>;

/** Creates the GraphQL server, which serves HTTP requests, WebSockets, event streams and tool calls. */
export function createGraphqlServer(options: GraphqlOptions) {
  const { trusted, log } = options;
  const operations = new Operations({
    ...options,
    schema,
    sent: new SentDocuments(trusted),
    countMore: (context, requests) => countMore(options, context, requests),
    contextOf: (transport) => contextOf(options, transport),
    present: (error) => presentError(error, log),
  });
  // Yoga serves GET, HEAD and QUERY requests, and event streams for operations other than subscriptions.
  return { operations, yoga: createYogaServer(operations, options) };
}

async function contextOf(options: GraphqlOptions, transport: Transport): Promise<Context> {
  const { payments, feed, webhooks, credentials, clientTokens, retentionDays, maxAnswerBytes, isStock } = options;
  const { authorization, session, response, resumeAfter, farewell } = transport;
  const viewer = await credentials.authenticate(authorization).catch((error: unknown) => {
    throw refusalIn(error) ? unavailable() : error;
  });
  if (!viewer) throw unauthenticated();
  const closeForRetry = transport.closeForRetry ?? (() => response?.destroy());
  const isAbandoned = transport.isGone ?? (() => response?.closed === true);
  return {
    ...{ viewer, payments, feed, webhooks, clientTokens, retentionDays, maxAnswerBytes, isStock },
    ...{ closeForRetry, isAbandoned, session, response, resumeAfter, farewell },
  };
}

/** Charges additional requests to a caller, and updates the rate limit header fields. A refusal is delayed. */
async function countMore(
  { limits, pace }: GraphqlOptions,
  { viewer, response }: Context,
  requests: number,
): Promise<GraphQLError | undefined> {
  const { refusal, quotas } = limits.countMore(viewer, requests);
  const fields = rateLimitFields(quotas);
  if (fields && response?.headersSent === false) response.setHeader('ratelimit', fields.state);
  if (!refusal) return undefined;
  await outsideWait(pace.wait(viewer.platformId));
  return tooManyRequests(refusal);
}

/** Runs the operation of a request whose body has been read, and sends a single response. */
export async function answerRequest(
  operations: Operations,
  response: ServerResponse,
  body: Uint8Array,
): Promise<ExecutionResult | TextAnswer> {
  const { authorization } = response.req.headers;
  const prepared = await operations.prepare({ authorization, response }, () => readOperation(response.req, body));
  if (!('document' in prepared)) return { errors: prepared };
  if (prepared.operation.operation !== 'subscription') return operations.answer(prepared);
  const message = 'a subscription needs an event stream (Accept: text/event-stream) or a WebSocket';
  return { errors: [badRequest(message, { code: 'NOT_ACCEPTABLE', status: 406 })] };
}

/** The response that Yoga writes, and the body of the request that it answers. */
interface YogaContext {
  readonly res: ServerResponse;
  readonly body: Uint8Array;
}

/**
 * Creates a Yoga server that handles a request as json-requests.ts does: numbers keep their digits, documents may be
 * sent by hash, and refusals have the same reason and status.
 */
function createYogaServer(operations: Operations, { log }: Pick<GraphqlOptions, 'log'>) {
  const plugin: Plugin<object, YogaContext> = {
    onRequestParse({ setRequestParser }) {
      // `answerRequest` reads the operation from the original request.
      setRequestParser(() => ({ query: '' }));
    },
    onParams({ setParamsHandler }) {
      setParamsHandler(async ({ context: { res, body } }) => {
        const answer = await answerRequest(operations, res, body);
        return answer instanceof TextAnswer ? answer.result : answer;
      });
    },
    onResultProcess({ request, result, setResultProcessor }) {
      const type = jsonTypes.find((one) => one === request.headers.get('accept'));
      if (!type || Array.isArray(result) || isAsyncIterable(result)) return;
      const { body, ...rest } = answerOf(result, type);
      setResultProcessor((_result, { Response }) => new Response(body, rest), type);
    },
  };
  return createYoga<YogaContext>({
    schema,
    graphqlEndpoint: '/graphql',
    batching: false,
    multipart: false,
    parserAndValidationCache: false,
    landingPage: false,
    cors: false,
    logging: false,
    maskedErrors: { maskError: (error) => presentError(error, log) },
    graphiql: false,
    plugins: [plugin],
  });
}

/** Creates the error for missing, malformed, unknown or revoked credentials. */
export function unauthenticated(): GraphQLError {
  return failure(
    'UNAUTHENTICATED',
    'credentials are missing, wrong or expired: send Authorization: Basic base64(clientId:secret), or Bearer with a client token',
    { status: 401 },
  );
}

/** Creates the error for a request whose caller is unknown because the database is unreachable. Nothing has run. */
export function unavailable(): GraphQLError {
  return badRequest(databaseAway, { code: 'SERVICE_UNAVAILABLE', status: 503, headers: { 'retry-after': '1' } });
}
