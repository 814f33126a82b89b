import { GraphQLError } from 'graphql';

/** An error in `errors[]` with a code that clients can act on. Outside mutations every refusal is one of these. */
export function failure(
  code: string,
  message: string,
  details: { readonly field?: string | undefined; readonly status?: number } = {},
): GraphQLError {
  const { field, status } = details;
  // With `spec`, application/json keeps the 200 that GraphQL over HTTP asks for; credentials are a matter of HTTP.
  const http = status && { status, spec: status !== 401 };
  return new GraphQLError(message, {
    extensions: { code, ...(field && { field }), ...(http && { http }) },
  });
}

/** What a request gets that is none of GraphQL over HTTP: its status holds for every media type. */
export function badRequest(
  message: string,
  more: { readonly code?: string; readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): GraphQLError {
  const { code = 'BAD_REQUEST', status = 400, headers } = more;
  return new GraphQLError(message, { extensions: { code, http: { status, ...(headers && { headers }) } } });
}

/** What is left of an operation gets this when nobody waits for its answer any more. */
export function abandoned(): GraphQLError {
  return failure('TIMEOUT', 'the client has gone, or the time of the operation is over: this was not begun');
}

/** What a malformed or out-of-range argument gets. */
export function invalidInput(message: string, field: string): GraphQLError {
  return failure('INVALID_INPUT', message, { field });
}
