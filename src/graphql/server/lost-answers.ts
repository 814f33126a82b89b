import { GraphQLError } from 'graphql';
import { Refusal } from '../../core/refusal.ts';
import { OutcomeUnknown } from '../../database/faults.ts';

/**
 * Gives an error below a mutation's own field OUTCOME_UNKNOWN: it comes when the mutation has taken effect, and what failed is a
 * part of its answer. SERVICE_UNAVAILABLE would say that nothing has happened, and that the same request may simply come again.
 */
export function asOutcomeUnknown(error: GraphQLError): GraphQLError {
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
