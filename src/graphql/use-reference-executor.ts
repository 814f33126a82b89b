import { type ExecutionArgs, execute, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/**
 * Queries and mutations are run by graphql-js itself: the executor that Yoga brings does for each field what only
 * incremental delivery and cancelling need, and neither is offered here. Subscriptions stay with Yoga's.
 */
export function useReferenceExecutor(): Plugin {
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn(executeRequest);
    },
  };
}

function executeRequest(args: ExecutionArgs): ReturnType<typeof execute> {
  const result = execute(args);
  // Without data nothing was run: the request itself was wrong, which graphql-js says at once.
  return 'errors' in result && !('data' in result) ? { errors: result.errors?.map(asRequestError) } : result;
}

/** 400 as application/graphql-response+json; `spec` keeps the 200 that GraphQL over HTTP asks of application/json. */
function asRequestError(error: GraphQLError): GraphQLError {
  return new GraphQLError(error.message, {
    nodes: error.nodes,
    source: error.source,
    positions: error.positions,
    path: error.path,
    originalError: error.originalError,
    extensions: { ...error.extensions, http: { spec: true, status: 400 } },
  });
}
