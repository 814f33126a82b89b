import { GraphQLError, getOperationAST } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import { Refusal } from '../../core/refusal.ts';
import { OutcomeUnknown } from '../../database/faults.ts';

/**
 * An error below a mutation's own field comes when the mutation has taken effect: what failed is a part of its answer. Such an
 * error gets OUTCOME_UNKNOWN, since SERVICE_UNAVAILABLE would say that nothing has happened, and that the same request may
 * simply come again.
 */
export function useLostAnswers(): Plugin {
  return {
    onExecute({ args }) {
      if (getOperationAST(args.document, args.operationName)?.operation !== 'mutation') return undefined;
      return {
        onExecuteDone({ result, setResult }) {
          if (isAsyncIterable(result) || !result.errors) return;
          setResult({ ...result, errors: result.errors.map(lostAnswer) });
        },
      };
    },
  };
}

function lostAnswer(error: GraphQLError): GraphQLError {
  const { message, nodes, source, positions, path, originalError } = error;
  const isBelow = path !== undefined && path.length > 1;
  if (!isBelow || !originalError || originalError instanceof GraphQLError || originalError instanceof Refusal) {
    return error;
  }
  return new GraphQLError(message, {
    nodes,
    source,
    positions,
    path,
    originalError: new OutcomeUnknown(originalError),
  });
}
