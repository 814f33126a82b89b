import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { type ExecutionArgs, type ExecutionResult, type GraphQLError, getOperationAST } from 'graphql';
import { createHandler } from 'graphql-sse/lib/use/fetch';
import type { Plugin } from 'graphql-yoga';
import type { ApiTokens } from '../access/api-tokens.ts';
import { failure, withoutStatus } from './failure.ts';

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * GraphQL over SSE at `path`, in the single-connection mode too: PUT reserves a stream, GET opens it, POST runs an
 * operation on it, DELETE ends one. Every request shows its own credentials, and every operation goes through Yoga's
 * chain, so plug-ins, limits and errors are those of /graphql. (The stock plug-in reserves streams for strangers, and
 * answers whatever the chain throws with a stack trace.)
 */
export function useEventStream(options: {
  readonly path: string;
  readonly tokens: ApiTokens;
  readonly unauthenticated: () => GraphQLError;
  /** What clients see of an error. */
  readonly present: (error: unknown) => GraphQLError;
}): Plugin {
  const { path, tokens, present } = options;
  let handle: ((request: Request) => Promise<Response>) | undefined;
  return {
    onYogaInit({ yoga }) {
      handle = createHandler({
        authenticate: async (request) => {
          if (!(await tokens.authenticate(request.headers.get('authorization')))) {
            return respond(401, options.unauthenticated());
          }
          // A stock client that comes back still names its last stream, which may not have ended yet.
          if (request.method === 'PUT') return randomUUID();
          const token =
            request.headers.get('x-graphql-event-stream-token') ?? new URL(request.url).searchParams.get('token') ?? '';
          return uuidForm.test(token) ? token : randomUUID();
        },
        onSubscribe: async (request, params) => {
          try {
            const chain = yoga.getEnveloped({ request: request.raw, params });
            const document = chain.parse(params.query);
            const operation = getOperationAST(document, params.operationName);
            const errors = chain.validate(chain.schema, document);
            if (errors.length > 0) return once({ errors });
            if (!operation) return once({ errors: [failure('INVALID_INPUT', 'no such operation in the document')] });
            const args: ExecutionArgs = {
              schema: chain.schema,
              document,
              contextValue: await chain.contextFactory(),
              variableValues: params.variables,
              operationName: params.operationName,
            };
            const result = await (operation.operation === 'subscription' ? chain.subscribe(args) : chain.execute(args));
            return Symbol.asyncIterator in result ? result : once(result);
          } catch (error) {
            const seen = present(error);
            // Yoga's parser refuses a mutation by GET.
            return isMethodError(seen) ? respond(405, seen) : once({ errors: [seen] });
          }
        },
        onNext: (_context, _request, result) =>
          result.errors
            ? // The protocol's own form of a result: errors as they are sent.
              { ...result, errors: result.errors.map(withoutStatus) as unknown as readonly GraphQLError[] }
            : undefined,
      });
    },
    async onRequest({ request, url, endResponse, fetchAPI }) {
      if (url.pathname !== path || !handle) return;
      try {
        endResponse(await handle(request));
      } catch (error) {
        const [body, init] = respond(500, present(error));
        endResponse(new fetchAPI.Response(body, init));
      }
    },
  };
}

/** A result as a stream of its own: the protocol's library takes one without data for something else. */
async function* once(result: ExecutionResult): AsyncGenerator<ExecutionResult> {
  yield result;
}

function isMethodError({ extensions: { http } }: GraphQLError): boolean {
  return typeof http === 'object' && http !== null && 'status' in http && http.status === 405;
}

function respond(status: number, error: GraphQLError) {
  const headers = { 'content-type': 'application/json; charset=utf-8', ...(status === 405 && { allow: 'POST' }) };
  return [
    JSON.stringify({ errors: [withoutStatus(error)] }),
    { status, statusText: STATUS_CODES[status] ?? '', headers },
  ] as [string, { status: number; statusText: string; headers: Record<string, string> }];
}
