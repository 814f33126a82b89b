import { GraphQLError } from 'graphql';

/** An error in `errors[]` with a code that clients can act on. Outside mutations every refusal is one of these. */
export function failure(
  code: string,
  message: string,
  details: { readonly field?: string | undefined; readonly status?: number } = {},
): GraphQLError {
  const { field, status } = details;
  return new GraphQLError(message, {
    extensions: { code, ...(field && { field }), ...(status && { http: { status, spec: true } }) },
  });
}

/** What a malformed or out-of-range argument gets. */
export function invalidInput(message: string, field: string): GraphQLError {
  return failure('INVALID_INPUT', message, { field });
}
