import type { IncomingMessage } from 'node:http';
import { InexactJson, isJsonObject, parseJson } from '../../../core/json.ts';
import { dotted, type FieldPath } from '../../../core/refusal.ts';
import { bodyText } from '../../http/bodies/body.ts';
import { badRequest } from '../failure.ts';
import type { SentOperation } from './sent-documents.ts';

/** The methods that query a resource without changing anything (RFC 9110, 9.2.1; RFC 10008). */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY']);

export const graphqlMethods: ReadonlySet<string> = new Set([...safeMethods, 'POST']);

/** Returns whether requests with the given method may only read. */
export function isSafe(method: string | undefined): boolean {
  return method !== undefined && safeMethods.has(method);
}

/**
 * Reads an HTTP request's operation: from the URL of a GET, or from the body of a POST or QUERY. Ignores members that
 * GraphQL over HTTP does not define.
 * @throws GraphQLError if the request is not a GraphQL request
 */
export function readOperation({ method, url }: IncomingMessage, body: Uint8Array): SentOperation {
  if (method === 'GET' || method === 'HEAD') return readUrl(new URL(`http://localhost${url}`).searchParams);
  return operationOf(readJson(body));
}

/** Reads a body as JSON, with values exactly as written. Throws a GraphQLError with the reason if this fails. */
export function readJson(body: Uint8Array): unknown {
  const text = bodyText(body);
  if (text === undefined) throw badRequest('the body is not valid UTF-8');
  return parsePart(text, 'the body');
}

function readUrl(params: URLSearchParams): SentOperation {
  const given = (name: string) => {
    const values = params.getAll(name);
    if (values.length > 1) throw inexactRequest(new InexactJson([name], 'is given twice'));
    // An empty parameter counts as absent.
    return values[0] || undefined;
  };
  const json = (name: string) => {
    const text = given(name);
    return text && parsePart(text, name, [name]);
  };
  return operationOf({
    query: given('query'),
    documentId: given('documentId'),
    operationName: given('operationName'),
    variables: json('variables'),
    extensions: json('extensions'),
  });
}

/** Returns the operation in a request's JSON. @throws GraphQLError if a member has the wrong type */
export function operationOf(json: unknown): SentOperation {
  if (!isJsonObject(json)) throw badRequest('a request must be a JSON object with a query; batches are not supported');
  const { query, documentId, variables, operationName, extensions } = json;
  for (const [name, value] of Object.entries({ query, documentId, operationName }))
    if (value != null && typeof value !== 'string') throw badRequest(`${name} must be a string`);
  for (const [name, value] of Object.entries({ variables, extensions }))
    if (value != null && !isJsonObject(value)) throw badRequest(`${name} must be a JSON object`);
  // Each member's type has been checked.
  return { query, documentId, variables, operationName, extensions } as SentOperation;
}

/** Creates the error for JSON with a value that cannot be represented exactly. The message names the member. */
export function inexactRequest({ path, reason }: Pick<InexactJson, 'path' | 'reason'>, within: FieldPath = []) {
  const field = dotted([...within, ...path]);
  return badRequest(`${field || 'the request'} ${reason}`, { code: 'INVALID_INPUT', details: { field } });
}

function parsePart(text: string, source: string, within?: FieldPath): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof InexactJson) throw inexactRequest(error, within);
    throw badRequest(`${source} is not well-formed JSON`);
  }
}
