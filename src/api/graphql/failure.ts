import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { RateLimited } from '../../domain/access/limits/rate-limits.ts';
import { EventsUndone } from '../../domain/events/cursor.ts';

/** Creates an error for `errors[]` with a code that clients can act on. Outside mutations every refusal is one of these. */
export function failure(
  code: string,
  message: string,
  details: { readonly field?: string | undefined; readonly status?: number } = {},
): GraphQLError {
  const { field, status } = details;
  // With `spec`, application/json keeps the 200 that GraphQL over HTTP requires. 401 is HTTP's own and holds for every media type.
  const http = status && { status, spec: status !== 401 };
  return new GraphQLError(message, {
    extensions: { code, ...(field && { field }), ...(http && { http }) },
  });
}

/** Creates the error of a request that breaks GraphQL over HTTP. Its status holds for every media type. */
export function badRequest(
  message: string,
  more: {
    readonly code?: string;
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly details?: object;
  } = {},
): GraphQLError {
  const { code = 'BAD_REQUEST', status = 400, headers, details } = more;
  return new GraphQLError(message, { extensions: { code, ...details, http: { status, ...(headers && { headers }) } } });
}

/** Creates the error of an operation that was not begun because of others before it or beside it. Nothing has happened. */
export function rateLimited({ message, retryAfter }: RateLimited): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'RATE_LIMITED', retryAfter } });
}

/** Creates the error of a request whose document counts as more requests than its caller may send now. */
export function tooManyRequests({ message, retryAfter }: RateLimited): GraphQLError {
  return badRequest(message, {
    code: 'RATE_LIMITED',
    status: 429,
    headers: { 'retry-after': String(retryAfter) },
    details: { retryAfter },
  });
}

/** Creates the error of what has not begun when nobody waits for the operation's answer any more. */
export function abandoned(): GraphQLError {
  return failure('TIMEOUT', 'the client has gone, or the time of the operation is over: this was not begun');
}

/** Creates the error of a malformed or out-of-range argument. */
export function invalidInput(message: string, field: string): GraphQLError {
  return failure('INVALID_INPUT', message, { field });
}

/** Creates the error of a cursor of the feed whose event a restore of the database has undone. */
export function cursorUndone(field: string): GraphQLError {
  return failure('CURSOR_EXPIRED', new EventsUndone(`what ${field} names`).message, { field });
}

/** Formats an error for a message on an open connection, where an HTTP status means nothing. */
export function withoutStatus(error: GraphQLError | GraphQLFormattedError): GraphQLFormattedError {
  const { extensions, ...rest } = error instanceof GraphQLError ? error.toJSON() : error;
  if (!extensions) return rest;
  const { http: _http, ...others } = extensions;
  return { ...rest, extensions: others };
}
