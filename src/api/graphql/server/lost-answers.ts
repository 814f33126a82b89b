import { GraphQLError } from 'graphql';
import { Refusal } from '../../../core/refusal.ts';
import { OutcomeUnknown } from '../../../infra/database/faults.ts';

/**
 * Turns an error below a mutation's own field into OUTCOME_UNKNOWN: the mutation has taken effect, and only a part of its answer
 * has failed. SERVICE_UNAVAILABLE would say that nothing has happened, and that the client may simply retry.
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
