import type { GraphQLError } from 'graphql';
import { RateLimited } from '../../access/limits/rate-limits.ts';
import { rateLimited } from '../failure.ts';

/** The most operations at once on one connection: a socket, or a single-connection event stream. */
export const maxOperations = 20;

/** Creates the error of an operation beyond `maxOperations`. */
export function tooManyOperations(): GraphQLError {
  return rateLimited(new RateLimited(`a connection carries at most ${maxOperations} operations at once`, 1));
}
