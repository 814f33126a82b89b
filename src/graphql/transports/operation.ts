import type { GraphQLError } from 'graphql';
import { failure } from '../failure.ts';

/** The most operations at once on one connection: a socket, or a single-connection event stream. */
export const maxOperations = 20;

/** Creates the error of an operation beyond `maxOperations`. */
export function tooManyOperations(): GraphQLError {
  return failure('RATE_LIMITED', `a connection carries at most ${maxOperations} operations at once`);
}
