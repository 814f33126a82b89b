import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { RateLimited } from '../../domain/access/limits/rate-limits.ts';
import { EventsUndone } from '../../domain/events/cursor.ts';

/** The HTTP status for a request error. With `spec`, a response of type application/json keeps status 200. */
export interface HttpStatus {
  readonly status: number;
  readonly spec?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The status for a document that cannot be parsed, and for a request that lacks a value for a required variable. */
export const incompleteStatus: HttpStatus = { status: 400, spec: true };
/** The status for a request whose document or variables are well-formed but not allowed by the schema or the limits. */
export const unprocessableStatus: HttpStatus = { status: 422, spec: true };

/** Creates an error with a code, for `errors[]`. All refusals outside mutations have this form. */
export function failure(
  code: string,
  message: string,
  details: { readonly field?: string | undefined; readonly status?: number } = {},
): GraphQLError {
  const { field, status } = details;
  return new GraphQLError(message, {
    extensions: { code, ...(field && { field }), ...(status && { http: { status } }) },
  });
}

/** Creates the error for an invalid GraphQL request. Its status applies to all media types unless `spec` is set. */
export function badRequest(
  message: string,
  more: { readonly code?: string; readonly details?: object } & Partial<HttpStatus> = {},
): GraphQLError {
  const { code = 'BAD_REQUEST', details, ...http } = more;
  return new GraphQLError(message, { extensions: { code, ...details, http: { status: 400, ...http } } });
}

/** Creates the error for an operation that was not started, because too many others were running. */
export function rateLimited({ message, retryAfter }: RateLimited): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'RATE_LIMITED', retryAfter } });
}

/** Creates the error for a document that counts as more requests than the rate limit currently allows. */
export function tooManyRequests({ message, retryAfter }: RateLimited): GraphQLError {
  return badRequest(message, {
    code: 'RATE_LIMITED',
    status: 429,
    headers: { 'retry-after': String(retryAfter) },
    details: { retryAfter },
  });
}

/** Creates the error for a field that had not started when the client disconnected or the operation timed out. */
export function abandoned(): GraphQLError {
  return failure('TIMEOUT', 'the client disconnected or the operation timed out before this field started');
}

/** Creates an INVALID_INPUT error for an argument. `field` is its path, such as `input.amount`. */
export function invalidInput(message: string, field: string): GraphQLError {
  return failure('INVALID_INPUT', message, { field });
}

/** Creates the error for a feed cursor whose event was undone because the database was restored. */
export function cursorUndone(field: string): GraphQLError {
  return failure('CURSOR_EXPIRED', new EventsUndone(`the change at the cursor in ${field}`).message, { field });
}

/** The locations in the document and in the response that an error refers to. */
export function locationOf({ nodes, source, positions, path }: GraphQLError) {
  return { nodes, source, positions, path };
}

/** Formats an error for a message on an open connection, without its HTTP status, which has no meaning there. */
export function withoutStatus(error: GraphQLError | GraphQLFormattedError): GraphQLFormattedError {
  const { extensions, ...rest } = error instanceof GraphQLError ? error.toJSON() : error;
  if (!extensions) return rest;
  const { http: _http, ...others } = extensions;
  return { ...rest, extensions: others };
}
