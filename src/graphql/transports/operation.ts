import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { RateLimited } from '../../access/rate-limits.ts';
import { rateLimited } from '../failure.ts';

/** The most operations at once on one connection: a socket, or a single-connection event stream. */
export const maxOperations = 20;

/** Creates the error of an operation beyond `maxOperations`. */
export function tooManyOperations(): GraphQLError {
  return rateLimited(new RateLimited(`a connection carries at most ${maxOperations} operations at once`, 1));
}

/** Formats an error for a message on an open connection, where an HTTP status means nothing. */
export function withoutStatus(error: GraphQLError | GraphQLFormattedError): GraphQLFormattedError {
  const { extensions, ...rest } = error instanceof GraphQLError ? error.toJSON() : error;
  if (!extensions) return rest;
  const { http: _http, ...others } = extensions;
  return { ...rest, extensions: others };
}
