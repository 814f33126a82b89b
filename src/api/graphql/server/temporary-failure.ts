import { type ExecutionResult, GraphQLError } from 'graphql';
import { Refusal } from '../../../core/refusal.ts';

/**
 * Returns whether a stream could not be opened through no fault of its request: the database is unreachable, or too slow. Stock
 * clients take an error as final, but reconnect and resume when the connection is cut, or closed with 1013.
 */
export function isTemporaryFailure({ errors = [] }: ExecutionResult): boolean {
  return errors.some((error) => {
    if (!(error instanceof GraphQLError)) return true;
    const { originalError } = error;
    if (originalError === undefined || originalError === null) return error.extensions.code === 'TIMEOUT';
    return !(originalError instanceof GraphQLError) && !(originalError instanceof Refusal);
  });
}
