import type { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { InexactJson, parseJson } from '../../../core/json.ts';
import { dotted, type FieldPath } from '../../../core/path.ts';
import { bodyText } from '../../http/bodies/body.ts';
import { badRequest } from '../failure.ts';
import { operationMembers } from './read-operation.ts';
import type { SentOperation } from './sent-documents.ts';

/**
 * Returns a plugin that parses the requests that Yoga answers as src/api/http/bodies parses all others: numbers keep their digits, and
 * what cannot be parsed is refused with a reason. Yoga checks that the parameters are those of GraphQL.
 */
export function useRequests(): Plugin {
  return {
    onRequestParse({ request, url, setRequestParser }) {
      if (request.method === 'GET') setRequestParser(() => readQuery(url.searchParams));
      if (request.method === 'POST') setRequestParser(readBody);
    },
  };
}

/**
 * Reads an operation from the parameters of a URL.
 * @throws GraphQLError where one of them is malformed
 */
export function readQuery(params: URLSearchParams): GraphQLParams & Pick<SentOperation, 'documentId'> {
  for (const name of operationMembers) {
    if (params.getAll(name).length > 1) throw inexactRequest(new InexactJson([name], 'is given twice'));
  }
  const json = (name: string) => {
    const text = params.get(name);
    return text ? parseJsonPart(text, name, [name]) : undefined;
  };
  return {
    query: params.get('query') || undefined,
    documentId: params.get('documentId') || undefined,
    operationName: params.get('operationName') || undefined,
    // As with a body: the types are checked later.
    variables: json('variables') as Record<string, unknown>,
    extensions: json('extensions') as Record<string, unknown>,
  };
}

async function readBody(request: Request): Promise<GraphQLParams> {
  const text = bodyText(new Uint8Array(await request.arrayBuffer()));
  if (text === undefined) throw badRequest('the body is not text in UTF-8');
  // Yoga and `operationOf` check what it is.
  return parseJsonPart(text, 'the body') as GraphQLParams;
}

/** Creates the error of JSON that cannot be represented exactly. It names the member. */
export function inexactRequest(
  { path, reason }: Pick<InexactJson, 'path' | 'reason'>,
  within: FieldPath = [],
): GraphQLError {
  const field = dotted([...within, ...path]);
  return badRequest(`${field || 'the request'} ${reason}`, { code: 'INVALID_INPUT', details: { field } });
}

function parseJsonPart(text: string, source: string, within?: FieldPath): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof InexactJson) throw inexactRequest(error, within);
    throw badRequest(`${source} is not well-formed JSON`);
  }
}
