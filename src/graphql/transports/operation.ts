import { type ExecutionArgs, GraphQLError, type GraphQLFormattedError, getOperationAST } from 'graphql';
import { failure } from '../failure.ts';
import type { GraphqlServer, TransportContext } from '../server/server.ts';

/** The most operations at once on a connection that carries several: a socket, or a single-connection event stream. */
export const maxOperations = 20;

/** What an operation over the most gets. */
export function tooManyOperations(): GraphQLError {
  return failure('RATE_LIMITED', `a connection carries at most ${maxOperations} operations at once`);
}

/** What a client sends to start an operation. */
export interface OperationParams {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Record<string, unknown> | null | undefined;
  readonly extensions?: Record<string, unknown> | null | undefined;
}

const chains = new WeakMap<object, ReturnType<GraphqlServer['getEnveloped']>>();

/**
 * Parses, validates and authenticates an operation through Yoga's own chain of plug-ins, for transports that Yoga does
 * not serve itself. Answers what to run, or the errors of an operation that cannot run.
 */
export async function prepareOperation(
  graphql: GraphqlServer,
  transport: TransportContext,
  params: OperationParams,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  // Its type wants a Request, which a socket has not; the plug-ins use no more than this (server.ts, use-budget.ts).
  const chain = graphql.getEnveloped({ params, ...transport } as never);
  try {
    const document = chain.parse(params.query);
    const errors = chain.validate(chain.schema, document);
    if (errors.length > 0) return errors;
    if (!getOperationAST(document, params.operationName)) {
      return [failure('INVALID_INPUT', 'operationName must name one of the operations of the document')];
    }
    const args: ExecutionArgs = {
      schema: chain.schema,
      document,
      operationName: params.operationName ?? undefined,
      variableValues: params.variables ?? undefined,
      contextValue: await chain.contextFactory(),
    };
    chains.set(args, chain);
    return args;
  } catch (error) {
    // An answer, not a fault of the connection: a syntax error, a token that has ended, or a database out of reach.
    if (error instanceof GraphQLError) return [error];
    return [failure('SERVICE_UNAVAILABLE', 'not possible at the moment; try again')];
  }
}

/** Runs a prepared query or mutation. */
export function execute(args: ExecutionArgs) {
  return chains.get(args)?.execute(args);
}

/** Opens a prepared subscription. */
export function subscribe(args: ExecutionArgs) {
  return chains.get(args)?.subscribe(args);
}

/** An error as it travels: HTTP statuses belong to HTTP. */
export function withoutStatus(error: GraphQLError | GraphQLFormattedError): GraphQLFormattedError {
  const { extensions, ...rest } = error instanceof GraphQLError ? error.toJSON() : error;
  if (!extensions) return rest;
  const { http: _http, ...kept } = extensions;
  return { ...rest, extensions: kept };
}
