import { parseJson } from '../../../core/json.ts';
import type { SentOperation } from './sent-documents.ts';

/** Reads the operation from a body. Undefined where the body is no GraphQL request. */
export function readOperation(body: string): SentOperation | undefined {
  try {
    return operationOf(parseJson(body));
  } catch {
    return undefined;
  }
}

/** Checks the parameters of a request. Undefined where they are not those of GraphQL, or name no document. */
export function operationOf(json: unknown): SentOperation | undefined {
  if (!isObject(json) || Array.isArray(json)) return undefined;
  for (const name in json) if (!operationMembers.has(name) && json[name] != null) return undefined;
  const { query, documentId, variables, operationName, extensions } = json;
  for (const text of [query, documentId, operationName]) if (text != null && typeof text !== 'string') return undefined;
  if (variables != null && (!isObject(variables) || Array.isArray(variables))) return undefined;
  if (extensions != null && !isObject(extensions)) return undefined;
  if (query == null && documentId == null && extensions?.persistedQuery == null) return undefined;
  // The type of each was checked.
  return { query, documentId, variables, operationName, extensions } as SentOperation;
}

/** The members that a request may have. */
export const operationMembers: ReadonlySet<string> = new Set([
  'query',
  'documentId',
  'variables',
  'operationName',
  'extensions',
]);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
