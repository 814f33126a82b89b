import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { failure } from '../failure.ts';

/** The most operations at once on a connection that carries several: a socket, or a single-connection event stream. */
export const maxOperations = 20;

/** What an operation over the most gets. */
export function tooManyOperations(): GraphQLError {
  return failure('RATE_LIMITED', `a connection carries at most ${maxOperations} operations at once`);
}

/** An error as it travels: HTTP statuses belong to HTTP. */
export function withoutStatus(error: GraphQLError | GraphQLFormattedError): GraphQLFormattedError {
  const { extensions, ...rest } = error instanceof GraphQLError ? error.toJSON() : error;
  if (!extensions) return rest;
  const { http: _http, ...kept } = extensions;
  return { ...rest, extensions: kept };
}
