import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { dotted } from '../../core/path.ts';
import { refusalIn } from '../../core/refusal.ts';
import { isDatabaseFault, OutcomeUnknown } from '../../database/faults.ts';
import { Overflow } from '../../events/channel.ts';
import { failure } from '../failure.ts';

/**
 * Makes of an error what clients see: a refusal with its code, one of GraphQL's own as it is, a bug without its inside. What it
 * has made stays as it is.
 */
export function presentError(error: unknown, log: Logger): GraphQLError {
  const original = error instanceof GraphQLError ? error.originalError : error;
  const location =
    error instanceof GraphQLError
      ? { nodes: error.nodes, source: error.source, positions: error.positions, path: error.path }
      : {};
  const refusal = refusalIn(original);
  if (original instanceof OutcomeUnknown && !isDatabaseFault(original.cause)) {
    log.error({ err: original.cause }, 'a resolver failed');
  }
  if (refusal) {
    const { path, ...details } = refusal.details;
    return new GraphQLError(refusal.message, {
      ...location,
      extensions: { code: refusal.code, ...(path && { field: dotted(path) }), ...details },
    });
  }
  // Its connection is being closed (Context.closeForRetry); this is for a reader that still hears it.
  if (original instanceof Overflow) return failure('TOO_SLOW', `${original.message}: resume with after`);
  // The outer one says where: at which variable, at which field.
  if (error instanceof GraphQLError && (!original || original instanceof GraphQLError)) {
    const { message, extensions } = error;
    if (isInputError(error)) {
      // Without a path nothing has run: over HTTP that is 400 where the client understands it.
      const http = error.path === undefined && { http: { status: 400, spec: true } };
      return new GraphQLError(message, { ...location, extensions: { ...extensions, code: 'INVALID_INPUT', ...http } });
    }
    if (extensions.code !== undefined) return error;
  }
  log.error({ err: original ?? error }, 'a resolver failed');
  return new GraphQLError('Something went wrong here. It has been logged.', {
    ...location,
    extensions: { code: 'INTERNAL_SERVER_ERROR' },
  });
}

/**
 * Whether the executor itself could not coerce what was sent: the value of a variable, before anything has run, or an
 * argument that a variable leaves empty.
 */
function isInputError({ message, path, extensions }: GraphQLError): boolean {
  if (path === undefined && message.startsWith('Variable "')) return true;
  return extensions.code === undefined && (path === undefined || message.startsWith('Argument "'));
}
