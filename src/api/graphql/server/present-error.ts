import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { dotted, Refusal, refusalIn } from '../../../core/refusal.ts';
import { Overflow } from '../../../domain/events/channel.ts';
import { EventsUndone } from '../../../domain/events/cursor.ts';
import { isDatabaseFault, OutcomeUnknown } from '../../../infra/database/faults.ts';
import { currentRequest } from '../../../infra/instruments/request-facts.ts';
import { failure, incompleteStatus, locationOf, unprocessableStatus } from '../failure.ts';

/**
 * Converts an error to the form that clients see: refusals get their codes, GraphQL's own errors keep their messages,
 * and bugs are logged but not described to the client. An error that has already been converted stays unchanged.
 */
export function presentError(error: unknown, log: Logger): GraphQLError {
  const original = error instanceof GraphQLError ? error.originalError : error;
  const location = error instanceof GraphQLError ? locationOf(error) : {};
  const refusal = refusalIn(original);
  if (original instanceof OutcomeUnknown && !isDatabaseFault(original.cause)) {
    log.error({ err: original.cause }, 'a resolver failed');
  }
  if (refusal) {
    const { path, errors, ...details } = refusal.details;
    const fields = errors?.map(({ path: at, ...one }) => ({ field: dotted(at), ...one }));
    return new GraphQLError(refusal.message, {
      ...location,
      extensions: {
        code: refusal.code,
        ...(path && { field: dotted(path) }),
        ...details,
        ...(fields && { errors: fields }),
      },
    });
  }
  // The connection is being closed (Context.closeForRetry), but the client may still receive this error.
  if (original instanceof Overflow) return failure('TOO_SLOW', `${original.message}: resume with \`after\``);
  if (original instanceof EventsUndone) return failure('CURSOR_EXPIRED', original.message);
  // The outer error names the variable and the field.
  if (error instanceof GraphQLError && (!original || original instanceof GraphQLError)) {
    const { message, extensions } = error;
    if (isInputError(error)) {
      // If the error has no path, nothing has run.
      const http = error.path === undefined && {
        http: lacksValue.test(message) ? incompleteStatus : unprocessableStatus,
      };
      return new GraphQLError(message, { ...location, extensions: { ...extensions, code: 'INVALID_INPUT', ...http } });
    }
    if (extensions.code !== undefined) return error;
  }
  log.error({ err: original ?? error }, 'a resolver failed');
  const request = currentRequest();
  return new GraphQLError('Internal error. It has been logged.', {
    ...location,
    extensions: {
      code: 'INTERNAL_SERVER_ERROR',
      // The same id as in the log, for clients that cannot see headers, such as those on WebSockets.
      ...(request && { requestId: request.requestId }),
    },
  });
}

/** The graphql-js error message for a required variable with no value. */
const lacksValue = /^Variable "\$\w+" of (required|non-null) type /;

/** Returns whether the executor failed to coerce a variable, or an argument whose variable has no value. */
function isInputError({ message, path, extensions }: GraphQLError): boolean {
  if (path === undefined && message.startsWith('Variable "')) return true;
  return extensions.code === undefined && (path === undefined || message.startsWith('Argument "'));
}

/**
 * Turns an error below a mutation's own field into OUTCOME_UNKNOWN: the mutation has taken effect, and only part of its
 * response failed. SERVICE_UNAVAILABLE would mean that nothing has happened and that the client may simply retry. A
 * refusal, for example of an argument, stays as it is if the client still gets the rest of the result.
 */
export function asOutcomeUnknown(error: GraphQLError, data: ExecutionResult['data']): GraphQLError {
  const { message, path, originalError } = error;
  if (path === undefined || path.length < 2) return error;
  const isRefusal = !originalError || originalError instanceof GraphQLError || originalError instanceof Refusal;
  if (isRefusal && data?.[String(path[0])] !== null) return error;
  const lost = `the mutation may have taken effect, but its result cannot be read: ${message}`;
  const unknown = isRefusal ? new Refusal('OUTCOME_UNKNOWN', lost) : new OutcomeUnknown(originalError);
  return new GraphQLError(message, { ...locationOf(error), originalError: unknown });
}

/**
 * Returns whether opening a stream failed for a temporary reason: the database is unreachable or too slow. Stock
 * clients treat an error as final, but reconnect and resume if the connection is dropped or closed with 1013.
 */
export function isTemporaryFailure({ errors = [] }: ExecutionResult): boolean {
  return errors.some((error) => {
    if (!(error instanceof GraphQLError)) return true;
    const { originalError } = error;
    if (originalError === undefined || originalError === null) return error.extensions.code === 'TIMEOUT';
    return !(originalError instanceof GraphQLError) && !(originalError instanceof Refusal);
  });
}
